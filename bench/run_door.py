"""What the run door costs beside the same episodes in this process, at the same scripted engine.

The door adds to an episode a request, an answer with its tokens and pictures, and to each call of the engine two questions
for the version of its weights. Here the same policy plays at seats of this process, without a request; the client of the door and
the engine are processes of their own. Rounds are in turns, and every figure is a ratio or a difference of them.

* **added**: milliseconds that the door adds to a step, with pages that cost nothing, at 1 and at 8 seats: the difference of
  episodes' seconds, divided by their steps. Lines: p50 at most 5 ms, p99 at most 20 ms.
* **rate**: steps a second of MiniWoB++ at 64 seats through the door, against those of this process. Line: at least 0.95.

`python -m bench.run_door NAME…` measures some of them.
"""

import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout

from bench.loading.blank_pages import blank_seats
from bench.loading.serving import scripted_engine
from bench.measuring.result import report
from bench.seats import (
    HEADERS,
    MAX_P50_MS,
    MAX_P99_MS,
    MIN_RATE,
    SEATS,
    Figures,
    config_of,
    in_process,
    quantile,
    served,
)
from flows.resources.engines import PolicyRuntime, open_policies
from flows.serving.opening import open_seats
from flows.serving.seating import Seats
from schemas.configuration.sections import EngineKind, EngineSection, PolicySection
from schemas.tasks.selector import Selector

POLICY = PolicySection(name="model", temperature=1.0, max_tokens=1_024, logprobs="raw")  # type: ignore[arg-type]
STEPS = 10
ROUNDS, EPISODES = 4, 8

Played = tuple[list[float], int, float]
"""The milliseconds of a step of each episode, all steps, and the seconds that all took."""


async def play_through(url: str, engine: str, seats: int, episodes: int) -> Played:
    """Have episodes played through the door, so many at once."""
    times, free, begun = list[float](), asyncio.Semaphore(seats), time.perf_counter()
    async with ClientSession(url, headers=HEADERS, timeout=ClientTimeout(None)) as client:

        async def one(index: int) -> int:
            body = {"task": {"index": index % 64}, "endpoint": engine}
            async with free:
                start = time.perf_counter()
                async with client.post("/run", json=body) as answer:
                    told = await answer.json()
                took = time.perf_counter() - start
            times.append(took * 1e3 / max(1, told["n_steps"]))
            return int(told["n_steps"])

        async with asyncio.TaskGroup() as group:
            playing = [group.create_task(one(index)) for index in range(episodes)]
    return times, sum(task.result() for task in playing), time.perf_counter() - begun


async def play_here(room: Seats, runtime: PolicyRuntime, seats: int, episodes: int) -> Played:
    """Play the same episodes at seats of this process."""
    times, free, begun = list[float](), asyncio.Semaphore(seats), time.perf_counter()

    async def one(index: int) -> int:
        async with free:
            start = time.perf_counter()
            task = await room.desk.draw(Selector(index=index % 64))
            episode = await room.play(
                "here",
                task,
                lambda planned, account, viewport: runtime.policies.make(
                    POLICY, seed=planned.seed, task=task, account=account, viewport=viewport
                ),
                live=lambda planned: runtime.live(POLICY, planned.seed),
            )
            took = time.perf_counter() - start
        times.append(took * 1e3 / max(1, episode.n_steps))
        return episode.n_steps

    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(one(index)) for index in range(episodes)]
    return times, sum(task.result() for task in playing), time.perf_counter() - begun


@contextlib.asynccontextmanager
async def both(seats: int, *, blank: bool) -> AsyncIterator[tuple[Seats, str, str, PolicyRuntime]]:
    """Open seats, their door, an engine, and a policy that asks it from here."""
    folder = str(Path(tempfile.mkdtemp(prefix="run-door-")) / "run")
    config = config_of(folder, sessions=seats, limits={"steps": STEPS})
    make = blank_seats if blank else open_seats
    async with scripted_engine() as engine, make(config) as room, served(room) as url:
        section = EngineSection(kind=EngineKind.OPENAI, urls=(engine,))
        asking = config.model_copy(update={"engine": section, "policy": POLICY})
        async with open_policies(asking) as runtime:
            yield room, url, engine, runtime


async def measure_added() -> Figures:
    """Return what the door adds to a step with pages that cost nothing."""
    found: Figures = {}
    good = True
    for seats in (1, 8):
        through, here = list[float](), list[float]()
        async with both(seats, blank=True) as (room, url, engine, runtime):
            for _ in range(ROUNDS):
                here += (await play_here(room, runtime, seats, EPISODES))[0]
                through += (await in_process(play_through, url, engine, seats, EPISODES))[0]
        p50 = quantile(through, 0.5) - quantile(here, 0.5)
        p99 = quantile(through, 0.99) - quantile(here, 0.99)
        good &= p50 <= MAX_P50_MS and p99 <= MAX_P99_MS
        found[f"added_p50_ms_{seats}"] = round(p50, 2)
        found[f"added_p99_ms_{seats}"] = round(p99, 2)
        found[f"here_p50_ms_{seats}"] = round(quantile(here, 0.5), 2)
        found[f"episodes_{seats}"] = len(through)
    return {**found, "added_held": good}


async def measure_rate(seats: int = SEATS, rounds: int = 3) -> Figures:
    """Return the rate of steps through the door against that of this process, on MiniWoB++."""
    through, here = list[float](), list[float]()
    async with both(seats, blank=False) as (room, url, engine, runtime):
        await play_here(room, runtime, seats, seats)  # the browser grows its first contexts
        for _ in range(rounds):
            _, steps, seconds = await play_here(room, runtime, seats, 2 * seats)
            here.append(steps / seconds)
            _, steps, seconds = await in_process(play_through, url, engine, seats, 2 * seats)
            through.append(steps / seconds)
    ratio = statistics.median(a / b for a, b in zip(through, here, strict=True))
    return {
        "rate_seats": seats,
        "rate_here": round(statistics.median(here), 1),
        "rate_door": round(statistics.median(through), 1),
        "rate_ratio": round(ratio, 3),
        "rate_held": ratio >= MIN_RATE,
    }


MEASURES: dict[str, Callable[[], Any]] = {"added": measure_added, "rate": measure_rate}


async def main(names: Sequence[str]) -> int:
    """Measure, print and keep the figures; return 1 if a line is missed."""
    figures: Figures = {"bench": "run door"}
    for name in names or MEASURES:
        figures |= await MEASURES[name]()
        print(json.dumps(figures), file=sys.stderr)
    figures["held"] = all(value for key, value in figures.items() if key.endswith("_held"))
    report(figures)
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
