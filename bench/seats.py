"""What a seat costs beside a policy in this process, and what clients that die leave behind.

Every figure is a ratio or a difference of two measurements of one run, in turns.

* **added**: milliseconds that the step door adds to a step, with pages that cost nothing, at 1 and at 8 seats: the
  client, a process of its own, measures each step from sending to answer, and the same actions are measured in this
  process without a door. Lines: p50 at most 5 ms, p99 at most 20 ms.
* **rate**: steps a second of MiniWoB++ at 64 seats through the door, against rollouts of the same actions in this
  process. Line: at least 0.95.
* **deaths**: clients that are reset, fall silent, are killed or leave in the middle of a reset. Lines: 5 s later no
  lease, no browser context and no file that was not there before.
* **repeats**: a client that loses every tenth answer, breaks its connection and repeats its step. Lines: no action
  twice, none lost.
* **slow**: what one client that takes a minute for a step costs the others. Line: at most 2 %.
* **memory**: this process after the last tenth of many steps against the second tenth. Line: at most 1.05.

`python -m bench.seats NAME…` measures some of them.
"""

import asyncio
import contextlib
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil
from aiohttp import ClientSession, ClientWebSocketResponse, web

from bench.loading.blank_pages import blank_seats
from bench.measuring.result import report
from flows.serving.app import make_app
from flows.serving.opening import open_seats
from flows.serving.seating import Seats
from generators.seats.actions import read_message
from schemas.configuration.config import RunConfig, resolve
from schemas.tasks.selector import Selector

TOKEN = "bench"  # noqa: S105 - of a server that lives as long as the bench
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
TEMPLATE = "click-checkboxes-large"
STEPS = 30
MAX_P50_MS, MAX_P99_MS = 5.0, 20.0
MIN_RATE, MAX_SLOW, MAX_GROWTH = 0.95, 0.02, 1.05
SEATS, LOST = 64, 0.1

Figures = dict[str, object]


def config_of(url: str, *, sessions: int, **sections: Any) -> RunConfig:
    """Return the configuration of a server of the bench, whose tasks no action ends."""
    layer: dict[str, Any] = {
        "run": {"url": url},
        "tasks": {"include": [TEMPLATE], "seeds": [0, 63], "unit_size": 64},
        "browser": {"sessions": sessions},
        "limits": {"steps": STEPS, "stuck_steps": STEPS + 1, "seconds": 600},
        "verify": {"verifiers": ["structure", "outcome"]},
        "accept": {"passed": ["structure", "outcome"]},
        "seats": {"max_waiting": 4_000, "wait_seconds": 600},
    }
    for name, keys in sections.items():
        layer[name] = {**layer.get(name, {}), **keys}
    return resolve([("the bench", layer)])


@contextlib.asynccontextmanager
async def served(seats: Seats) -> AsyncIterator[str]:
    """Open the doors to seats; yield their address."""
    runner = web.AppRunner(make_app(seats, {"trainer": TOKEN}), access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def action(step: int) -> dict[str, Any]:
    """Return the action of a step: a click that changes the picture and never ends the task."""
    return {"type": "click", "x": 16, "y": 60 + 15 * (step % 5)}


# clients, in processes of their own


async def ask(socket: ClientWebSocketResponse, kind: str, **data: Any) -> Any:
    """Return the answer to a message."""
    await socket.send_str(json.dumps({"type": kind, "data": data}))
    return json.loads(await socket.receive_str())


def abort(socket: ClientWebSocketResponse) -> None:
    """Break a connection as a lost one breaks: without a word."""
    connection = socket._response.connection  # noqa: SLF001 - aiohttp has no other way to it
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


async def play(url: str, index: int, times: list[float], *, think_seconds: float = 0.0) -> int:
    """Play an episode through the door and return its steps; `times` gets the ms of each."""
    async with ClientSession(url, headers=HEADERS) as session, session.ws_connect("/ws") as socket:
        await ask(socket, "reset", index=index)
        for step in range(STEPS):
            await asyncio.sleep(think_seconds)
            begun = time.perf_counter()
            answer = await ask(socket, "step", action=action(step), step=step)
            times.append((time.perf_counter() - begun) * 1e3)
            if answer["data"].get("done"):
                return step + 1
    return STEPS


async def play_many(url: str, seats: int, episodes: int) -> tuple[list[float], int, float]:
    """Play episodes with so many clients at once; return the ms of each step, the steps and the seconds."""
    times, free, begun = list[float](), asyncio.Semaphore(seats), time.perf_counter()

    async def one(index: int) -> int:
        async with free:
            return await play(url, index % 64, times)

    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(one(index)) for index in range(episodes)]
    return times, sum(task.result() for task in playing), time.perf_counter() - begun


def _client(work: Callable[..., Any], args: Sequence[Any], answer: Connection) -> None:
    answer.send(asyncio.run(work(*args)))


