"""Compactors beside each other and beside workers, each in a process of its own."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from effort import THOROUGH
from support.episodes.factories import make_run, make_whole_run
from support.runs.concurrent_workers import compact_run, race
from support.runs.forks import FORKS
from support.stores.faulty_lake import counts, whole

from schemas.configuration.sections import StorageSection
from storage.audit import audit
from storage.maintenance.compact import compact

UNITS = 6 if THOROUGH else 3


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=FORKS) as processes:
        for warm in [processes.submit(compact_run, "", {}) for _ in "ab"]:
            warm.exception(timeout=120)
        yield processes


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    found: str = request.getfixturevalue("bucket_url") if request.param == "s3" else str(tmp_path)
    return found


def environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("AWS_")}


@pytest.mark.parametrize(
    "place", ["local", pytest.param("s3", marks=pytest.mark.full)], indirect=True
)
async def test_two_compactors_at_once_merge_every_shard_once(
    place: str, processes: ProcessPoolExecutor
) -> None:
    run = await make_whole_run(place, units=UNITS)

    both = [processes.submit(compact_run, place, environ()) for _ in "ab"]
    reports = [one.result(timeout=240) for one in both]

    assert counts(run) == whole(*run.units) | {"prompts": UNITS}
    merged = [told.merged for report in reports for told in report.tables.values()]
    assert sum(merged) >= 7 * UNITS  # whose answer was lost to a twin may count it as well
    report = await audit(run.store, deep=True)
    assert report.findings == ()


@pytest.mark.parametrize(
    "place", ["local", pytest.param("s3", marks=pytest.mark.full)], indirect=True
)
async def test_units_go_on_being_committed_while_a_compaction_runs(
    place: str, processes: ProcessPoolExecutor
) -> None:
    run = await make_run(place)

    worker = processes.submit(race, place, 0, UNITS, environ())
    reports = [processes.submit(compact_run, place, environ()).result(timeout=240)]
    while not worker.done():
        reports.append(processes.submit(compact_run, place, environ()).result(timeout=240))

    assert worker.result() == ["ours"] * UNITS
    await compact(place, run.store, StorageSection())
    assert counts(run) == whole(*(run.unit(number * 10) for number in range(UNITS)))
    report = await audit(run.store, deep=True)
    assert report.findings == ()
