"""Workers that commit the same units at the same time, with other episodes in each."""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from factories import make_run
from handles import by_id, counts, whole
from racers import race

from storage.audit import audit

WORKERS = 3
UNITS = 5


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn")) as processes:
        yield processes


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    found: str = request.getfixturevalue("bucket_url") if request.param == "s3" else str(tmp_path)
    return found


@pytest.mark.parametrize(
    ("place", "salts"),
    [("local", (0, 0, 0)), ("local", (0, 1, 2)), ("s3", (0, 1, 2))],
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
