"""Seats as Gymnasium's environments, on real pages: episodes are played, recorded, and everything is freed."""

import contextlib
import json
from collections.abc import Iterator

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from support.runs.seat_clients import EASY, right_point, seats_config

from flows.serving.gym.env import SeatEnv
from flows.serving.gym.vector_env import SeatVectorEnv
from flows.serving.seat_thread import SeatThread
from generators.seats.actions import BadMessage
from schemas.tasks.selector import Selector

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

BUTTON = Selector(name="click-button")


@pytest.fixture(scope="module")
def seats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeatThread]:
    with SeatThread(seats_config(tmp_path_factory.mktemp("seats") / "run")) as opened:
        yield opened


def click(x: float, y: float) -> str:
    return json.dumps({"type": "click", "x": x, "y": y})


# Without `gymnasium.make` there is no spec, by which it would make environments of other render modes.
@pytest.mark.filterwarnings("ignore:.*not having a spec:UserWarning")
def test_gymnasiums_own_check_finds_no_fault(seats: SeatThread) -> None:
    with SeatEnv(seats, task=BUTTON, render_mode="rgb_array") as env:
        check_env(env)


@pytest.mark.parametrize("name", EASY)
def test_a_task_is_done_for_its_reward(seats: SeatThread, name: str) -> None:
    with SeatEnv(seats, task=Selector(name=name), elements=True) as env:
        seen, told = env.reset(options={"seed": 3})
        assert seen["screenshot"].any()
        assert told["template_id"] == name
        action = click(*right_point(seen["instruction"], told["elements"]))
        seen, reward, is_done, is_cut, told = env.step(action)
        if not is_done:  # the page of a text field asks for its button too
            _, reward, is_done, is_cut, told = env.step(
                click(*right_point("button", told["elements"]))
            )
        assert (reward, is_done, is_cut) == (1.0, True, False)
        assert (told["reward"], told["failure_kind"]) == (1.0, None)


def test_the_same_seed_shows_the_same_page(seats: SeatThread) -> None:
    with SeatEnv(seats) as env:
        first, _ = env.reset(seed=7)
        again, _ = env.reset(seed=7)
        assert first["instruction"] == again["instruction"]
        assert np.array_equal(first["screenshot"], again["screenshot"])


def test_several_seats_act_at_once_and_begin_again(seats: SeatThread) -> None:
    with contextlib.closing(SeatVectorEnv(seats, 3, task=BUTTON, elements=True)) as envs:
        seen, told = envs.reset(seed=20)
        assert seen in envs.observation_space
        points = [
            right_point(goal, lines)
            for goal, lines in zip(seen["instruction"], told["elements"], strict=True)
        ]
        actions = [click(*points[0]), click(*points[1]), '{"type": "wait", "ms": 10}']
        _, rewards, is_done, is_cut, told = envs.step(actions)
        assert rewards.tolist() == [1.0, 1.0, 0.0]
        assert is_done.tolist() == [True, True, False]
        assert not is_cut.any()
        assert told["_reward"].tolist() == [True, True, False]
        _, rewards, is_done, _, told = envs.step(['{"type": "wait", "ms": 10}'] * 3)
        assert told["step"].tolist() == [0, 0, 2]
        with pytest.raises(BadMessage):
            envs.step(['{"type": "wait"}', '{"type": "wait"}', "?"])
        _, _, _, _, told = envs.step(['{"type": "wait", "ms": 10}'] * 3)
        assert told["step"].tolist() == [1, 1, 3]
    assert seats.seats.figures()["seats_taken"] == 0
