"""What a large run costs a bucket: what is asked of it to audit a run, and to go on with one."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from effort import THOROUGH
from support.servers.s3_fault_proxy import Flaky
from support.servers.seaweedfs import Weed, credentials

from bench.synthetic.runs import make_config, make_run
from flows.job.plan import plan_units
from flows.job.resume_state import read_resume_state
from flows.resources.resources import RunResources
from schemas.configuration.sections import StorageSection
from storage.audit import audit
from storage.objects.s3 import Address
from storage.objects.urls import open_store
from storage.run_file import open_run

FEW, MANY = 4, 60 if THOROUGH else 12
"""Units; all that there is to list of either is on one page."""


@pytest.fixture
def proxy(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flaky]:
    """Counts what is asked, and spoils nothing."""
    with Flaky(weed.endpoint) as flaky:
        for name, value in credentials(flaky.endpoint).items():
            monkeypatch.setenv(name, value)
        yield flaky


async def laid_out(folder: Path, weed: Weed, units: int) -> str:
    """Return the URL of a finished run of so many units, in a bucket."""
    place = weed.place()
    await make_run(folder, units)
    _copy(folder, Address.parse(place), weed)
    return place


def _copy(folder: Path, to: Address, weed: Weed) -> None:
    client = weed.client()
    for path in folder.rglob("*"):
        if path.is_file():
            key = f"{to.prefix}{path.relative_to(folder)}"
            client.put_object(Bucket=to.bucket, Key=key, Body=path.read_bytes())


async def audited(place: str, units: int) -> None:
    report = await audit(open_store(place, StorageSection()), deep=False)

    assert report.findings == ()
    assert report.counts["units"] == units


async def planned(place: str, units: int) -> None:
    config, tasks = make_config(place, units)
    async with RunResources(config) as shop:
        run = await open_run(shop.store)
        plan = plan_units(config, tasks, run_id=run.run_id)
        found = await read_resume_state(shop.lake, shop.spool, shop.panel, plan)

    assert found.pending == ()
    assert len(found.judged) == units


@pytest.mark.parametrize("work", [audited, planned])
async def test_what_is_asked_does_not_grow_with_the_run(
    tmp_path: Path, weed: Weed, proxy: Flaky, work: Callable[[str, int], Awaitable[None]]
) -> None:
    asked: list[int] = []
    for units in (FEW, MANY):
        place = await laid_out(tmp_path / str(units), weed, units)
        proxy.met.clear()
        await work(place, units)
        asked.append(sum(proxy.met.values()))

    few, many = asked
    assert few <= many <= few + 2  # a page of a listing more, at most
