"""Whether a long run takes more and more: memory, open files and what is left, at 32 sessions.

Scripted episodes of the shipped path run one after the other in as many sessions as a run has at once.
Memory is the proportional set size of this process and everything below it, sampled all the while; the
median of the last tenth of the steps is held against that of the second tenth, and in both all sessions
are at work. In the end every session and the browser are closed: no process, socket, file or folder may
be left.

The standard case takes ten to twenty minutes.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.loading.attempts import make_attempt
from bench.measuring.process import pss_mb
from bench.measuring.result import report
from generators.browser.chromium import Chromium
from generators.policy.protocol import Decision, PolicyInput
from generators.policy.scripted import ScriptedPolicy
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from schemas.configuration.config import RunConfig
from schemas.episodes.action import Action, Click

CONFIG = RunConfig()
TEMPLATE = "click-checkboxes-large"
STEPS_EACH = 30
MAX_GROWTH = 1.1
SAMPLE_SECONDS = 5.0


@dataclass(frozen=True)
class Sample:
    """What the run held at one moment."""

    steps: int
    """Steps made until then."""
    total_mb: float
    """Of this process and all below it."""
    own_mb: float
    """Of this process alone."""
    files: int
    """Open files and sockets of this process."""


class _Counted(ScriptedPolicy):
    """Acts by a list, and says each time that it does."""

    def __init__(self, script: Sequence[Action], count: Callable[[], None]) -> None:
        super().__init__(script)
        self._count = count

    async def act(self, turn: PolicyInput) -> Decision:
        self._count()
        return await super().act(turn)


class Endurance:
    """Episodes that go on until so many steps are made, and what they hold meanwhile."""

    def __init__(self, steps: int, sessions: int) -> None:
        """`steps`: at least so many in all; `sessions`: how many at once."""
        self.samples: list[Sample] = []
        """In order."""
        self.steps = 0
        """Steps made."""
        self.episodes = 0
        """Episodes done."""
        self._wanted = steps
        self._sessions = sessions

    async def run(self) -> None:
        """Make the episodes and take samples.

        Raises:
            SystemExit: an episode fails.
        """
        async with Gateway() as gateway:
            site = MiniWob(gateway)
            async with Chromium(network=gateway) as chromium:
                sampler = asyncio.create_task(self._sample())
                async with asyncio.TaskGroup() as group:
                    for worker in range(self._sessions):
                        group.create_task(self._work(site, chromium, worker))
                sampler.cancel()

    async def _work(self, site: MiniWob, chromium: Chromium, worker: int) -> None:
        limits = Limits(steps=STEPS_EACH, seconds=600, stuck_steps=STEPS_EACH + 1)
        script: list[Action] = [Click(x=16, y=60 + 15 * (n % 5)) for n in range(STEPS_EACH)]
        seed = worker
        while self.steps < self._wanted:
            episode = await rollout(
                make_attempt(site, TEMPLATE, seed, seed=seed, config=CONFIG),
                site=site,
                sessions=chromium,
                make_policy=lambda _: _Counted(script, self._count),
                limits=limits,
            )
            if episode.failure_kind:
                raise SystemExit(f"an episode failed: {episode.failure_message}")
            self.episodes += 1
            seed += self._sessions

    def _count(self) -> None:
        self.steps += 1

    async def _sample(self) -> None:
        while True:
            await asyncio.sleep(SAMPLE_SECONDS)
            total, below, files = await asyncio.to_thread(_held)
            self.samples.append(Sample(self.steps, total, total - below, files))

    def between(self, begin: float, end: float) -> list[Sample]:
        """Return the samples of a part of the steps, given as shares of them all."""
        return [one for one in self.samples if begin <= one.steps / self._wanted < end]


def _held() -> tuple[float, float, int]:
    """Return the memory of this process with all below it, of those below alone, MB, and open files."""
    total, below = pss_mb(own=True), pss_mb(own=False)
    return total, below, psutil.Process().num_fds()


def _median(samples: Sequence[Sample], name: str) -> float:
    return statistics.median(float(getattr(one, name)) for one in samples)


def _left(scratch: Path, files: int) -> dict[str, int]:
    """Return what is left once all is closed; `files`: how many were open before."""
    return {
        "processes": len(psutil.Process().children(recursive=True)),
        "files": max(0, psutil.Process().num_fds() - files),
        "folders": len([*scratch.iterdir()]),
    }


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--sessions", type=int, default=32)
    parser.add_argument("--keep", help="keep the result under this name")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        scratch.chmod(0o711)  # the browser's user has to pass through it
        tempfile.tempdir = folder
        files = psutil.Process().num_fds()
        endurance, begun = Endurance(arguments.steps, arguments.sessions), time.perf_counter()
        asyncio.run(endurance.run())
        seconds, left = time.perf_counter() - begun, _left(scratch, files)
    first, last = endurance.between(0.1, 0.2), endurance.between(0.9, 1.0)
    growth = {
        name: _median(last, name) / _median(first, name) for name in ("total_mb", "own_mb", "files")
    }
    held = max(growth.values()) <= MAX_GROWTH and not any(left.values())
    report(
        {
            "bench": "endurance",
            "sessions": arguments.sessions,
            "steps": endurance.steps,
            "episodes": endurance.episodes,
            "seconds": round(seconds),
            "mb_after_a_tenth": round(_median(first, "total_mb")),
            "mb_in_the_end": round(_median(last, "total_mb")),
            "own_mb_of_tenths": [
                round(_median(endurance.between(tenth / 10, (tenth + 1) / 10), "own_mb"))
                for tenth in range(10)
            ],
            **{
                f"{name.removesuffix('_mb')}_growth": round(grown, 3)
                for name, grown in growth.items()
            },
            "max_growth": MAX_GROWTH,
            "left": left,
            "held": held,
        },
        keep=arguments.keep,
    )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
