"""What a seat costs beside a policy in this process, and what clients that die leave behind.

Every figure is a ratio or a difference of two measurements of one run, in turns. The clients are in another process.

* **added**: milliseconds that the step door adds to a step of as many seats of this process, with pages that cost nothing: the
  clients measure each step from sending to answer, and the same actions are measured in this process without a door.
  Lines: p50 at most 5 ms, p99 at most 20 ms.
* **rate**: steps a second at 64 seats through a door, against rollouts of the same actions in this process, on
  MiniWoB++ and on worlds; the run door with the simulator as the clients' engine. Line: at least 0.95.
* **deaths**: clients that are reset, fall silent, are killed or leave in the middle of a reset. Lines: 5 s later no
  lease, no seat, no renderer, no open file and no file of the run that was not there before.
* **repeats**: clients that lose every tenth answer, break their connection and repeat their step. Lines: no action
  twice, none lost.
* **slow**: what one client that takes a minute for a step costs the others. Line: at most 2 %.
* **memory**: this process after the last tenth of many steps against the second tenth, on pages that cost nothing and
  in browsers, those included. Line: at most 1.05.

`python -m bench.seats NAME…` measures some of them; `NAME=SIZE` at a size that is not the standard one. `--keep` keeps what
was measured so, beside what is known of the others; `NAME_measured` says of which commit and at which load each is.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from bench.loading.blank_pages import blank_seats
from bench.loading.seat_clients import STEPS, TASKS, Played, action
from bench.loading.seat_faults import (
    SEATS,
    Figures,
    measure_deaths,
    measure_memory,
    measure_memory_browsers,
    measure_repeats,
    measure_slow,
)
from bench.loading.seat_room import (
    Room,
    browser_cpu,
    config_of,
    own_cpu,
    play_many_here,
    quiet,
    room_of,
    run_many_here,
)
from bench.loading.serving import scripted_engine
from bench.measuring.result import RESULTS, origin, report
from flows.serving.opening import open_seats
from generators.seats.actions import read_message
from schemas.configuration.config import RunConfig
from schemas.tasks.selector import Selector

MAX_P50_MS, MAX_P99_MS = 5.0, 20.0
MIN_RATE = 0.95
ENGINE_MS = "200,1000"
"""What the simulator takes for a reply, ms."""


def quantile(times: Sequence[float], share: float) -> float:
    """Return a quantile of times."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


async def measure_added(rounds: int = 4) -> Figures:
    """Return what the door adds to a step with pages that cost nothing."""
    found: Figures = {"max_added_p50_ms": MAX_P50_MS, "max_added_p99_ms": MAX_P99_MS}
    for seats in (1, 8):
        found |= await _added(seats, rounds)
    p50, p99 = (max(found[f"added_{key}_ms_{seats}"] for seats in (1, 8)) for key in ("p50", "p99"))
    return {**found, "added_held": p50 <= MAX_P50_MS and p99 <= MAX_P99_MS}


async def _added(seats: int, rounds: int) -> Figures:
    """Return ms a step through the door and here, and the CPU of this process a step."""
    times: dict[str, list[float]] = {"here": [], "door": []}
    cpu: dict[str, list[float]] = {"here": [], "door": []}
    config = config_of(
        sessions=seats, tasks={"unit_size": 4 * seats}, seats={"commit_seconds": 3_600}
    )
    async with room_of(config, blank_seats) as room:
        for work in (_seats_here, _steps_there):  # what is made once, as threads
            await work(room, seats, 4 * seats)
        for _ in range(rounds):
            for side, work in (("here", _seats_here), ("door", _steps_there)):
                await quiet(room)
                before = own_cpu()
                took, steps, _ = await work(room, seats, 4 * seats)
                times[side] += took
                cpu[side].append((own_cpu() - before) * 1e3 / steps)
    found: Figures = {f"added_steps_{seats}": len(times["door"])}
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        here, door = quantile(times["here"], share), quantile(times["door"], share)
        found[f"here_{name}_ms_{seats}"] = round(here, 2)
        found[f"added_{name}_ms_{seats}"] = round(door - here, 2)
    more = statistics.median(cpu["door"]) - statistics.median(cpu["here"])
    return {**found, f"added_cpu_ms_{seats}": round(more, 2)}


class Turn(NamedTuple):
    """One round of episodes: its steps, its rate, and CPU ms a step of the server, of its browsers and of the clients."""

    steps: int
    rate: float
    server: float
    browsers: float
    clients: float


async def _turn(room: Room, work: Awaitable[Played]) -> Turn:
    """Measure a round, which is a unit: it is committed at its end, and no round before it is then."""
    await quiet(room)
    before = own_cpu(), browser_cpu(room.clients.pid), room.clients.cpu
    _, steps, seconds = await work
    after = own_cpu(), browser_cpu(room.clients.pid), room.clients.cpu
    cpu = [(b - a) * 1e3 / steps for a, b in zip(before, after, strict=True)]
    return Turn(steps, steps / seconds, *cpu)


