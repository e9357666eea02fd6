"""Plays episodes in Gymnasium's vector environment: `python play_gymnasium.py CONFIG RUN EPISODES TEMPLATE …`.

It prints a line of JSON for each episode.
"""

import json
import sys

from scripted import next_action

from flows.job.config_loader import Sources, load
from flows.serving.gym.env import SeatEnv
from flows.serving.gym.vector_env import SeatVectorEnv
from flows.serving.seat_thread import SeatThread
from schemas.tasks.selector import Selector


def main(config: str, url: str, episodes: int, templates: list[str]) -> None:
    with SeatThread(load(Sources(config=config, run=url), {})) as seats:
        _play_alone(seats, episodes // 2, templates)
        _play_together(seats, episodes - episodes // 2, templates)


def _play_alone(seats: SeatThread, episodes: int, templates: list[str]) -> None:
    with SeatEnv(seats, elements=True) as env:
        for number in range(episodes):
            template = templates[number % len(templates)]
            seen, told = env.reset(seed=number, options={"name": template})
            is_over = False
            while not is_over:
                action = next_action(template, seen["instruction"], told["elements"], told["step"])
                seen, _, is_done, is_cut, told = env.step(action)
                is_over = is_done or is_cut
            _tell(template, told["reward"], told["failure_kind"])


def _play_together(seats: SeatThread, episodes: int, templates: list[str]) -> None:
    """Three seats at a time, a round for each template in turn."""
    for number in range(0, episodes, 3):
        template, count = templates[number % len(templates)], min(3, episodes - number)
        envs = SeatVectorEnv(seats, count, task=Selector(name=template), elements=True)
        seen, told = envs.reset(seed=1_000 + number)
        open_seats = set(range(count))
        while open_seats:
            actions = [
                next_action(template, goal, lines, int(step))
                for goal, lines, step in zip(
                    seen["instruction"], told["elements"], told["step"], strict=True
                )
            ]
            seen, _, is_done, is_cut, told = envs.step(actions)
            for index in open_seats & {i for i in range(count) if is_done[i] or is_cut[i]}:
                _tell(template, float(told["reward"][index]), told["failure_kind"][index])
                open_seats.discard(index)
        envs.close()


def _tell(template: str, reward: float | None, failure_kind: str | None) -> None:
    told = {"template": template, "reward": reward, "failure_kind": failure_kind}
    sys.stdout.write(f"{json.dumps(told)}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
