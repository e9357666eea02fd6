"""Published copies as an audit sees them: in a folder, in a bucket, on the Hub, and by the command."""

import asyncio
from pathlib import Path

import pytest
from conftest import CopyRun
from hub.faults import Fault
from hub.publishing import DATASET, TO
from hub.server import LocalHub
from support.episodes.factories import RUN_ID, MadeRun
from support.runs.memory_run import STORAGE
from support.servers.s3_fault_proxy import Asked, Flaky, Spoil
from support.stores.copies import Copy, in_hub_bucket, in_store, on_hub

from schemas.backoff import Backoff
from schemas.configuration.sections import PublishSection
from storage.audit import audit
from storage.objects.local import LocalStore
from storage.objects.urls import open_store
from storage.publish.destinations.hub import errors
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.destinations.store import FolderDestination, StoreDestination
from storage.publish.plan.manifest import MANIFEST, PublishedFile, read_manifest
from storage.publish.verify import Discrepancy, verify_published

_ALTERED, _FOREIGN, _MISSING = Discrepancy.ALTERED, Discrepancy.FOREIGN, Discrepancy.MISSING


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_BACKOFF", Backoff(first_seconds=0.01, max_seconds=0.01, tries=5))


FULL = pytest.mark.full
KINDS = ["folder", *(pytest.param(one, marks=FULL) for one in ("bucket", "hub", "hub bucket"))]

everywhere = pytest.mark.parametrize(
    "copy", ["folder", "bucket", "hub", "hub bucket"], indirect=True
)
"""Marks what is asked of a copy in a bucket and on the Hub where there is little time, too."""


@pytest.fixture(params=KINDS)
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Copy:
    """A place of each kind, where nothing was published yet."""
    if request.param == "hub":
        return on_hub(request.getfixturevalue("hub"))
    if request.param == "hub bucket":
        return in_hub_bucket(request.getfixturevalue("hub"))
    if request.param == "folder":
        to = tmp_path / "to"
        return in_store(lambda: FolderDestination(to), LocalStore(to))
    url = f"{request.getfixturevalue('bucket_url')}/to"
    return in_store(lambda: StoreDestination(open_store(url, STORAGE)), open_store(url, STORAGE))


