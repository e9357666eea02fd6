"""Many sessions at once: does a machine lose anything by having more of them open than it has cores?

Each level keeps so many sessions open, each of which attempts one task of the demo after another by
the shipped `rollout`, for a warm-up and then for the seconds that are counted. Two kinds of policy:

* `teacher` decides at once, so pages are all that anybody waits for;
* `engine` asks an engine over HTTP that answers after 2 to 20 seconds (the simulator, which
  the teacher tells what to reply), so most sessions wait for a reply most of the time.

Three lines to hold at 64 and at 128 open sessions:

* steps/s against the best level of the same policy: at least 0.85. An engine bounds its level by
  itself: `sessions` ÷ the mean reply is the most that a machine which costs nothing would make, so
  a level is held against the lower of the two;
* the slowest tenth of episodes takes at most 3 times the median's time, for each step, as some tasks
  take ten times the steps of others. An episode that has not ended counts with the time it has had
  so far, if that is more than the median's: a session that starves ends none;
* a session's memory, browser and all: at most 40 MB at 64 (PSS, less that of an idle browser).

"""

import argparse
import asyncio
import contextlib
import itertools
import json
import statistics
import sys
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.loading.attempts import make_attempt
from bench.measuring.process import cpu_by_kind, cpu_since, pss_mb
from bench.measuring.result import report
from flows.resources.engines import open_policies
from generators.browser.chromium import Chromium
from generators.browser.slots import Slots, page_slots
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from schemas.configuration.config import Layer, RunConfig, resolve
from schemas.configuration.picture_sizes import VIEWPORT
from schemas.episodes.episode import Episode

ROOT = Path(__file__).parents[1]
REPLY_MS = (2_000, 20_000)
LEVELS = (16, 64, 128)
HELD_LEVELS = (64, 128)
MIN_RATE = 0.85
MAX_SLOWNESS = 3.0
MEMORY_LEVEL, MAX_SESSION_MB = 64, 40.0
LIMITS = Limits(steps=30, seconds=3_600, stuck_steps=4)
POLICIES: dict[str, Layer] = {
    "teacher": {"policy": {"name": "teacher"}},
    "engine": {
        "policy": {"name": "model"},
        "engine": {
            "kind": "scripted",
            "args": ["--puppet", "--delay-ms", ",".join(map(str, REPLY_MS)), "--at-once", "1024"],
        },
    },
}


@dataclass(eq=False, slots=True)
class Going:
    """An attempt that has not ended."""

    began: float = field(default_factory=time.perf_counter)
    """When, by the performance counter, s."""
    steps: int = 0
    """Decisions made so far."""


class Timed:
    """A policy that says when each of its decisions was made."""

    def __init__(self, policy: Policy, made: list[float], going: Going) -> None:
        self._policy = policy
        self._made = made
        self._going = going

    @property
    def card(self) -> PolicyCard:
        """The policy's own."""
        return self._policy.card

    async def act(self, turn: PolicyInput) -> Decision:
        """Return what the policy decides."""
        decision = await self._policy.act(turn)
        self._made.append(time.perf_counter())
        self._going.steps += 1
        return decision


def attempts(site: MiniWob, config: RunConfig) -> Iterator[Attempt]:
    """Yield attempts at the demo's tasks, seed after seed, without end."""
    demo = tomllib.loads((ROOT / "configs/demo.toml").read_text("utf-8"))["tasks"]["include"]
    templates = [name for name in demo if site.has_template(name)]
    for number in itertools.count():
        seed, template = number // len(templates), templates[number % len(templates)]
        yield make_attempt(site, template, number, seed=seed, config=config)


class Bench:
    """One browser and one kind of policy, level after level."""

    def __init__(
        self,
        site: MiniWob,
        chromium: Chromium,
        make: Callable[[Attempt, Account], Policy],
        config: RunConfig,
    ) -> None:
        self._site = site
        self._chromium = chromium
        self._make = make
        self._attempts = attempts(site, config)
        self._going: list[Going] = []

    async def level(self, sessions: int, *, warm_up: float, seconds: float) -> dict[str, float]:
        """Keep so many sessions open; return the figures of `seconds` after the warm-up."""
        made: list[float] = []
        ended: list[tuple[float, Episode]] = []
        idle = pss_mb(own=False)
        self._going.clear()
        working = [asyncio.create_task(self._work(made, ended)) for _ in range(sessions)]
        try:
            await _pause(working, warm_up)
            begun, cpu = time.perf_counter(), cpu_by_kind()
            await _pause(working, seconds)
            stopped, used = time.perf_counter(), sum(cpu_since(cpu).values())
            unended = [(stopped - one.began) / (one.steps + 1) for one in self._going]
            memory = pss_mb(own=False) - idle
        finally:
            for task in working:
                task.cancel()
            await asyncio.wait(working)
        steps = sum(begun <= at <= stopped for at in made)
        done = [episode for at, episode in ended if begun <= at <= stopped]
        paces = [episode.wall_seconds / (episode.n_steps + 1) for episode in done]
        return {
            "sessions": sessions,
            "episodes": len(done),
            "failed": sum(episode.failure_kind is not None for episode in done),
            "steps": steps,
            "steps_per_second": round(steps / (stopped - begun), 2),
            "cores_used": round(used / (stopped - begun), 2),
            "seconds_a_step_median": round(statistics.median(paces), 2),
            "slowness": round(slowness(paces, unended), 2),
            "session_mb": round(memory / sessions, 1),
        }

    async def _work(self, made: list[float], ended: list[tuple[float, Episode]]) -> None:
        while True:
            attempt, going = next(self._attempts), Going()
            self._going.append(going)

            def make(account: Account, attempt: Attempt = attempt, going: Going = going) -> Policy:
                return Timed(self._make(attempt, account), made, going)

            episode = await rollout(
                attempt,
                site=self._site,
                sessions=self._chromium,
                make_policy=make,
                limits=LIMITS,
            )
            ended.append((time.perf_counter(), episode))
            self._going.remove(going)


