"""Clients of seats in a process of their own, which imports nothing of the program: `python -m bench.loading.seat_clients`.

Each line of standard input is a piece of work, `["play_many", {"url": …}]`, and each line of standard output its result.
A client that is to die is forked from this process, so that a thousand of them cost little.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from aiohttp import ClientSession, ClientTimeout, ClientWebSocketResponse

TOKEN = "bench"  # noqa: S105 - of a server that lives as long as the bench
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
STEPS = 30
TASKS = 64
LOST = 0.1
WAYS = ("abort", "kill", "reset", "silence")
"""How clients die: their connection is reset, they are killed, they go in mid-reset, they fall silent."""

T = TypeVar("T")

Played = tuple[list[float], int, float]
"""The milliseconds of each step, the steps, and the seconds."""


def action(step: int) -> dict[str, Any]:
    """Return the action of a step: a click that changes the picture and never ends the task."""
    return {"type": "click", "x": 16, "y": 60 + 15 * (step % 5)}


async def ask(socket: ClientWebSocketResponse, kind: str, **data: Any) -> Any:
    """Return the answer to a message."""
    await socket.send_str(json.dumps({"type": kind, "data": data}))
    return json.loads(await socket.receive_str())


def abort(socket: ClientWebSocketResponse) -> None:
    """Break a connection as a lost one breaks: without a word."""
    connection = socket._response.connection  # noqa: SLF001 - aiohttp has no other way to it
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


async def play(
    url: str, index: int, times: list[float], *, steps: int = STEPS, think_seconds: float = 0.0
) -> int:
    """Play an episode through the step door and return its steps; `times` gets the ms of each but the first.

    The first one's clock would have no beginning in a rollout without a door.
    """
    async with ClientSession(url, headers=HEADERS) as session, session.ws_connect("/ws") as socket:
        answer = await ask(socket, "reset", index=index % TASKS)
        if answer["data"].get(
            "done"
        ):  # its page did not open in time: a failed episode, as there are here
            return 0
        for step in range(steps):
            if answer["type"] == "error":
                raise RuntimeError(f"step {step}: {answer['data']}")
            await asyncio.sleep(think_seconds)
            begun = time.perf_counter()
            answer = await ask(socket, "step", action=action(step), step=step)
            times.append((time.perf_counter() - begun) * 1e3)
            if answer["data"].get("done"):
                return step + 1
    return steps


async def play_many(url: str, seats: int, episodes: int, steps: int = STEPS) -> Played:
    """Play episodes with so many clients at once."""
    times, free, begun = list[float](), asyncio.Semaphore(seats), time.perf_counter()

    async def one(index: int) -> int:
        async with free:
            return await play(url, index, times, steps=steps)

    return times, sum(await _all(one, episodes)), time.perf_counter() - begun


async def _all(one: Callable[[int], Awaitable[T]], episodes: int) -> list[T]:
    """Return what each of so many episodes returns; they go on side by side."""

    async def play_one(index: int) -> T:
        return await one(index)

    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(play_one(index)) for index in range(episodes)]
    return [task.result() for task in playing]


async def play_slow(url: str, seconds: float) -> int:
    """Be a client that takes a minute for a step, for so many seconds."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await play(url, 9, [], think_seconds=60.0)
    return 0


async def hold_many(url: str, seats: int, steps: int) -> tuple[list[float], int, float]:
    """Take seats one after another, then step in all of them; return ms of each reset, steps, and seconds of stepping.

    Elements are asked for as text.
    """
    resets = list[float]()
    async with contextlib.AsyncExitStack() as stack:
        session = await stack.enter_async_context(ClientSession(url, headers=HEADERS))
        sockets = []
        for index in range(seats):
            sockets.append(await stack.enter_async_context(session.ws_connect("/ws")))
            begun = time.perf_counter()
            await ask(sockets[-1], "reset", index=index % TASKS, elements=True)
            resets.append((time.perf_counter() - begun) * 1e3)
        begun = time.perf_counter()

        async def one(index: int) -> None:
            for step in range(steps):
                told = await ask(sockets[index], "step", action=action(step), step=step)
                if told["data"].get("done", True):
                    raise RuntimeError(f"step {step}: {str(told)[:500]}")

        await _all(one, seats)
        return resets, seats * steps, time.perf_counter() - begun