@pytest.fixture
def made(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    """A run in a folder."""
    return copy_run(tmp_path / "run")


@everywhere
def test_a_copy_is_whole_and_a_proof_writes_nothing(copy: Copy) -> None:
    assert copy.prove(deep=False).version is None
    report = copy.publish()
    before = copy.everything()

    for deep in (False, True):
        proof = copy.prove(deep=deep)
        assert (proof.findings, proof.leftovers) == ((), ())
        assert (proof.version, proof.files, proof.bytes) == (1, report.files, report.bytes)
    assert copy.everything() == before


@everywhere
def test_what_somebody_changed_is_named_with_what_to_do(copy: Copy) -> None:
    copy.publish()
    gone, torn, changed = (copy.data(config) for config in ("tasks", "trajectories", "steps"))
    size = next(file.bytes for file in _manifest(copy) if file.path == changed)
    copy.remove(gone)
    copy.put(torn, b"PAR1")
    copy.put(changed, bytes(size))
    copy.put("data/steps/mine.parquet", b"PAR1")
    copy.put("README.md", b"---\nlicense: mit\n---\n")

    shallow, deep = copy.named(deep=False), copy.named(deep=True)

    told = {
        gone: (_MISSING, "is missing; publish again to restore it"),
        torn: (_ALTERED, "is 4 bytes, not "),
        changed: (_ALTERED, "its SHA-256 is "),
        "data/steps/mine.parquet": (_FOREIGN, "is not in manifest.json; move it elsewhere"),
        "README.md": (_ALTERED, "bytes, not "),
    }
    assert deep.keys() == told.keys()
    for path, (kind, says) in told.items():
        assert (deep[path][0], says in deep[path][1]) == (kind, True), deep[path]
        if kind is _ALTERED:
            assert "delete it and publish again" in deep[path][1]
    # Only a repository tells a hash for nothing.
    blind = {changed} if not isinstance(copy.at(), HubDestination) else set()
    assert shallow.keys() == told.keys() - blind


def _manifest(copy: Copy) -> tuple[PublishedFile, ...]:
    text = asyncio.run(copy.at().listing()).texts[MANIFEST]
    return read_manifest(text, MANIFEST).files


def test_a_damaged_or_lost_manifest_is_named(copy: Copy) -> None:
    copy.publish()
    copy.put(MANIFEST, b'{"kind": "stepmill dataset"}')
    kind, message = copy.named(deep=True)[MANIFEST]
    assert (kind, "revert the commit that changed it" in message) == (_ALTERED, True)

    copy.remove(MANIFEST)

    assert copy.named(deep=False)[MANIFEST][0] is _MISSING


@everywhere
def test_what_a_killed_publication_left_is_no_finding(copy: Copy) -> None:
    copy.publish()
    copy.remove(MANIFEST)
    copy.put(".publishing", RUN_ID.encode())

    proof = copy.prove(deep=True)

    assert (proof.version, proof.findings) == (None, ())
    assert {*proof.leftovers} == copy.everything().keys()
    copy.publish()
    assert copy.prove(deep=True).leftovers == ()


def test_the_copy_of_another_run_is_named(copy: Copy) -> None:
    copy.publish()

    [finding] = copy.prove(deep=True, run_id="f" * 32).findings

    assert (finding.kind, finding.path) == (_FOREIGN, MANIFEST)


def test_a_line_that_is_cut_is_read_on_from_there(hub: LocalHub) -> None:
    copy = on_hub(hub)
    copy.publish()
    whole = copy.prove(deep=True)
    name = copy.data("steps").rpartition("/")[2]
    cuts = iter([Spoil.CUT, Spoil.CUT, Spoil.ERROR])
    asked: list[str | None] = []

    def mood(request: Asked) -> Spoil | None:
        if name not in request.path:
            return None
        asked.append(request.headers.get("Range"))
        return next(cuts, None)

    with Flaky(hub.url) as flaky:
        flaky.mood = mood
        there = HubDestination(TO, PublishSection(), endpoint=flaky.endpoint)
        proof = asyncio.run(verify_published(there, run_id=RUN_ID, deep=True))

    assert proof == whole
    assert len(asked) == 4
    assert asked[0] is None
    assert all(span is not None for span in asked[1:])


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault("/api/datasets/", status=401, times=99), "does not know the token"),
        (Fault("/tree/", status=403, times=99), "does not allow it"),
        (Fault("/resolve/", status=503, times=99), "is not well"),
    ],
    ids=["token", "right", "down"],
)
def test_a_copy_that_cannot_be_looked_at_is_a_finding(
    hub: LocalHub, made: MadeRun, fault: Fault, says: str
) -> None:
    copy = on_hub(hub)
    copy.publish()
    hub.faults.append(fault)

    report = asyncio.run(audit(made.store, deep=False, copies=[copy.at()]))

    [finding] = report.findings
    assert finding.startswith(f"{TO}: cannot be proven: ")
    assert says in finding
    assert not report.published[0].whole
    assert says in str(report.published[0].unproven)
    assert report.run_findings == ()


def test_a_private_copy_that_became_public_is_a_finding(hub: LocalHub, made: MadeRun) -> None:
    copy = on_hub(hub)
    copy.publish()
    hub.repo(DATASET).private = False

    report = asyncio.run(audit(made.store, deep=False, copies=[copy.at()]))

    [finding] = report.findings
    assert finding.startswith(f"{TO}: cannot be proven: is public, and publish.private is true")


def test_a_copy_in_a_folder_that_is_taken_is_a_finding(made: MadeRun) -> None:
    report = asyncio.run(
        audit(made.store, deep=False, copies=[FolderDestination(made.folder / "to")])
    )

    [finding] = report.findings
    assert "to: cannot be proven: lies in the folder of a run" in finding
