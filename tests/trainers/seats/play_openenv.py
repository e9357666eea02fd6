"""Plays episodes with OpenEnv's client class, several at once; `python play_openenv.py URL EPISODES TEMPLATE …`.

It prints a line of JSON for each episode.
"""

import asyncio
import json
import sys

from scripted import next_action

from stepmill_trainers.openenv_client import SeatAction, StepmillEnv

AT_ONCE = 3
"""Connections."""


async def play(env: StepmillEnv, template: str, number: int) -> dict:
    result = await env.reset(name=template, seed=number, elements=True)
    first = result.observation
    assert first.picture is not None
    assert first.picture.size == (first.width, first.height)
    while not result.done:
        seen = result.observation
        action = next_action(template, seen.instruction, seen.elements or [], seen.step)
        result = await env.step(SeatAction(action=action, step=seen.step))
    state = await env.state()
    seen = result.observation
    return {
        "template": template,
        "reward": result.reward,
        "steps": seen.step,
        "failure_kind": seen.failure_kind,
        "episode_id": state.episode_id,
        "is_same": (seen.reward, seen.done) == (result.reward, True),
    }


async def main(url: str, episodes: int, templates: list[str]) -> None:
    numbers = iter(range(episodes))

    async def work() -> None:
        async with StepmillEnv(url) as env:
            for number in numbers:
                template = templates[number % len(templates)]
                told = await play(env, template, number)
                sys.stdout.write(f"{json.dumps(told)}\n")

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
