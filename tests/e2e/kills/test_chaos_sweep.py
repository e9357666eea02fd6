"""Runs over stand-ins, killed or out of disk at every moment there is, and finished afterwards.

A run here is the whole program but for pages and browsers, which cost nothing. What a kill would leave
before the first event of each name is kept while one run goes all the way, and each of these folders
is gone on from in this process. That they are what `kill -9` leaves is shown by one that is real;
`make test-full` kills before every event of a larger run.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from effort import ROUNDS, THOROUGH, TIMEOUT
from support.runs.chaos import KILLED, Fork, assert_whole, carry_out, finish, fork, stop_and_finish
from support.runs.kill_at import BASE, NAME, SHORT, Fate, Instant
from support.runs.kill_points import POINTS
from support.runs.small_runs import Trial, scripted_trial

TABLES = ("tasks", "observations", "steps", "episodes", "verdicts")
"""What a run without an engine writes to."""

AT_ONCE = 2
"""Runs at the same time."""

LUCK = 6
"""How many events fewer a run may have: who makes or removes a folder first is a matter of luck."""

STANDS = re.compile(
    r"before write \w+|before create (tasks|episodes)|(link|remove) run/(spool|tables/steps)|link run(/versions|/keeping)?"
    r"|link to|rename to(/data/steps)?"
)
"""Events before which a kill leaves what it leaves before the others.

What follows a commit is the next event; a shard is written as that of `steps` is, and every file as a
shard: it is opened under a temporary name, linked or renamed, and removed under that name.
"""

REAL = "before write steps"
"""Before this a run is killed in `make test`, and what that leaves is what was kept of the moment."""

pytestmark = pytest.mark.timeout(TIMEOUT)


def small(base: Path) -> Trial:
    """Return a run of one unit and two verifiers; of two and three, if there is time."""
    if THOROUGH:
        return scripted_trial(base)
    return scripted_trial(base, episodes=2, verifiers=("structure", "outcome"))


def each(do: Callable[[int], bool], numbers: Iterable[int]) -> int:
    """Do something for every number, a few at a time; return how often it said yes."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return sum(pool.map(do, numbers))


def shape(base: Path) -> list[str]:
    """Return what lies in a folder, but for names that are ids."""
    paths = (path.relative_to(base).parts for path in base.rglob("*"))
    return sorted("/".join(part if len(part) < SHORT else "*" for part in one) for one in paths)


def test_whatever_a_kill_leaves_is_gone_on_from(tmp_path: Path) -> None:
    trial, keep = small(tmp_path / "whole"), tmp_path / "keep"
    said = fork(trial.doom(keep=keep, trace=tmp_path / "trace"))
    assert said.code == 0, said.err
    names = {*(tmp_path / "trace").read_text().splitlines()}
    assert {f"{when} write {table}" for when in ("before", "after") for table in TABLES} <= names
    assert {point.folder for point in POINTS.values()} <= names
    kept = {(moment / NAME).read_text(): moment / BASE for moment in keep.iterdir()}
    assert kept.keys() == names

    killed = small(tmp_path / "killed")
    assert fork(killed.doom(at=Instant(name=REAL))).code == KILLED
    assert shape(killed.base) == shape(kept[REAL])
    finish(killed)

    for name, base in kept.items():
        if THOROUGH or STANDS.fullmatch(name):
            try:
                finish(replace(trial, base=base), carry_out)
            except AssertionError as error:
                error.add_note(f"this is what a kill leaves before: {name}")
                raise


@pytest.mark.full
def test_killed_before_any_write_and_run_again_it_is_whole(tmp_path: Path) -> None:
    whole = small(tmp_path / "whole")
    said = fork(whole.doom(trace=tmp_path / "trace"))
    assert said.code == 0, said.err
    asyncio.run(assert_whole(whole))
    names = (tmp_path / "trace").read_text().splitlines()

    came = each(
        lambda number: stop_and_finish(small(tmp_path / f"{number}"), Instant(number=number)),
        range(1, len(names) + 1),
    )

    assert came >= len(names) - LUCK


