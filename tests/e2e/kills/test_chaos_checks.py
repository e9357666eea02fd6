"""What all of this rests on: the checks of a run that was killed can fail.

Of a run that is whole a row is lost or doubled, an episode is rolled out again, or the dataset is
short, each in a copy of its own, and `assert_whole` and the comparison of two runs tell of it.
"""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable, write_deltalake
from support.runs.chaos import assert_whole, carry_out
from support.runs.run_comparison import difference, likeness
from support.runs.small_runs import Trial, scripted_trial

from schemas.tables.tables import TABLES

EPISODES = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    base = tmp_path_factory.mktemp("made") / "whole"
    trial = scripted_trial(base, episodes=EPISODES, verifiers=("structure", "outcome"))
    said = carry_out(trial.doom())
    assert said.code == 0, said.err
    return trial


@pytest.fixture
def trial(made: Trial, tmp_path: Path) -> Trial:
    """A copy of a run that is whole."""
    base = tmp_path / "copy"
    shutil.copytree(made.base, base)
    return replace(made, base=base)


def table(trial: Trial, name: str) -> DeltaTable:
    return DeltaTable(str(trial.run / "tables" / name))


def lose(name: str) -> Callable[[Trial], None]:
    """Return what takes a table's first row out of it."""

    def do(trial: Trial) -> None:
        rows = table(trial, name).to_pyarrow_table()
        write_deltalake(table(trial, name), rows.slice(1), mode="overwrite")

    return do


def double(name: str) -> Callable[[Trial], None]:
    """Return what puts a table's first row into it once more."""

    def do(trial: Trial) -> None:
        rows = table(trial, name).to_pyarrow_table()
        write_deltalake(table(trial, name), rows.slice(0, 1), mode="append")

    return do


def unpublish(trial: Trial) -> None:
    next((trial.to / "data" / "trajectories").iterdir()).unlink()


WRONG = {
    f"{do.__name__} a row of {name}": do(name)
    for name in ("tasks", "episodes", "steps", "observations", "verdicts")
    for do in (lose, double)
} | {"lose a file of the dataset": unpublish}


def test_a_run_in_which_nothing_is_wrong_is_whole(trial: Trial, made: Trial) -> None:
    asyncio.run(assert_whole(trial, made.finished()))

    assert difference(likeness(trial), likeness(made)) == {}


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG.keys())
def test_a_row_that_is_lost_or_there_twice_makes_a_run_not_whole(
    trial: Trial, spoil: Callable[[Trial], None]
) -> None:
    spoil(trial)

    with pytest.raises(AssertionError):
        asyncio.run(assert_whole(trial))


def test_an_episode_that_was_rolled_out_again_makes_a_run_not_whole(trial: Trial) -> None:
    before = trial.finished()
    episode_id, first = next(iter(before.items()))
    earlier = first._replace(started_at=first.started_at - timedelta(seconds=1))

    with pytest.raises(AssertionError, match="an episode was rolled out again"):
        asyncio.run(assert_whole(trial, before | {episode_id: earlier}))


def test_two_runs_differ_by_the_row_that_is_lost_or_there_twice(trial: Trial, made: Trial) -> None:
    wanted = likeness(made)
    lose("steps")(trial)
    double("tasks")(trial)

    found = likeness(trial)

    assert difference(found, wanted) == {"steps": (1, 0), "tasks": (0, 1)}
    assert difference({**found, "tasks": Counter()}, wanted)["tasks"] == (EPISODES, 0)
    assert TABLES.keys() <= wanted.keys()
