"""Whether the governor finds the right number of live episodes, on servers in virtual time.

128 sessions are wanted of a server with Holotron-12B's shape: 32-bit and 16-bit states, each with the three rules of which
states a cache keeps, on the memory of an H100 and of an H200; and of one whose memory shrinks, one whose metrics are 30 s
old, and one that says nothing. Each is asked with 7 fixed numbers of live episodes and two of requests, and then with the
governor, which knows none of the figures. R is the median latency at the best fixed numbers. The lines to hold, from
20 R on, with seeds other than those that the governor was tuned on:

* calls a second ≥ 95 % of the best fixed numbers', for 19 of 20 seeds; the figure of the mute server has no line;
* requests that had to start again ≤ 1 %; the slowest tenth of latencies ≤ 3 × the median;
* without the hit signal the governor falls below 80 % on 32-bit states by 0.26's rule, else this bench shows nothing.
"""

import argparse
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import NamedTuple

from bench.closed_loop.sessions import Account, ClosedLoop, Load
from bench.measuring.result import report
from generators.engine.governor.governor import Governor
from generators.engine.governor.signals import Memory
from generators.engine.simulator.batching.presets import ServerPreset, StateRule, read_presets
from generators.engine.simulator.batching.scheduler import Batcher

WANTED = 128
LIVE = (16, 24, 32, 48, 64, 96, 128)
THIRD = 3
FIXED_SEEDS = (201, 202, 203)
SEEDS = tuple(range(101, 121))
H200_SHARE = 3_405 / 1_585
"""Blocks on an H200's memory for one on an H100's: 0.92 of each, less the weights."""
BATCHED_TOKENS = 5_248
"""As `configs/holotron-h100.toml` ships."""
FROM_R, SPAN_SECONDS = 20, 600.0
FIRST_R, TRIES_OF_R = 15.0, 2
STALE_SECONDS = 30.0
MIN_SHARE, MIN_SEEDS, MAX_DEAF = 0.95, 0.95, 0.80
MAX_PREEMPTED, MAX_SLOW = 0.01, 3.0
SHRINKS_UNTIL, SHRINKS_TO = 0.5, 0.6
"""A degrading server loses memory from the beginning to half of the time, down to this share."""


DEAF_SEEDS = 3
SHARP, MUTE = "fp32-chunks-h100", "mute"
"""The server whose cache drops most at once, and the one that says nothing."""


class Case(NamedTuple):
    """A server and how it is asked."""

    name: str
    preset: ServerPreset
    says_cached: bool = True
    gauge_age: float = 0.0
    shrinks: bool = False


class Best(NamedTuple):
    """The best fixed numbers, and what they make."""

    rate: float
    live: int
    requests: int
    latency: float


def cases() -> list[Case]:
    """Return every server."""
    found = []
    for width, rule, card in product(("fp32", "fp16"), StateRule, ("h100", "h200")):
        preset = read_presets()[f"holotron-{width}"]
        blocks = preset.blocks if card == "h100" else int(preset.blocks * H200_SHARE)
        changed = {
            "rule": rule,
            "blocks": blocks,
            "batched_tokens": BATCHED_TOKENS,
            "encoder_tokens": BATCHED_TOKENS,
        }
        found.append(Case(f"{width}-{rule.value}-{card}", preset.model_copy(update=changed)))
    first = found[0].preset
    return [
        *found,
        Case("degrading", first, shrinks=True),
        Case("stale", first, gauge_age=STALE_SECONDS),
        Case(MUTE, first, says_cached=False),
    ]


def _load(case: Case, seed: int, seconds: float) -> Load:
    load = Load(WANTED, seed, seconds, says_cached=case.says_cached, gauge_age=case.gauge_age)
    if case.shrinks:
        load.change = partial(_shrink, seconds=seconds * SHRINKS_UNTIL, blocks=case.preset.blocks)
    return load


def _shrink(now: float, server: Batcher, *, seconds: float, blocks: int) -> None:
    """Take more and more of a server's memory, as another model on the card does."""
    left = int(blocks * (1 - (1 - SHRINKS_TO) * min(1.0, now / seconds)))
    if server.pool.blocks > left:
        server.pool.shrink_to(left)


def find_best(case: Case, seeds: tuple[int, ...]) -> Best:
    """Return the best of the fixed numbers, by the mean over some seeds, in the span that their own latency gives."""
    latency = FIRST_R
    best = Best(0.0, 0, 0, latency)
    for _ in range(TRIES_OF_R):
        begin = FROM_R * latency
        end = begin + max(SPAN_SECONDS, begin)
        found = []
        for live, parts in product(LIVE, (THIRD, 1)):
            requests = live // parts
            accounts = []
            for seed in seeds:
                load = _load(case, seed, end)
                load.live, load.requests = live, requests
                accounts.append(ClosedLoop(case.preset, load).run())
            if any(one.stuck_at is not None for one in accounts):
                continue
            rate = statistics.mean(one.rate(begin, end) for one in accounts)
            middle = statistics.mean(one.latency(begin, end) for one in accounts)
            found.append(Best(rate, live, requests, middle))
        best = max(found)
        latency = best.latency
    return best