@pytest.mark.full
def test_killed_inside_a_write_and_run_again_it_is_whole(tmp_path: Path) -> None:
    """No event is told of in the middle of one, so the kill comes a moment after its beginning."""
    random = Random(1)
    commits = [f"before {method} {table}" for method in ("create", "write") for table in TABLES]
    objects = [f"open {place}" for place in ("run/spool", "run/tables/steps", "to/data/steps")]
    instants = [
        Instant(name=name, seconds=random.uniform(*between))
        for names, between in ((commits, (0.000_5, 0.01)), (objects, (0.000_01, 0.001)))
        for name in names
        for _ in range(max(1, ROUNDS // 4))
    ]

    came = each(
        lambda number: stop_and_finish(small(tmp_path / f"{number}"), instants[number], Fate.ALONE),
        range(len(instants)),
    )

    assert came == len(instants)


@pytest.mark.full
def test_killed_again_and_again_it_gets_to_its_end(tmp_path: Path) -> None:
    trial = scripted_trial(tmp_path / "trial", episodes=3)
    random, starts, code = Random(2), 0, KILLED

    while code == KILLED:
        before = trial.finished()
        code = fork(trial.doom(at=Instant(number=random.randint(5, 40)))).code
        after = trial.finished()
        assert {key: after.get(key) for key in before} == before
        starts += 1

    assert code == 0
    assert starts > 3
    asyncio.run(assert_whole(trial))


@pytest.mark.parametrize("seed", range(max(1, ROUNDS // 2)))
@pytest.mark.parametrize(
    "begun",
    [pytest.param(False, id="anew", marks=pytest.mark.full), pytest.param(True, id="begun")],
)
def test_two_commands_on_one_run_make_each_episode_once(
    tmp_path: Path, seed: int, *, begun: bool
) -> None:
    trial = scripted_trial(tmp_path / "trial", episodes=6)
    if begun:
        fork(trial.doom(at=Instant(name="* run/*", number=Random(seed).randint(10, 60))))
    before = trial.finished()

    both = [Fork(trial.doom(jitter=2 * seed + number)) for number in range(2)]
    ended = [each.end() for each in both]

    for said in ended:
        problems = said.answer["problems"]
        assert isinstance(problems, list)
        # Only one at a time publishes; the other one says so.
        assert [
            one for one in problems if "another publication is writing here" not in str(one)
        ] == []
        # One may end while the other still judges: then nothing is accepted yet, which it says.
        short = bool(problems) or not said.answer["accepted"]
        assert said.code == int(short), said.err
        assert said.answer["units_failed"] == said.answer["unjudged"] == 0
    assert trial.committed().items() >= before.items()
    finish(trial)


FULL = {
    "the spool": Instant(name="open run/spool"),
    "a shard": Instant(name="open run/tables/steps"),
    "a commit": Instant(name="before write episodes"),
    "a verdict": Instant(name="open run/tables/verdicts"),
    "a version": Instant(name="open run/versions"),
    "the dataset": Instant(name="open to/data/*"),
}

WRITTEN_AS_OTHERS = ("a shard", "a verdict", "a version")
"""Objects that are written as one in the spool is, and fail where a commit does."""


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(at, id=name, marks=[pytest.mark.full] if name in WRITTEN_AS_OTHERS else [])
        for name, at in FULL.items()
    ],
)
def test_a_full_disk_is_said_and_the_run_goes_on_later(tmp_path: Path, at: Instant) -> None:
    trial = scripted_trial(tmp_path / "trial")

    said = fork(trial.doom(at=at, fate=Fate.FULL))

    assert said.code == 1
    assert "Traceback" not in said.err
    assert str(trial.base) in said.err
    assert "File too large" in said.err
    assert said.answer["problems"]
    finish(trial, carry_out)


@pytest.mark.parametrize("where", ["run", "to"])
def test_a_disk_that_is_full_from_the_start_is_refused(tmp_path: Path, where: str) -> None:
    trial = scripted_trial(tmp_path / "trial")

    said = fork(trial.doom(at=Instant(name=f"open {where}"), fate=Fate.FULL))

    assert said.code == 2
    assert said.err == f"stepmill: {trial.base / where}: cannot be written: File too large\n"
    assert said.out == ""
    assert list(trial.base.iterdir()) == []
    finish(trial, carry_out)


def test_on_a_full_disk_no_further_episode_is_begun(tmp_path: Path) -> None:
    trial = scripted_trial(tmp_path / "trial", episodes=24, unit_size=1)

    said = fork(trial.doom(at=Instant(name="open run/spool", number=3), fate=Fate.FULL))

    assert said.code == 1
    # What was in flight fails, and nothing after it.
    assert 1 <= int(str(said.answer["units_failed"])) <= 6
