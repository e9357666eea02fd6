"""What clients that die, lose answers or think for long leave behind or cost, and how a server grows."""

import asyncio
import statistics
from operator import truediv
from pathlib import Path
from typing import Any

import psutil

from bench.loading.blank_pages import blank_seats
from bench.loading.seat_clients import STEPS, WAYS
from bench.loading.seat_room import Open, Room, clients, config_of, own_cpu, quiet, room_of
from bench.measuring.process import pss_mb
from flows.serving.opening import open_seats
from flows.serving.seating import Seats

MAX_SLOW, MAX_GROWTH = 0.02, 1.05
SEATS = 64

Figures = dict[str, Any]


async def measure_deaths(count: int = 1_000, seats: int = 8) -> Figures:
    """Return what clients that died leave behind after 5 s, on blank pages and in browsers."""
    found: Figures = {"deaths": count, "deaths_ways": ", ".join(WAYS)}
    for name, opening in (("blank", blank_seats), ("browsers", open_seats)):
        config = config_of(sessions=seats, seats={"silence_seconds": 2.0, "commit_seconds": 1.0})
        async with room_of(config, opening) as room:
            given = {"url": room.url, "at_once": seats}
            await room.clients.ask("die_many", clients=2 * seats, **given)
            await asyncio.sleep(5)
            await quiet(room)
            before = _left(room.seats)
            died = await room.clients.ask("die_many", clients=count, **given)
            await asyncio.sleep(5)
            after = _left(room.seats)
            await quiet(room)
            buried = await room.clients.ask("bury")
            later = _left(room.seats)
        held = all(after[key] <= before[key] for key in ("leases", "seats", "renderers"))
        held &= later["spooled"] == 0 and later["open files"] <= before["open files"]
        found |= {
            f"deaths_{name}_died": {**died, "silent": buried},
            f"deaths_{name}_before": before,
            f"deaths_{name}_after": after,
            f"deaths_{name}_later": later,
            f"deaths_{name}_held": held,
        }
    return found


def _left(seats: Seats) -> dict[str, int]:
    """Return what there is of leases, seats, renderers, open files, and files of episodes that are not committed."""
    me = psutil.Process()
    run = Path(seats.config.run.url)
    waiting = [*(run / "spool").rglob("*"), *(run / "served").rglob("*")]
    return {
        "leases": len(seats.leases),
        "seats": seats.turnstile.in_use,
        "renderers": sum(map(_is_renderer, me.children(recursive=True))),
        "open files": me.num_fds(),
        "spooled": sum(path.is_file() for path in waiting),
        "tasks": len(asyncio.all_tasks()),
    }


def _is_renderer(process: psutil.Process) -> bool:
    try:
        return "--type=renderer" in process.cmdline()
    except psutil.Error:
        return False


async def measure_repeats(episodes: int = 64, seats: int = 8) -> Figures:
    """Return whether repeated steps act twice, or are lost."""
    config = config_of(sessions=seats, seats={"return_seconds": 30.0})
    async with room_of(config, blank_seats) as room:
        given = {"url": room.url, "seats": seats, "episodes": episodes}
        found = await room.clients.ask("stumble_many", **given)
        await quiet(room)
        acted = room.seats.counts["steps"]
    wanted = episodes * STEPS
    return {
        "repeats_steps": found["steps"],
        "repeats_lost_answers": found["lost answers"],
        "repeats_twice": acted - found["steps"],
        "repeats_missing": wanted - found["steps"],
        "repeats_held": acted == found["steps"] == wanted,
    }


async def measure_slow(rounds: int = 12, seconds: float = 6.0) -> Figures:
    """Return what a client that takes a minute for a step costs seven others, in turns."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    cpu: dict[bool, list[float]] = {False: [], True: []}
    async with room_of(config_of(sessions=8), blank_seats) as room, clients() as thinker:
        await _busy(room, seconds)  # what is made once, as threads
        for number in range(2 * rounds):
            slow = number % 4 in (1, 2)  # each kind comes first as often as the other
            # It sits down before and leaves after, as it would sit for many such times.
            thinking = asyncio.create_task(
                thinker.ask("play_slow", url=room.url, seconds=seconds + 4.0 if slow else 0.0)
            )
            while room.seats.turnstile.in_use != slow:  # noqa: ASYNC110 - no event says it
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.5)
            rate, used = await _busy(room, seconds)
            if slow and not room.seats.turnstile.in_use:
                raise SystemExit("slow: the client left while the others were measured")
            rates[slow].append(rate)
            cpu[slow].append(used)
            await thinking
    # In pairs, side by side in time: the machine's own ups and downs are larger than the line.
    lost = 1 - statistics.mean(map(truediv, rates[True], rates[False]))
    more = statistics.mean(map(truediv, cpu[True], cpu[False])) - 1
    return {
        "slow_rates": {str(slow): [round(one, 1) for one in rates[slow]] for slow in rates},
        "slow_cost": round(lost, 4),
        "slow_cpu_cost": round(more, 4),
        "max_slow_cost": MAX_SLOW,
        "slow_held": lost <= MAX_SLOW,
    }


async def _busy(room: Room, seconds: float) -> tuple[float, float]:
    """Let seven clients play for so many seconds; return steps/s, and this process's CPU seconds a step."""
    clock, used, steps, took = asyncio.get_running_loop().time, own_cpu(), 0, 0.0
    begun = clock()
    while took < seconds:
        steps += (await room.clients.ask("play_many", url=room.url, seats=7, episodes=14))[1]
        took = clock() - begun
    return steps / took, (own_cpu() - used) / steps


async def measure_memory(steps: int = 200_000) -> Figures:
    """Return how this process grows while many steps are made on pages that cost nothing."""
    return {"memory_steps": steps, **await _growth("memory", blank_seats, steps)}


async def measure_memory_browsers(steps: int = 3_000) -> Figures:
    """Return how this process and its browsers grow while many steps are made."""
    return {"memory_browsers_steps": steps, **await _growth("memory_browsers", open_seats, steps)}


async def _growth(name: str, opening: Open, steps: int) -> Figures:
    held = list[float]()
    episodes = max(1, steps // 10 // STEPS)
    async with room_of(config_of(sessions=SEATS), opening) as room:
        # What is made once, as by the first commit, comes before the first tenth.
        await room.clients.ask("play_many", url=room.url, seats=SEATS, episodes=SEATS)
        await quiet(room)
        for _ in range(10):
            given = {"url": room.url, "seats": SEATS, "episodes": episodes}
            await room.clients.ask("play_many", **given)
            held.append(pss_mb(own=True) - pss_mb(own=True, pid=room.clients.pid))
    ratio = held[9] / held[1]
    return {
        f"{name}_mb": [round(each) for each in held],
        f"{name}_growth": round(ratio, 3),
        "max_growth": MAX_GROWTH,
        f"{name}_held": ratio <= MAX_GROWTH,
    }
