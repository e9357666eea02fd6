"""Runs over stand-ins, killed with `kill -9` at random moments and run again once.

Half of the moments are drawn by the clock, over the time that a run takes; the other half by what
it does: a little after any of its writes, so that short ones are met as often as long ones. Every
case here is one kill: a moment that comes after the run's end is drawn again. What the next run
leaves is held against a run that was never killed, row by row: none is lost, none is there twice.
`make test-full` kills 200 runs in a folder and 40 in a bucket; that this comparison can fail is
`test_chaos_checks`'s matter.
"""

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from effort import BUCKET_KILLS, KILLS, TIMEOUT
from support.runs.chaos import fork, stop_and_finish
from support.runs.kill_at import Instant
from support.runs.run_comparison import Likeness, difference, likeness
from support.runs.small_runs import Trial, bucket_trial, scripted_trial
from support.servers.seaweedfs import Weed

pytestmark = [pytest.mark.full, pytest.mark.timeout(TIMEOUT)]

EPISODES = 3
"""In two units."""

DRAWS = 10
"""How many moments are drawn at most until one comes."""

SOON = 0.02
"""Seconds in which most writes are done."""


class Life(NamedTuple):
    """A run that nobody killed."""

    events: int
    """How often it changed something."""
    seconds: float
    """How long it took."""
    rows: Likeness
    """What it came to."""

    def moment(self, random: Random) -> Instant:
        """Return a moment of such a life."""
        if random.randrange(2):
            return Instant(seconds=random.uniform(0, self.seconds))
        return Instant(number=random.randint(1, self.events), seconds=random.uniform(0, SOON))


def in_folder(base: Path) -> Trial:
    return scripted_trial(base, episodes=EPISODES, verifiers=("structure", "outcome"))


def lived(trial: Trial) -> Life:
    """Run a trial that nothing happens to."""
    trace = trial.base.with_suffix(".trace")
    fork(trial.command(("--version",)))  # what processes are forked from is loaded now
    start = time.monotonic()
    said = fork(trial.doom(trace=trace))
    seconds = time.monotonic() - start
    assert said.code == 0, said.err
    return Life(len(trace.read_text().splitlines()), seconds, likeness(trial))


def assert_one_kill_changes_nothing(number: int, life: Life, make: Callable[[int], Trial]) -> None:
    """Kill one run at a random moment, finish it, and compare it with `life`."""
    random = Random(number)
    trials = (make(draw) for draw in range(DRAWS))
    killed = next((one for one in trials if stop_and_finish(one, life.moment(random))), None)
    assert killed is not None, "no run was killed: all moments came after its end"
    assert difference(likeness(killed), life.rows) == {}


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    return lived(in_folder(tmp_path_factory.mktemp("life") / "whole"))


@pytest.fixture(scope="module")
def bucket_life(tmp_path_factory: pytest.TempPathFactory, weed: Weed) -> Life:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in weed.environment.items():
            patch.setenv(name, value)
        base = tmp_path_factory.mktemp("life") / "whole"
        return lived(bucket_trial(base, weed.place(), episodes=EPISODES))


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_at_a_random_moment_it_comes_to_the_same_rows(
    tmp_path: Path, life: Life, number: int
) -> None:
    assert_one_kill_changes_nothing(number, life, lambda draw: in_folder(tmp_path / f"{draw}"))


@pytest.mark.parametrize("number", range(BUCKET_KILLS))
def test_killed_at_a_random_moment_in_a_bucket_it_comes_to_the_same_rows(
    tmp_path: Path, bucket_url: str, bucket_life: Life, number: int
) -> None:
    def make(draw: int) -> Trial:
        return bucket_trial(tmp_path / f"{draw}", f"{bucket_url}/{draw}", episodes=EPISODES)

    assert_one_kill_changes_nothing(number, bucket_life, make)