async def run_many(url: str, seats: int, episodes: int, asked: dict[str, Any]) -> Played:
    """Have episodes played by the run door, so many at once; no milliseconds of single steps are known."""
    free, begun = asyncio.Semaphore(seats), time.perf_counter()
    async with ClientSession(url, headers=HEADERS, timeout=ClientTimeout(total=None)) as session:

        async def one(index: int) -> int:
            body = {**asked, "task": {"index": index % TASKS}}
            async with free, session.post("/run", json=body) as answer:
                told = await answer.json()
            if answer.status != 200:  # noqa: PLR2004 - HTTP's OK; a failed episode is one of fewer steps
                raise RuntimeError(f"{answer.status}: {str(told)[:500]}")
            return int(told["n_steps"])

        played = await _all(one, episodes)
    return [], sum(played), time.perf_counter() - begun


async def stumble(url: str, index: int) -> Counter[str]:
    """Play an episode whose every tenth answer is lost with its connection; return what happened."""
    rng, found, step = random.Random(index), Counter[str](), 0
    async with ClientSession(url, headers=HEADERS) as session:
        socket = await session.ws_connect("/ws")
        lease = (await ask(socket, "reset", index=index % TASKS))["data"]["metadata"]["lease"]
        while step < STEPS:
            await socket.send_str(
                json.dumps({"type": "step", "data": {"action": action(step), "step": step}})
            )
            if rng.random() < LOST:
                found["lost answers"] += 1
                abort(socket)
                socket = await _come_back(session, lease, found)
                continue
            answer = json.loads(await socket.receive_str())
            if answer["type"] == "error":
                found[answer["data"]["message"]] += 1
                break
            step += 1
        found["steps"] += step
        await socket.close()
    return found


async def _come_back(
    session: ClientSession, lease: str, found: Counter[str]
) -> ClientWebSocketResponse:
    """Return to a lease whose connection broke, as soon as the server has noticed that."""
    while True:
        socket = await session.ws_connect("/ws")
        answer = await ask(socket, "reset", lease=lease)
        if answer["type"] == "observation":
            return socket
        found["came too early"] += 1
        await socket.close()


async def stumble_many(url: str, seats: int, episodes: int) -> Counter[str]:
    """Play so many of these episodes, so many at once."""
    free, found = asyncio.Semaphore(seats), Counter[str]()

    async def one(index: int) -> None:
        async with free:
            found.update(await stumble(url, index))

    await _all(one, episodes)
    return found


# clients that die


async def _sit(url: str, way: str, index: int, ready: int) -> None:
    session = ClientSession(url, headers=HEADERS)
    socket = await session.ws_connect("/ws")
    if way == "reset":
        await socket.send_str(json.dumps({"type": "reset", "data": {"index": index % TASKS}}))
        await asyncio.sleep(random.uniform(0, 0.05))
        os._exit(0)
    await ask(socket, "reset", index=index % TASKS)
    await ask(socket, "step", action=action(0), step=0)
    os.write(ready, b".")
    if way == "abort":
        abort(socket)
        os._exit(0)
    await asyncio.sleep(3_600)


def _born(url: str, way: str, index: int) -> tuple[int, int]:
    """Return the process of a new client, and where it says that it has a seat."""
    heard, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(heard)
        try:
            asyncio.run(_sit(url, way, index, ready))
        finally:
            os._exit(1)
    os.close(ready)
    return pid, heard


def die_many(url: str, clients: int, at_once: int) -> dict[str, int]:
    """Let so many clients die, the ways in turns; return how many died in each.

    Silent ones stop as they are, and are killed only by `bury`, after the server has been looked at.
    """
    died = Counter[str]()
    for first in range(0, clients, at_once):
        born = [
            (WAYS[n % 4], *_born(url, WAYS[n % 4], n))
            for n in range(first, min(first + at_once, clients))
        ]
        for way, pid, heard in born:
            spoke = os.read(heard, 1)
            os.close(heard)
            if way == "kill":
                os.kill(pid, signal.SIGKILL)
            if way == "silence" and spoke:
                os.kill(pid, signal.SIGSTOP)
                _silent.append(pid)
            else:
                os.waitpid(pid, 0)
            died[way if spoke or way == "reset" else "without a seat"] += 1
    return dict(died)


_silent: list[int] = []


def bury() -> int:
    """Kill the clients that fell silent; return how many they were."""
    count = len(_silent)
    while _silent:
        os.kill(pid := _silent.pop(), signal.SIGKILL)
        os.waitpid(pid, 0)
    return count


WORK: dict[str, Callable[..., Any]] = {
    work.__name__: work
    for work in (play_many, play_slow, hold_many, run_many, stumble_many, die_many, bury)
}


def main() -> None:
    """Do what each line asks for."""
    for line in sys.stdin:
        name, given = json.loads(line)
        found = WORK[name](**given)
        if asyncio.iscoroutine(found):
            found = asyncio.run(found)
        cpu = sum(os.times()[:2])
        print(json.dumps({"found": found, "cpu": cpu}), flush=True)


if __name__ == "__main__":
    main()
