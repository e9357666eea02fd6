"""Two and four workers at once on the same units, each the whole program in a process of its own.

Nobody divides the units among them: all want all, in an order of their own, and each unit is to be
committed once. Some of them may be killed on the way; whoever comes next ends what they began.
They begin at the same moment, when all of them are loaded. `make test-full` runs this; in `make test` two commands work on
one run in a folder (`test_chaos_sweep`).
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from effort import ROUNDS, TIMEOUT
from support.runs.chaos import KILLED, Fork, carry_out, finish
from support.runs.commands import until
from support.runs.kill_at import GO, Instant
from support.runs.small_runs import Trial, bucket_trial, scripted_trial

pytestmark = [pytest.mark.full, pytest.mark.timeout(TIMEOUT)]

SEEDS = range(max(1, ROUNDS // 4))
EPISODES = 4
"""In two units."""

SURE = 12
"""How often whoever is there from the beginning changes something at least."""

CROWDS = [(2, 0), (4, 2)]
"""How many workers there are, and how many of them are killed."""


def in_folder(request: pytest.FixtureRequest) -> Trial:
    base: Path = request.getfixturevalue("tmp_path") / "trial"
    return scripted_trial(base, episodes=EPISODES, verifiers=("structure", "outcome"))


def in_bucket(request: pytest.FixtureRequest) -> Trial:
    base: Path = request.getfixturevalue("tmp_path") / "trial"
    return bucket_trial(base, request.getfixturevalue("bucket_url"), episodes=EPISODES)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("workers", "killed"), CROWDS)
@pytest.mark.parametrize("make", [in_folder, in_bucket])
def test_every_unit_is_committed_once_whoever_works_on_it(
    request: pytest.FixtureRequest,
    make: Callable[[pytest.FixtureRequest], Trial],
    workers: int,
    killed: int,
    seed: int,
) -> None:
    trial, random = make(request), Random(seed)
    gate = trial.base.with_name("gate")
    gate.mkdir()
    fates = [Instant(number=random.randint(4, SURE * n)) for n in range(1, killed + 1)]

    crowd = [
        Fork(trial.doom(jitter=random.randrange(99), at=at, gate=gate))
        for at in (*fates, *[None] * (workers - killed))
    ]
    until(lambda: len(list(gate.iterdir())) == workers)
    (gate / GO).touch()
    ended = [one.end() for one in crowd]

    # Only the first is sure to do so much that its moment comes: others may have less to do.
    assert KILLED in [said.code for said in ended] or not killed
    for said in ended[killed:]:
        # Of two that publish at once one ends and the other says so; the next run ends it.
        assert said.code in {0, 1}, said.err
        assert said.answer["units_failed"] == said.answer["unjudged"] == 0
        assert "Traceback" not in said.err
    assert len(trial.committed()) == EPISODES
    finish(trial, carry_out)
