"""Seats as Gymnasium's environments: what is refused, and what is left behind; over scripted pages."""

import asyncio
import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.runs.served_seats import rows, scripted_pages, seats_config

from flows.serving.gym.env import SeatEnv
from flows.serving.gym.vector_env import SeatVectorEnv
from flows.serving.seat_thread import SeatThread
from flows.serving.seating import NoSeat
from generators.seats.actions import BadMessage
from generators.seats.seat import StepRefused
from schemas.base import JsonObject
from schemas.errors import BadConfig, BadTasks

CLICK: JsonObject = {"type": "click", "x": 5, "y": 5}


@pytest.fixture(scope="module", autouse=True)
def _pages() -> Iterator[None]:
    with scripted_pages():
        yield


@pytest.fixture(scope="module")
def seats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeatThread]:
    with SeatThread(seats_config(tmp_path_factory.mktemp("seats"))) as opened:
        yield opened


def test_an_action_that_cannot_be_read_does_nothing(seats: SeatThread) -> None:
    with SeatEnv(seats) as env:
        env.reset(seed=1)
        for action in ("click", '{"type": "push"}', "[" * 100_000, {"type": "none"}, 7):
            with pytest.raises(BadMessage):
                env.step(action)  # type: ignore[arg-type]
        _, _, _, _, told = env.step(CLICK)
        assert told["step"] == 1


def test_a_reply_in_a_dialect_is_an_action(seats: SeatThread) -> None:
    with SeatEnv(seats, dialect="holotron") as env:
        env.reset(seed=1)
        with pytest.raises(BadMessage, match="holotron"):
            env.step("I do not know.")


def test_a_step_before_the_first_task_and_after_the_end_is_refused(seats: SeatThread) -> None:
    with SeatEnv(seats) as env:
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
            env.reset(options={"nmae": "click-test"})
    assert seats.seats.figures()["seats_taken"] == 0


def test_more_environments_than_seats_are_refused(seats: SeatThread) -> None:
    with pytest.raises(BadConfig, match=r"browser\.sessions"):
        SeatVectorEnv(seats, 5)


def test_a_client_that_closes_leaves_a_row_and_no_session(tmp_path: Path) -> None:
    env = SeatEnv(seats_config(tmp_path), policy="mine")
    env.reset(seed=1)
    env.step(CLICK)
    env.reset(seed=1)
    env.step({"type": "answer"})
    env.close()
    with pytest.raises(NoSeat):
        env.reset(seed=1)
    found = rows(tmp_path, "episodes", "failure_kind", "policy_kind", "policy")
    assert sorted(found, key=str) == [("client", "external", "mine"), (None, "external", "mine")]


def test_seats_that_cannot_be_opened_say_why(tmp_path: Path) -> None:
    with pytest.raises(BadTasks):
        SeatEnv(seats_config(tmp_path, tasks={"include": ["no-such-task"]}))


def test_a_group_of_attempts_at_one_task_is_committed(tmp_path: Path) -> None:
    with contextlib.closing(SeatVectorEnv(seats_config(tmp_path), 3)) as envs:
        envs.reset(options={"index": 3})
        envs.step([CLICK] * 3)
        _, rewards, *_ = envs.step([CLICK] * 3)
        assert rewards.tolist() == [1.0, 1.0, 1.0]
    assert len(set(rows(tmp_path, "episodes", "task_id"))) == 1
    assert len(rows(tmp_path, "episodes", "episode_id")) == 3


async def wait_for(task: "asyncio.Task[object]") -> None:
    await asyncio.wait([task])


def test_a_failure_is_not_a_reward_of_nothing(tmp_path: Path) -> None:
    config = seats_config(tmp_path, seats={"lease_seconds": 0.2})
    with SeatEnv(config) as env:
        env.reset(seed=1)
        (playing,) = env.seats.seats._playing
        env.seats.run(wait_for(playing))
        _, reward, is_done, is_cut, told = env.step(CLICK)
        assert (reward, is_done, is_cut) == (0.0, False, True)
        assert told["reward"] is None
        assert told["failure_kind"] == "client"
        with pytest.raises(StepRefused, match="over"):
            env.step(CLICK)


def test_a_seat_in_this_process_answers_as_the_step_door(seats: SeatThread) -> None:
    seat = seats.sit()
    first = seat.reset(name="click-test", index=2)
    assert first["done"] is False
    seat.step({"action": CLICK})
    last = seat.step({"action": CLICK})
    assert (last["reward"], last["done"]) == (1.0, True)
    with pytest.raises(BadMessage):
        seat.step({"action": {"type": "push"}})
    seat.close()


def test_an_error_of_the_callers_coroutine_is_the_callers(seats: SeatThread) -> None:
    async def fail() -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        seats.run(fail())


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "flows.serving.gym.spaces")
    with pytest.raises(ImportError, match=r"stepmill\[gym\]"):
        importlib.import_module("flows.serving.gym.spaces")