async def _rate(name: str, config: RunConfig, rounds: int, here: Any, there: Any) -> Figures:
    """Return the rates of episodes here and through a door, in turns, after a round of each for what is made once."""
    seats = config.browser.sessions or SEATS
    turns: list[tuple[Turn, Turn]] = []
    async with room_of(config, open_seats) as room:
        for work in (here, there):
            await work(room, seats)
        for _ in range(rounds):
            alone = await _turn(room, here(room, seats))
            turns.append((alone, await _turn(room, there(room, seats))))
    ratio = statistics.median(b.rate / a.rate for a, b in turns)
    cpu = statistics.median((a.server + a.browsers) / (b.server + b.browsers) for a, b in turns)
    found: Figures = {
        f"{name}_ratio": round(ratio, 3),
        f"{name}_cpu_ratio": round(cpu, 3),
        f"{name}_held": ratio >= MIN_RATE,
    }
    for side, of in (("here", 0), ("door", 1)):
        for key in Turn._fields:
            middle = statistics.median(getattr(turn[of], key) for turn in turns)
            found[f"{name}_{side}_{key}"] = round(middle, 2)
    print(json.dumps(found), file=sys.stderr, flush=True)
    return found


async def _seats_here(room: Room, seats: int, episodes: int) -> Played:
    """Play episodes at seats of this process, so many at once, which wait for each other as clients of a door do."""
    times, free, begun = list[float](), asyncio.Semaphore(seats), time.perf_counter()

    async def one(index: int) -> int:
        async with free:
            lease = await room.seats.take("here", Selector(index=index % TASKS))
            await lease.look()
            for step in range(STEPS):
                asked = time.perf_counter()
                await lease.step(read_message({"action": action(step), "step": step}))
                if step:  # as through the door
                    times.append((time.perf_counter() - asked) * 1e3)
            await room.seats.leave(lease)
        return STEPS

    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(one(index)) for index in range(episodes)]
    return times, sum(task.result() for task in playing), time.perf_counter() - begun


async def _steps_here(room: Room, seats: int, episodes: int | None = None) -> Played:
    return await play_many_here(room.seats, seats, episodes or seats)


async def _steps_there(room: Room, seats: int, episodes: int | None = None) -> Played:
    given = {"url": room.url, "seats": seats, "episodes": episodes or seats}
    found: Played = await room.clients.ask("play_many", **given)
    return found


def _config(seats: int, sections: Figures) -> RunConfig:
    tasks = {"unit_size": seats, **sections.get("tasks", {})}
    return config_of(sessions=seats, tasks=tasks, seats={"commit_seconds": 3_600})


WORLDS = {"sources": ["worlds"], "include": ["shop/find"], "seeds": [0, 2 * TASKS - 1]}


async def measure_rate(rounds: int = 3, seats: int = SEATS) -> Figures:
    """Return the rates through each door against those of this process, on MiniWoB++ and on worlds."""
    found: Figures = {"rate_seats": seats, "rate_rounds": rounds, "min_rate": MIN_RATE}
    sites: dict[str, Figures] = {"miniwob": {}, "worlds": {"tasks": WORLDS}}
    for site, sections in sites.items():
        config = _config(seats, sections)
        found |= await _rate(f"step_{site}", config, rounds, _steps_here, _steps_there)
    async with scripted_engine("--delay-ms", ENGINE_MS) as engine:
        asked = {"endpoint": engine, "sampling": {"max_tokens": 128}}

        async def here(room: Room, seats: int) -> Played:
            return await run_many_here(room.seats, seats, seats, asked)

        async def there(room: Room, seats: int) -> Played:
            given = {"url": room.url, "seats": seats, "episodes": seats, "asked": asked}
            told: Played = await room.clients.ask("run_many", **given)
            return told

        for site, sections in sites.items():
            config = _config(seats, sections)
            found |= await _rate(f"run_{site}", config, rounds, here, there)
    return found


KEEP = "--keep"

MEASURES: dict[str, Callable[..., Awaitable[Figures]]] = {
    "added": measure_added,
    "rate": measure_rate,
    "deaths": measure_deaths,
    "repeats": measure_repeats,
    "slow": measure_slow,
    "memory": measure_memory,
    "memory_browsers": measure_memory_browsers,
}


def _kept() -> Figures:
    """Return the figures of the last result, each with where it was measured."""
    stored: Figures = json.loads((RESULTS / "seats.json").read_text(encoding="utf-8"))
    return {key: value for key, value in stored.items() if key not in origin()}


async def main(asked: Sequence[str]) -> int:
    """Measure, print and keep the figures; return 1 if a line is missed."""
    names = [one for one in asked if one != KEEP]
    figures: Figures = {"bench": "seats", **(_kept() if names and KEEP in asked else {})}
    for name, _, size in (one.partition("=") for one in names or MEASURES):
        figures |= await MEASURES[name](*map(int, filter(None, size.split(","))))
        now = origin()
        figures[f"{name}_measured"] = f"{now['commit']}, {now['date']}, load {now['load_average']}"
        print(json.dumps(figures), file=sys.stderr)
    figures["held"] = all(value for key, value in figures.items() if key.endswith("_held"))
    report(figures, keep="seats" if KEEP in asked else None)
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
