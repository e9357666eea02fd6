"""Two, three and four workers that commit the same units at once, with other episodes in each."""

import ast
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from effort import THOROUGH
from source_tree import PACKAGES, ROOT
from support.episodes.factories import make_run
from support.runs.concurrent_workers import first, race
from support.runs.forks import FORKS
from support.stores.faulty_lake import by_id, commit, counts, whole

from storage.audit import audit

WORKERS = 3
MOST = 4
ROUNDS_OF = [("local", 4), ("s3", 2)] if THOROUGH else [("local", 1)]
UNITS = 5 if THOROUGH else 3


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(MOST, mp_context=FORKS) as processes:
        yield processes


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    found: str = request.getfixturevalue("bucket_url") if request.param == "s3" else str(tmp_path)
    return found


@pytest.mark.parametrize(
    ("place", "salts"),
    [
        ("local", (0, 1, 2, 3)),
        *(
            [("local", salts) for salts in ((0, 0, 0), (0, 1))]
            + [("s3", salts) for salts in ((0, 1), (0, 1, 2, 3))]
            if THOROUGH
            else []
        ),
    ],
    indirect=["place"],
)
async def test_every_unit_is_in_once_and_of_one_worker(
    place: str, processes: ProcessPoolExecutor, salts: tuple[int, ...]
) -> None:
    run = await make_run(place)

    environ = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    racers = [processes.submit(race, place, salt, UNITS, environ) for salt in salts]
    said = [racer.result(timeout=120) for racer in racers]

    units = [run.unit(number * 10) for number in range(UNITS)]
    lake = run.lake()
    unfinished = {unit.unit_id for unit in units} - await lake.committed_units()
    # Who lost a unit's first table gives way, and who won it always ends: nobody was killed.
    assert unfinished == set()
    assert counts(run) == whole(*units)
    for number, unit in enumerate(units):
        found = await lake.episodes(unit.unit_id)
        begun = {episode.started_at for episode in found}
        winners = [
            salt
            for salt in set(salts)
            if sorted(run.unit(number * 10, salt=salt).episodes, key=by_id)
            == sorted(found, key=by_id)
        ]
        assert len(begun) == len(winners) == 1
        assert any(went[number] == "ours" for went in said)
    await lake.seal()
    await lake.close()
    report = await audit(run.store, deep=True)
    assert report.findings == ()


@pytest.mark.parametrize(("place", "rounds"), ROUNDS_OF, indirect=["place"])
async def test_three_workers_make_the_tables_at_the_same_moment(
    place: str, processes: ProcessPoolExecutor, rounds: int
) -> None:
    environ = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    for number in range(rounds):
        run = await make_run(f"{place}/{number}")
        at = time.time() + 0.5

        workers = [
            processes.submit(first, run.url, worker, at, environ) for worker in range(WORKERS)
        ]

        assert [worker.result(timeout=120) for worker in workers] == [["ours"]] * WORKERS
        assert counts(run) == whole(*(run.unit(worker * 10) for worker in range(WORKERS)))
        report = await audit(run.store, deep=True)
        assert report.findings == ()


async def test_a_worker_that_is_no_fork_of_its_parent_writes_after_it_has(
    tmp_path: Path, processes: ProcessPoolExecutor
) -> None:
    """A fork would die inside Delta's client."""
    run = await make_run(tmp_path)
    lake = run.lake()
    await commit(lake, run.unit(0))

    went = processes.submit(race, run.url, 0, 2, {}).result(timeout=120)

    assert went == ["theirs", "ours"]
    assert await commit(lake, run.unit(20))
    assert counts(run) == whole(run.unit(0), run.unit(10), run.unit(20))
    await lake.close()


FORKING = re.compile(r"\bmultiprocessing\b|\bos\.fork|\bProcessPoolExecutor\b")
WORDS = re.compile(r"multiprocessing|fork|ProcessPoolExecutor")
"""What is in the text of every module in which there is one of those."""


ALONE = "generators/browser/process/enclosed_start.py"
"""A program of its own, which loads nothing of Delta's before it forks."""


def test_the_program_forks_no_process() -> None:
    found = [
        f"{path}: {said}"
        for package in PACKAGES
        for module in (ROOT / package).rglob("*.py")
        for path, text in [
            (module.relative_to(ROOT).as_posix(), module.read_text(encoding="utf-8"))
        ]
        if path != ALONE and WORDS.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute)
        for said in [ast.unparse(node)]
        if FORKING.search(said)
    ]
    assert found == []
