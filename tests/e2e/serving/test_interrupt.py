"""`stepmill serve` is interrupted while every seat is taken, as `kill` does it and as a terminal does.

A terminal interrupts the whole group of processes, browsers and Playwright's drivers among them, which must not end
before the last replay.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType
from effort import THOROUGH
from support.runs.commands import SECONDS, end, interrupt, start, stepmill
from support.runs.served_seats import rows
from support.servers.seat_server import (
    BY_COMMAND,
    TOKEN_VARIABLE,
    address,
    ask,
    click_the_button,
    connected,
    health,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(0 if THOROUGH else 300)]

SEATS = 64 if THOROUGH else 4
"""How many are taken."""

SERVED = (
    "--set=tasks.include=['click-test']",
    f"--set=tasks.seeds=[0,{SEATS - 1}]",
    f"--set=browser.sessions={SEATS}",
    "--set=seats.commit_seconds=600",
    "--set=seats.silence_seconds=600",
    "--set=limits.drain_seconds=3600",
    *BY_COMMAND,
)
"""The first interrupt ends no episode, every commit is made after the last one, and no client has to answer a ping."""


def kill(server: subprocess.Popen[str]) -> None:
    """Interrupt the command alone."""
    os.kill(server.pid, signal.SIGINT)


@pytest.mark.parametrize("stop", [kill, interrupt])
async def test_with_every_seat_taken_an_interrupt_ends_them_in_order(
    tmp_path: Path, stop: Callable[[subprocess.Popen[str]], None]
) -> None:
    server = start("serve", "--run", str(tmp_path), *SERVED, env=TOKEN_VARIABLE)
    url = await address(server)
    async with AsyncExitStack() as stack:
        doors = [await stack.enter_async_context(connected(url)) for _ in range(SEATS)]
        pages = [await ask(door, "reset", index=n, elements=True) for n, door in enumerate(doors)]
        assert (await health(url))["seats_taken"] == SEATS
        stop(server)
        while not (told := await health(url))["ending"]:  # noqa: ASYNC110 - seen from outside
            await asyncio.sleep(0.05)
        assert told["status"] == "unhealthy"

        half = SEATS // 2
        wins = [
            await click_the_button(door, page)
            for door, page in zip(doors[:half], pages[:half], strict=True)
        ]
        assert [one["reward"] for one in wins] == [1.0] * half
        refused = await ask(doors[0], "reset")
        assert (refused["code"], refused["message"]) == ("SESSION_ERROR", "the server ends")

        stop(server)
        async with asyncio.TaskGroup() as group:
            goodbyes = [group.create_task(_goodbye(door)) for door in doors]
        assert {one.result() for one in goodbyes} == {(1001, "the server ends")}
        said = await asyncio.to_thread(end, server)

    assert said.code == 0, said.err
    assert f"{half} episodes are committed" in said.err
    assert "Traceback" not in said.err
    won = {(one["metadata"]["episode_id"],) for one in wins}
    assert set(rows(tmp_path, "episodes", "episode_id")) == won
    judged = rows(tmp_path, "verdicts", "verifier", "status")
    assert judged.count(("replay", "passed")) == half, judged
    assert stepmill("audit", str(tmp_path), "--deep").code == 0


async def _goodbye(door: ClientWebSocketResponse) -> tuple[int, str | None]:
    message = await door.receive(timeout=SECONDS)
    assert message.type is WSMsgType.CLOSE, message
    return message.data, message.extra