def slowness(ended: Sequence[float], unended: Sequence[float]) -> float:
    """Return how many times the median's seconds a step the slowest tenth of episodes takes.

    Both are seconds a step; the median is of the episodes that have ended.
    """
    median = statistics.median(ended)
    paces = sorted([*ended, *(pace for pace in unended if pace > median)])
    return paces[len(paces) * 9 // 10] / median


async def _pause(working: Sequence[asyncio.Task[None]], seconds: float) -> None:
    """Let sessions run; one that ends has a defect, whose error is raised here."""
    done, _ = await asyncio.wait(working, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


@contextlib.asynccontextmanager
async def policies(config: RunConfig) -> AsyncIterator[Callable[[Attempt, Account], Policy]]:
    """Open what the policy of `config` asks; yields what makes it."""
    async with open_policies(config) as acting:

        def make(attempt: Attempt, account: Account) -> Policy:
            seed = attempt.task.task_id
            return acting.policies.make(
                config.policy, seed=seed, task=attempt.task, account=account
            )

        yield make


async def measure(kind: str, args: argparse.Namespace) -> list[dict[str, float]]:
    """Return the figures of every level of one kind of policy."""
    browser = {"browser": {"viewport": list(VIEWPORT)}}
    config = resolve([("bench", {**browser, **POLICIES[kind]})])
    out = []
    async with policies(config) as make, Gateway() as gateway:
        for sessions in args.sessions:
            chromium = Chromium(
                network=gateway, slots=Slots(args.slots) if args.slots else page_slots()
            )
            async with chromium:
                bench = Bench(MiniWob(gateway), chromium, make, config)
                level = await bench.level(sessions, warm_up=args.warm_up, seconds=args.seconds)
            out.append(level)
            sys.stderr.write(f"{kind}: {json.dumps(level)}\n")
    return out


def shares(levels: Sequence[dict[str, float]], *, reply_seconds: float) -> dict[int, float]:
    """Return each level's steps/s as a share of what was to be had there."""
    best = max(level["steps_per_second"] for level in levels)
    out = {}
    for level in levels:
        bound = level["sessions"] / reply_seconds if reply_seconds else best
        out[int(level["sessions"])] = round(level["steps_per_second"] / min(best, bound), 3)
    return out


async def run(args: argparse.Namespace) -> bool:
    """Measure, print one JSON line, and say whether every line is held."""
    figures: dict[str, object] = {"bench": "sessions"}
    held = True
    for kind in args.policies:
        levels = await measure(kind, args)
        reply = statistics.mean(REPLY_MS) / 1_000 if kind == "engine" else 0.0
        share = shares(levels, reply_seconds=reply)
        held = held and all(share[n] >= MIN_RATE for n in HELD_LEVELS if n in share)
        for level in levels:
            held = held and not level["failed"] and level["slowness"] <= MAX_SLOWNESS
            if level["sessions"] == MEMORY_LEVEL:
                held = held and level["session_mb"] <= MAX_SESSION_MB
        figures[kind] = {"levels": levels, "share_of_best": share}
    lines = {
        "min_share": MIN_RATE,
        "max_slowness": MAX_SLOWNESS,
        "max_session_mb": MAX_SESSION_MB,
    }
    report({**figures, **lines, "held": held})
    return held


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--sessions", type=int, nargs="+", default=list(LEVELS))
    add("--policies", nargs="+", choices=list(POLICIES), default=list(POLICIES))
    add("--warm-up", type=float, default=60.0, help="seconds before a level is counted")
    add("--seconds", type=float, default=60.0, help="seconds that are counted")
    add("--slots", type=int, help="sessions at work on their pages; the shipped number if left out")
    return 0 if asyncio.run(run(parser.parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