def _govern(
    case: Case, seed: int, latency: float, *, hears_hits: bool
) -> tuple[Account, float, float]:
    preset, begin = case.preset, FROM_R * latency
    end = begin + max(SPAN_SECONDS, begin)
    memory = Memory(preset.blocks, preset.block_tokens, preset.state_blocks, preset.caches)
    known = memory if case.says_cached else None
    governor = Governor(WANTED, known, hears_hits=hears_hits)
    return ClosedLoop(preset, _load(case, seed, end), governor).run(), begin, end


class Row(NamedTuple):
    """The figures of one server."""

    name: str
    best_calls_s: float
    best_live: int
    best_requests: int
    best_latency_s: float
    share_worst: float
    """Of the best fixed numbers' calls a second, over the seeds."""
    share_median: float
    seeds_at_95: float
    preempted_worst: float
    slowest_tenth_worst: float
    """Latency beside the median's."""
    live_at_end: float
    share_without_hits: float


def measure(case: Case, seeds: tuple[int, ...]) -> Row:
    """Return the figures of one server.

    Raises:
        AssertionError: it stood still while it was governed.
    """
    best = find_best(case, FIXED_SEEDS)
    shares, preempted, slow, live = list[float](), list[float](), list[float](), list[int]()
    for seed in seeds:
        account, begin, end = _govern(case, seed, best.latency, hears_hits=True)
        if account.stuck_at is not None:
            raise AssertionError(f"{case.name} stood still at {account.stuck_at:.0f} s")
        shares.append(account.rate(begin, end) / best.rate)
        preempted.append(account.totals.preemptions / len(account.ends))
        late = sorted(account.latencies[i] for i in account.window(begin, end))
        slow.append(late[len(late) * 9 // 10] / late[len(late) // 2])
        live.append(account.limits[-1][1])
    deaf = [
        account.rate(begin, end) / best.rate
        for account, begin, end in (
            _govern(case, seed, best.latency, hears_hits=False) for seed in seeds[:DEAF_SEEDS]
        )
    ]
    return Row(
        case.name,
        *best,
        share_worst=min(shares),
        share_median=statistics.median(shares),
        seeds_at_95=sum(one >= MIN_SHARE for one in shares) / len(shares),
        preempted_worst=max(preempted),
        slowest_tenth_worst=max(slow),
        live_at_end=statistics.median(live),
        share_without_hits=statistics.median(deaf),
    )


def _show(row: Row) -> str:
    values = row._asdict().items()
    return " ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in values)


def main() -> int:
    """Measure every server, print a line for each, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="servers; by default all")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="of the governor, for each")
    given = parser.parse_args()
    wanted = [case for case in cases() if not given.names or case.name in given.names]
    rows: list[Row] = []
    with ProcessPoolExecutor() as pool:
        for row in pool.map(partial(measure, seeds=SEEDS[: given.seeds]), wanted):
            rows.append(row)
            print(_show(row), file=sys.stderr, flush=True)
    held = [row for row in rows if row.name != MUTE]
    sharp = next((row for row in rows if row.name == SHARP), None)
    figures = {
        "bench": "governor",
        "servers": [row._asdict() for row in rows],
        "seeds": given.seeds,
        "seeds_at_95_worst": min((row.seeds_at_95 for row in held), default=None),
        "share_worst": min((row.share_worst for row in held), default=None),
        "preempted_worst": max(row.preempted_worst for row in rows),
        "slowest_tenth_worst": max(row.slowest_tenth_worst for row in rows),
        "share_without_hits": None if sharp is None else sharp.share_without_hits,
        "min_seeds": MIN_SEEDS,
        "max_preempted": MAX_PREEMPTED,
        "max_slow": MAX_SLOW,
        "max_deaf": MAX_DEAF,
    }
    is_held = all(
        (
            all(row.seeds_at_95 >= MIN_SEEDS for row in held),
            all(row.preempted_worst <= MAX_PREEMPTED for row in rows),
            all(row.slowest_tenth_worst <= MAX_SLOW for row in rows),
            sharp is None or sharp.share_without_hits < MAX_DEAF,
        )
    )
    report({**figures, "held": is_held})
    return 0 if is_held else 1


if __name__ == "__main__":
    raise SystemExit(main())
