"""Nights on the Hub: a commit and a tag for each version, whoever comes at the same time, and whatever ends midway."""

import asyncio

import pytest
from hub.faults import Fault
from hub.publishing import DATASET, TO
from hub.server import TOKEN, LocalHub
from support.stores.collection_readers import Ids, read_versions
from support.stores.nights import (
    ATTEMPTS,
    TRAJECTORIES,
    add_at_once,
    add_to,
    night,
    run_id,
    take_out_of,
)

from schemas.backoff import Backoff
from schemas.configuration.sections import PublishSection
from schemas.errors import BadConfig, Conflict, Unfinished
from storage.publish.collection.tidy import tidy
from storage.publish.destinations.hub import errors
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.plan.manifest import Manifest, read_manifest
from storage.publish.publish import PublishReport
from storage.publish.verify import verify_published

UNKNOWN = "the Hub does not know the token"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_BACKOFF", Backoff(first_seconds=0.01, max_seconds=0.01, tries=7))


def _place(hub: LocalHub) -> HubDestination:
    return HubDestination(TO, PublishSection(append=True), endpoint=hub.url)


def _added(hub: LocalHub, number: int) -> PublishReport:
    return add_to(lambda: _place(hub), night(number, alike=True), number)


def _manifest(hub: LocalHub, revision: str = "main") -> Manifest:
    return read_manifest(hub.text(DATASET, "manifest.json", revision), revision)


def _assert_whole(hub: LocalHub, nights: int) -> None:
    """Check that a collection holds the first nights, each once, and nothing else."""
    there = _manifest(hub)
    assert sorted(one.run for one in there.nights) == [run_id(n) for n in range(1, nights + 1)]
    assert there.counts.attempts == nights * ATTEMPTS
    assert there.counts.trajectories == nights * TRAJECTORIES
    audit = asyncio.run(verify_published(_place(hub), deep=True))
    assert (audit.findings, audit.leftovers) == ((), ())


def _read(hub: LocalHub, home: str, *versions: str) -> list[Ids]:
    """Return the trajectories that `datasets` finds in versions."""
    environ = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": home}
    return read_versions("datasets", TO, "trajectories", versions, environ)


def test_every_version_of_a_collection_has_a_tag_and_is_read_by_it(
    hub: LocalHub, tmp_path: object
) -> None:
    _added(hub, 1)
    _added(hub, 2)
    [first] = _read(hub, f"{tmp_path}/first", "1")
    gone = first["train"][0]
    withdrawal = take_out_of(lambda: _place(hub), gone)
    again = _added(hub, 2)
    third = _added(hub, 3)
    published = hub.files(DATASET)

    tidied = asyncio.run(tidy(lambda: _place(hub)))

    assert (withdrawal.version, again.put, third.collection) == (3, 0, 4)
    tags = hub.repo(DATASET).tags
    assert list(tags) == ["v1", "v2", "v3", "v4", "v4.1"]
    assert tags["v4.1"] == hub.repo(DATASET).branches["main"]
    assert tidied.removed == len(published.keys() - hub.files(DATASET).keys()) > 0
    assert hub.files(DATASET, "v4") == published
    before, second, after, last, compacted = _read(
        hub, f"{tmp_path}/later", "1", "2", "3", "4", "4.1"
    )
    assert before == first
    for split, ids in second.items():
        assert ids[: len(first[split])] == first[split]
        assert after[split] == [id_ for id_ in ids if id_ != gone]
        assert last[split][: len(after[split])] == after[split]
    assert sum(map(len, last.values())) == 3 * TRAJECTORIES - 1
    assert compacted == last
    assert not any(path.startswith("versions/") for path in hub.files(DATASET))
    audit = asyncio.run(verify_published(_place(hub), deep=True))
    assert (audit.findings, audit.leftovers) == ((), ())


def test_a_tag_that_a_kill_left_out_is_made_before_the_next_version(hub: LocalHub) -> None:
    _added(hub, 1)
    _added(hub, 2)
    second = hub.repo(DATASET).tags.pop("v2")

    _added(hub, 3)

    assert list(hub.repo(DATASET).tags) == ["v1", "v2", "v3"]
    assert hub.repo(DATASET).tags["v2"] == second


def test_what_somebody_changed_by_hand_is_told_at_once(hub: LocalHub) -> None:
    _added(hub, 1)
    hub.edit(DATASET, "README.md", b"theirs")
    hub.requests.clear()

    with pytest.raises(Conflict, match=r"README\.md was changed since it was published"):
        _added(hub, 2)
    with pytest.raises(Conflict, match=r"README\.md was changed since it was published"):
        take_out_of(lambda: _place(hub), "f" * 32)

    assert hub.requests.total() < 25
    assert hub.text(DATASET, "README.md") == b"theirs"


@pytest.mark.parametrize("there", [pytest.param(0, marks=pytest.mark.full), 1])
def test_nights_that_come_at_once_all_get_in(hub: LocalHub, there: int) -> None:
    for number in range(1, there + 1):
        _added(hub, number)
    numbers = range(there + 1, there + 3)

    codes = add_at_once(TO, numbers, {"HF_TOKEN": TOKEN, "HF_ENDPOINT": hub.url})

    assert codes == [0, 0]
    _assert_whole(hub, there + 2)
    assert list(hub.repo(DATASET).tags) == [f"v{n}" for n in range(1, there + 3)]
    for version in range(1, there + 3):
        assert len(_manifest(hub, f"v{version}").nights) == version


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(
            Fault("/preupload/", status=401, spare=4), UNKNOWN, id="upload", marks=pytest.mark.full
        ),
        pytest.param(Fault("/commit/", status=401), UNKNOWN, id="commit"),
        pytest.param(
            Fault("/commit/", status=403), "not allow it .403.", id="rights", marks=pytest.mark.full
        ),
        pytest.param(Fault("/tag/", status=401), UNKNOWN, id="tag"),
    ],
)
def test_a_token_that_ends_midway_is_told_and_the_next_try_ends_it(
    hub: LocalHub, fault: Fault, words: str
) -> None:
    _added(hub, 1)
    before = hub.files(DATASET)
    hub.faults.append(fault)

    with pytest.raises((BadConfig, Unfinished), match=words) as told:
        _added(hub, 2)
    assert TOKEN not in str(told.value)
    assert hub.files(DATASET, "v1") == before
    report = _added(hub, 2)

    assert fault.times == 0
    assert (report.collection, report.night) == (2, 2)
    assert list(hub.repo(DATASET).tags) == ["v1", "v2"]
    _assert_whole(hub, 2)