async def in_process(work: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a client that runs in a process of its own."""
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_client, args=(work, args, there))
    process.start()
    there.close()
    try:
        return await asyncio.to_thread(here.recv)
    finally:
        await asyncio.to_thread(process.join)


# the same actions without a door


async def play_here(seats: Seats, index: int, times: list[float]) -> int:
    """Play an episode at a seat of this process and return its steps; `times` gets the ms of each."""
    lease = await seats.take("here", Selector(index=index))
    try:
        await lease.look()
        for step in range(STEPS):
            begun = time.perf_counter()
            view = await lease.step(read_message({"action": action(step), "step": step}))
            times.append((time.perf_counter() - begun) * 1e3)
            if view.end is not None:
                return step + 1
    finally:
        await seats.leave(lease)
    return STEPS


async def play_many_here(seats: Seats, count: int, episodes: int) -> tuple[list[float], int, float]:
    """Play episodes with so many seats of this process at once; return what `play_many` returns."""
    times, free, begun = list[float](), asyncio.Semaphore(count), time.perf_counter()

    async def one(index: int) -> int:
        async with free:
            return await play_here(seats, index % 64, times)

    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(one(index)) for index in range(episodes)]
    return times, sum(task.result() for task in playing), time.perf_counter() - begun


def quantile(times: Sequence[float], share: float) -> float:
    """Return a quantile of times."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


# the figures


async def measure_added() -> Figures:
    """Return what the door adds to a step with pages that cost nothing."""
    found: Figures = {}
    good = True
    for seats in (1, 8):
        through, here = list[float](), list[float]()
        async with blank_seats(config_of(_folder(), sessions=seats)) as room, served(room) as url:
            for _ in range(4):
                here += (await play_many_here(room, seats, 4 * seats))[0]
                through += (await in_process(play_many, url, seats, 4 * seats))[0]
        p50 = quantile(through, 0.5) - quantile(here, 0.5)
        p99 = quantile(through, 0.99) - quantile(here, 0.99)
        good &= p50 <= MAX_P50_MS and p99 <= MAX_P99_MS
        found[f"added_p50_ms_{seats}"] = round(p50, 2)
        found[f"added_p99_ms_{seats}"] = round(p99, 2)
        found[f"steps_{seats}"] = len(through)
    return {**found, "added_held": good}


async def measure_rate(seats: int = SEATS, rounds: int = 3) -> Figures:
    """Return the rate of steps through the door against that of this process, on MiniWoB++."""
    through, here = list[float](), list[float]()
    async with open_seats(config_of(_folder(), sessions=seats)) as room, served(room) as url:
        await play_many_here(room, seats, seats)  # the browser grows its first contexts
        for _ in range(rounds):
            _, steps, seconds = await play_many_here(room, seats, seats)
            here.append(steps / seconds)
            _, steps, seconds = await in_process(play_many, url, seats, seats)
            through.append(steps / seconds)
    ratio = statistics.median(a / b for a, b in zip(through, here, strict=True))
    return {
        "rate_seats": seats,
        "rate_here": round(statistics.median(here), 1),
        "rate_door": round(statistics.median(through), 1),
        "rate_ratio": round(ratio, 3),
        "rate_held": ratio >= MIN_RATE,
    }


async def die(url: str, way: str, index: int) -> None:
    """Die in one way: the process ends with it."""
    session = ClientSession(url, headers=HEADERS)
    socket = await session.ws_connect("/ws", autoping=way != "silence")
    if way == "reset":
        await socket.send_str(json.dumps({"type": "reset", "data": {"index": index}}))
        await asyncio.sleep(random.uniform(0, 0.05))
    else:
        await ask(socket, "reset", index=index)
    if way == "silence":
        await asyncio.sleep(3_600)
    if way == "abort":
        abort(socket)
    os._exit(0)


async def measure_deaths(count: int = 1_000, seats: int = 8, *, real: bool = True) -> Figures:
    """Return what clients that died leave behind after 5 s."""
    config = config_of(_folder(), sessions=seats, seats={"silence_seconds": 2.0})
    opening = open_seats(config) if real else blank_seats(config)
    ways = ("abort", "kill", "reset", "silence")
    async with opening as room, served(room) as url:
        await play_here(room, 0, [])
        await asyncio.sleep(2)
        before = _left(room)
        free = asyncio.Semaphore(seats)

        async def one(number: int) -> None:
            async with free:
                way = ways[number % len(ways)]
                process = get_context("fork").Process(target=_die, args=(url, way, number % 64))
                process.start()
                if way in ("kill", "silence"):
                    await asyncio.sleep(0.4)
                if way == "kill":
                    process.kill()
                if way == "silence":
                    psutil.Process(process.pid).suspend()
                    await asyncio.sleep(0.2)
                    silent.append(process)
                    return
                await asyncio.to_thread(process.join)

        silent: list[Any] = []
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(one(number))
        await asyncio.sleep(5)
        after = _left(room)
        for process in silent:
            process.kill()
    return {
        "deaths": count,
        "deaths_ways": ", ".join(ways),
        "deaths_before": before,
        "deaths_after": after,
        "deaths_held": all(after[key] <= before[key] for key in ("leases", "seats", "renderers")),
    }


def _die(url: str, way: str, index: int) -> None:
    asyncio.run(die(url, way, index))


def _left(room: Seats) -> dict[str, int]:
    """Return what there is of leases, seats, renderers and open files."""
    me = psutil.Process()
    kinds = Counter("renderer" for child in me.children(recursive=True) if _is_renderer(child))
    return {
        "leases": len(room.leases),
        "seats": room.turnstile.in_use,
        "renderers": kinds["renderer"],
        "files": me.num_fds(),
    }


def _is_renderer(process: psutil.Process) -> bool:
    try:
        return "--type=renderer" in process.cmdline()
    except psutil.Error:
        return False


async def stumble(url: str, index: int, seed: int) -> Counter[str]:
    """Play an episode whose every tenth answer is lost with its connection; return what happened."""
    rng, found = random.Random(seed), Counter[str]()
    async with ClientSession(url, headers=HEADERS) as session:
        socket = await session.ws_connect("/ws")
        lease = (await ask(socket, "reset", index=index))["data"]["metadata"]["lease"]
        step = 0
        while step < STEPS:
            await socket.send_str(
                json.dumps({"type": "step", "data": {"action": action(step), "step": step}})
            )
            if rng.random() < LOST:
                found["lost answers"] += 1
                abort(socket)
                while True:
                    socket = await session.ws_connect("/ws")
                    answer = await ask(socket, "reset", lease=lease)
                    if answer["type"] == "observation":
                        break
                    found["came too early"] += 1
                continue
            answer = json.loads(await socket.receive_str())
            if answer["type"] == "error":
                found[answer["data"]["message"]] += 1
                break
            step += 1
        found["steps"] += step
        await socket.close()
    return found


async def measure_repeats(episodes: int = 64, seats: int = 8) -> Figures:
    """Return whether repeated steps act twice, or are lost."""
    found = Counter[str]()
    config = config_of(_folder(), sessions=seats, seats={"return_seconds": 30.0})
    async with blank_seats(config) as room, served(room) as url:
        free = asyncio.Semaphore(seats)

        async def one(index: int) -> None:
            async with free:
                found.update(await stumble(url, index % 64, index))

        async with asyncio.TaskGroup() as group:
            for index in range(episodes):
                group.create_task(one(index))
        acted = room.counts["steps"]
    return {
        "repeats_steps": found["steps"],
        "repeats_lost_answers": found["lost answers"],
        "repeats_twice": acted - found["steps"],
        "repeats_held": acted == found["steps"] == episodes * STEPS,
    }


async def measure_slow(seconds: float = 30.0) -> Figures:
    """Return what a client that thinks for a minute costs the others."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    async with blank_seats(config_of(_folder(), sessions=8)) as room, served(room) as url:
        for slow in (False, True, False, True):
            thinker = asyncio.create_task(play(url, 9, [], think_seconds=60.0)) if slow else None
            begun, steps = time.perf_counter(), 0
            while time.perf_counter() - begun < seconds / 4:
                steps += (await in_process(play_many, url, 7, 56))[1]
            rates[slow].append(steps / (time.perf_counter() - begun))
            if thinker is not None:
                thinker.cancel()
                await asyncio.wait([thinker])
    lost = 1 - statistics.mean(rates[True]) / statistics.mean(rates[False])
    return {"slow_cost": round(lost, 4), "slow_held": lost <= MAX_SLOW}


async def measure_memory(steps: int = 200_000) -> Figures:
    """Return how this process grows while many steps are made on pages that cost nothing."""
    held = list[int]()
    async with blank_seats(config_of(_folder(), sessions=SEATS)) as room, served(room) as url:
        for _ in range(10):
            await in_process(play_many, url, SEATS, steps // 10 // STEPS)
            held.append(psutil.Process().memory_info().rss)
    ratio = held[9] / held[1]
    return {
        "memory_steps": steps,
        "memory_mib": [round(each / 2**20) for each in held],
        "memory_growth": round(ratio, 3),
        "memory_held": ratio <= MAX_GROWTH,
    }


def _folder() -> str:
    return str(Path(tempfile.mkdtemp(prefix="seats-")) / "run")


MEASURES: dict[str, Callable[[], Any]] = {
    "added": measure_added,
    "rate": measure_rate,
    "deaths": measure_deaths,
    "repeats": measure_repeats,
    "slow": measure_slow,
    "memory": measure_memory,
}


async def main(names: Sequence[str]) -> int:
    """Measure, print and keep the figures; return 1 if a line is missed."""
    figures: Figures = {"bench": "seats"}
    for name in names or MEASURES:
        figures |= await MEASURES[name]()
        print(json.dumps(figures), file=sys.stderr)
    figures["held"] = all(value for key, value in figures.items() if key.endswith("_held"))
    report(figures)
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
