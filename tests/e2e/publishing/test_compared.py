"""`stepmill diff` of what lies in a bucket or on the Hub: the same answer as of folders."""

import asyncio

import pytest
from hub.publishing import TO, TO_BUCKET, published_to
from hub.server import LocalHub
from support.runs.commands import called
from support.runs.memory_run import (
    RULE,
    STORAGE,
    MemorySnapshot,
    make_run_file,
    two_versions,
)
from support.stores.two_nights import make_night

from schemas.configuration.sections import PublishSection
from schemas.errors import NotFound
from storage.diff.diff import DiffReport, diff
from storage.diff.sides import Side, dataset_side
from storage.publish.destinations.hub.reading import BucketPlace, HubPlace
from storage.publish.publish import publish
from storage.reading.place import Place, open_dataset


def _publish(snapshot: MemorySnapshot, to: str) -> None:
    terms = PublishSection()
    asyncio.run(publish(snapshot, make_run_file(), RULE, to, terms=terms, storage=STORAGE))


def _side(place: Place) -> Side:
    async def open_it() -> Side:
        found = await open_dataset(place, None)
        return await asyncio.to_thread(dataset_side, found, address=place.address)

    return asyncio.run(open_it())


def _compare(one: Place, other: Place) -> DiffReport:
    return diff(_side(one), _side(other))


def test_datasets_in_a_bucket_are_compared(bucket_url: str) -> None:
    one, other = (f"{bucket_url}/{name}" for name in ("one", "other"))
    for snapshot, to in zip(two_versions(), (one, other), strict=True):
        _publish(snapshot, to)

    said = called("diff", one, other, "--json")
    lost = called("diff", f"{one}/nothing", other)

    assert said.code == 0, said.err
    assert said.answer["results"] == {"accepted → rejected": 2, "accepted → accepted": 1}
    assert lost.code == 2
    assert "expected a run (run.json) or a published dataset" in lost.err


def test_a_run_in_a_bucket_is_compared_with_its_dataset(bucket_url: str) -> None:
    run, data = f"{bucket_url}/run", f"{bucket_url}/data"
    asyncio.run(make_night(run, templates=["click-test"]))
    made = called("publish", run, "--to", data, "--no-prefect")
    assert made.code == 0, made.err

    said = called("diff", f"{run}@1", data, "--json")

    assert said.code == 0, said.err
    assert said.answer["same"] is True
    assert said.answer["steps"] == {"same": 4, "other": 0, "unknown": 0}


def test_tags_of_a_repository_are_its_versions(hub: LocalHub) -> None:
    for snapshot in two_versions():
        published_to(hub, snapshot)
    before, now = (HubPlace(f"{TO}{at}", endpoint=hub.url) for at in ("@v1", ""))

    found = _compare(before, now)

    assert (found.first.version, found.second.version) == (1, 2)
    assert found.results == {"accepted → rejected": 2, "accepted → accepted": 1}
    assert len(found.added) == 2


def test_a_tag_or_repository_that_is_not_there_is_refused(hub: LocalHub) -> None:
    with pytest.raises(NotFound, match="no such repository"):
        _side(HubPlace(TO, endpoint=hub.url))
    published_to(hub, two_versions()[0])
    with pytest.raises(NotFound, match="no such branch or tag"):
        _side(HubPlace(f"{TO}@v7", endpoint=hub.url))


def test_datasets_in_buckets_on_the_hub_are_compared(hub: LocalHub) -> None:
    places = [f"{TO_BUCKET}/{name}" for name in ("one", "other")]
    with pytest.raises(NotFound, match="no such bucket"):
        _side(BucketPlace(places[0], endpoint=hub.url))
    for snapshot, to in zip(two_versions(), places, strict=True):
        published_to(hub, snapshot, to=to)

    found = _compare(*(BucketPlace(to, endpoint=hub.url) for to in places))

    assert (found.first.version, found.second.version) == (1, 2)
    assert found.results == {"accepted → rejected": 2, "accepted → accepted": 1}
