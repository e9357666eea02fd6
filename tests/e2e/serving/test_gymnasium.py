"""Seats as Gymnasium's environments, on real pages: episodes are played, recorded, and everything is freed."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from deltalake import DeltaTable
from gymnasium.utils.env_checker import check_env
from support.runs.seat_clients import EASY, right_point, seats_config

from flows.serving.gym.env import SeatEnv
from flows.serving.gym.vector_env import SeatVectorEnv
from flows.serving.seat_thread import SeatThread
from flows.serving.seating import NoSeat
from generators.seats.actions import BadMessage
from generators.seats.seat import StepRefused
from schemas.errors import BadConfig, BadTasks
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
        seen, told = env.reset(seed=3)
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


def test_an_action_that_cannot_be_read_does_nothing(seats: SeatThread) -> None:
    with SeatEnv(seats, task=BUTTON) as env:
        env.reset(seed=1)
        for action in ("click", '{"type": "push"}', "[" * 100_000, {"type": "none"}, 7):
            with pytest.raises(BadMessage):
                env.step(action)  # type: ignore[arg-type]
        _, _, _, _, told = env.step({"type": "wait", "ms": 10})
        assert told["step"] == 1


def test_a_reply_in_a_dialect_is_an_action(seats: SeatThread) -> None:
    with SeatEnv(seats, task=BUTTON, dialect="holotron") as env:
        env.reset(seed=1)
        with pytest.raises(BadMessage, match="holotron"):
            env.step("I do not know.")


def test_a_step_before_the_first_task_and_after_the_end_is_refused(seats: SeatThread) -> None:
    with SeatEnv(seats, task=BUTTON) as env:
        with pytest.raises(StepRefused, match="reset"):
            env.step({"type": "wait"})
        env.reset(seed=1)
        _, _, is_done, is_cut, told = env.step({"type": "answer"})
        assert (is_done, is_cut, told["stop_reason"]) == (True, False, "answered")
        with pytest.raises(StepRefused, match="over"):
            env.step({"type": "wait"})


def test_what_no_task_fits_and_no_option_is_called_is_refused(seats: SeatThread) -> None:
    with SeatEnv(seats) as env:
        with pytest.raises(BadTasks):
            env.reset(options={"name": "no-such-task"})
        with pytest.raises(ValueError, match="nmae"):
            env.reset(options={"nmae": "click-button"})
    assert seats.seats.figures()["seats_taken"] == 0


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


def test_more_environments_than_seats_are_refused(seats: SeatThread) -> None:
    with pytest.raises(BadConfig, match=r"browser\.sessions"):
        SeatVectorEnv(seats, 4)


def test_a_client_that_closes_leaves_a_row_and_no_session(tmp_path: Path) -> None:
    env = SeatEnv(seats_config(tmp_path / "run"), task=BUTTON, policy="mine")
    env.reset(seed=1)
    env.step({"type": "wait", "ms": 10})
    env.reset(seed=1)
    env.step({"type": "answer"})
    env.close()
    with pytest.raises(NoSeat):
        env.reset(seed=1)
    rows = DeltaTable(tmp_path / "run" / "tables" / "episodes").to_pyarrow_table().to_pylist()
    assert sorted(row["failure_kind"] or "" for row in rows) == ["", "client"]
    assert {row["policy_kind"] for row in rows} == {"external"}
    assert {row["policy"] for row in rows} == {"mine"}


def test_seats_that_cannot_be_opened_say_why(tmp_path: Path) -> None:
    with pytest.raises(BadTasks):
        SeatEnv(seats_config(tmp_path / "run", tasks={"include": ["no-such-task"]}))
