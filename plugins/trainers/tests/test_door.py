"""The plain clients of the step door, against its real server over scripted pages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.runs.served_seats import rows, scripted_seats

from flows.serving.app import open_doors
from stepmill_trainers.browser_env import BrowserEnv
from stepmill_trainers.door import TOKEN, AsyncSeat, Refused, Seat, socket_url, token_of

SECRET = "a-token-of-a-test"  # noqa: S105 - of this test alone
CLICK = {"action": {"type": "click", "x": 5, "y": 5}}


@asynccontextmanager
async def served(url: Path) -> AsyncIterator[str]:
    async with (
        scripted_seats(url) as seats,
        open_doors(seats, {"trainer": SECRET}, shutdown_seconds=0.1) as address,
    ):
        yield address


async def test_a_seat_takes_a_task_acts_and_is_given_back(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        seat = AsyncSeat(url, token=SECRET)
        first = await seat.reset(index=3, elements=True)
        assert first["observation"]["step"] == 0
        await seat.step({**CLICK, "step": 0})
        last = await seat.step({**CLICK, "step": 1})
        assert (last["reward"], last["done"]) == (1.0, True)
        await seat.close()
    assert rows(tmp_path, "episodes", "reward", "policy_kind") == [(1.0, "external")]


async def test_a_seat_of_a_thread_does_the_same(tmp_path: Path) -> None:
    def play(url: str) -> float:
        with Seat(url, token=SECRET) as seat:
            seat.reset(index=3)
            assert seat.state()["step_count"] == 0
            seat.step(CLICK)
            return float(seat.step(CLICK)["reward"])

    async with served(tmp_path) as url:
        assert await asyncio.to_thread(play, url) == 1.0


async def test_a_refusal_says_why_and_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        seat = AsyncSeat(url, token=SECRET)
        with pytest.raises(Refused, match="reset first") as refused:
            await seat.step(CLICK)
        assert refused.value.code == "VALIDATION_ERROR"
        with pytest.raises(Refused) as refused:
            await seat.reset(name="no-such-task")
        assert refused.value.code == "EXECUTION_ERROR"
        await seat.reset(index=1)
        with pytest.raises(Refused):
            await seat.step({"action": {"type": "push"}})
        assert (await seat.step({**CLICK, "step": 0}))["observation"]["step"] == 1
        await seat.close()


async def test_a_wrong_token_and_no_server_are_named(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        with pytest.raises(ConnectionError, match="401"):
            await AsyncSeat(url, token="another").reset()  # noqa: S106 - a wrong one
    with pytest.raises(OSError, match="127"):  # nothing is there any more
        await AsyncSeat(url, token=SECRET).reset()


async def test_browsergyms_kind_of_environment_plays_through_the_door(tmp_path: Path) -> None:
    def play(url: str) -> tuple[float, bool]:
        env = BrowserEnv(Seat(url, token=SECRET), task={"name": "click-test"})
        env.reset(seed=3)
        _, _, is_done, _, _ = env.step("mouse_click(5, 5)")
        assert not is_done
        _, reward, is_done, _, _ = env.step("mouse_click(5, 5)")
        env.close()
        return reward, is_done

    async with served(tmp_path) as url:
        assert await asyncio.to_thread(play, url) == (1.0, True)


def test_the_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    with pytest.raises(ValueError, match=TOKEN):
        token_of(None)
    monkeypatch.setenv(TOKEN, SECRET)
    assert token_of(None) == SECRET


@pytest.mark.parametrize(
    ("url", "socket"),
    [
        ("http://a.test:1", "ws://a.test:1/ws"),
        ("https://a.test/x/", "wss://a.test/x/ws"),
        ("ws://a.test/ws", "ws://a.test/ws"),
    ],
)
def test_the_address_of_the_socket_follows_from_the_servers(url: str, socket: str) -> None:
    assert socket_url(url) == socket


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="8321"):
        socket_url("127.0.0.1:8321")
