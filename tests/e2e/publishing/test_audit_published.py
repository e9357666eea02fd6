"""Published copies as an audit sees them: in a folder, in a bucket, on the Hub, and by the command."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CopyRun
from hub.faults import Fault
from hub.publishing import BUCKET, DATASET, TO, TO_BUCKET, place_on
from hub.server import LocalHub
from huggingface_hub import HfApi
from support.episodes.factories import RUN_ID, MadeRun
from support.runs.commands import Said, called
from support.runs.memory_run import RULE, STORAGE, make_run_file, small_run
from support.servers.s3_fault_proxy import Asked, Flaky, Spoil

from schemas.backoff import Backoff
from schemas.configuration.sections import PublishSection
from storage.audit import audit
from storage.audit.report import PublishedCopy
from storage.objects.local import LocalStore
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.publish.destinations.hub import errors
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.destinations.protocol import Destination
from storage.publish.destinations.store import FolderDestination, StoreDestination
from storage.publish.plan.manifest import MANIFEST, PublishedFile, read_manifest
from storage.publish.publish import PublishReport, publish_to
from storage.publish.verify import Discrepancy, VerificationReport, verify_published

_ALTERED, _FOREIGN, _MISSING = Discrepancy.ALTERED, Discrepancy.FOREIGN, Discrepancy.MISSING


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_BACKOFF", Backoff(first_seconds=0.01, max_seconds=0.01, tries=5))


@dataclass(frozen=True)
class Copy:
    """A place that a run is published to, and the hand of somebody else there."""

    at: Callable[[], Destination]
    put: Callable[[str, bytes], object]
    remove: Callable[[str], object]
    everything: Callable[[], Mapping[str, object]]

    def publish(self) -> PublishReport:
        return asyncio.run(
            publish_to(
                small_run(alike=True).seal(),
                make_run_file(),
                RULE,
                self.at(),
                terms=PublishSection(),
                shard_mb=STORAGE.shard_mb,
            )
        )

    def prove(self, *, deep: bool, run_id: str = RUN_ID) -> VerificationReport:
        return asyncio.run(verify_published(self.at(), run_id=run_id, deep=deep))

    def named(self, *, deep: bool) -> dict[str, tuple[Discrepancy, str]]:
        return {f.path: (f.kind, f.message) for f in self.prove(deep=deep).findings}

    def data(self, config: str) -> str:
        """Return the path of the only file of a config's training split."""
        [path] = [path for path in self.everything() if f"{config}/train-" in path]
        return path


def _in_store(at: Callable[[], Destination], store: ObjectStore) -> Copy:
    async def everything() -> dict[str, object]:
        return {item.key: (item.size, item.modified) async for item in store.list()}

    return Copy(
        at=at,
        put=lambda path, data: asyncio.run(store.put(path, data)),
        remove=lambda path: asyncio.run(store.delete([path])),
        everything=lambda: asyncio.run(everything()),
    )


def _in_hub_bucket(hub: LocalHub) -> Copy:
    api = HfApi(endpoint=hub.url)
    return Copy(
        at=lambda: place_on(hub.url, TO_BUCKET),
        put=lambda path, data: api.batch_bucket_files(BUCKET, add=[(data, f"demo/{path}")]),
        remove=lambda path: hub.bucket(BUCKET).files.pop(f"demo/{path}"),
        everything=lambda: {
            path.removeprefix("demo/"): xet for path, xet in hub.objects(BUCKET).items()
        },
    )


def _on_hub(hub: LocalHub) -> Copy:
    api = HfApi(endpoint=hub.url)
    return Copy(
        at=lambda: HubDestination(TO, PublishSection(), endpoint=hub.url),
        put=lambda path, data: api.upload_file(
            path_or_fileobj=data, path_in_repo=path, repo_id=DATASET, repo_type="dataset"
        ),
        remove=lambda path: hub.edit(DATASET, path, None),
        everything=lambda: hub.files(DATASET),
    )


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
        return _on_hub(request.getfixturevalue("hub"))
    if request.param == "hub bucket":
        return _in_hub_bucket(request.getfixturevalue("hub"))
    if request.param == "folder":
        to = tmp_path / "to"
        return _in_store(lambda: FolderDestination(to), LocalStore(to))
    url = f"{request.getfixturevalue('bucket_url')}/to"
    return _in_store(lambda: StoreDestination(open_store(url, STORAGE)), open_store(url, STORAGE))


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
    copy = _on_hub(hub)
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
    copy = _on_hub(hub)
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
    copy = _on_hub(hub)
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


@pytest.fixture
def known_hub(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> LocalHub:
    """A Hub that commands in this process know of: the client reads where it is when it is loaded."""
    monkeypatch.setattr(
        "storage.publish.destinations.hub.client.HfApi",
        lambda endpoint: HfApi(endpoint=endpoint or hub.url),
    )
    return hub


@pytest.fixture
def anywhere(known_hub: LocalHub, bucket_url: str, made: MadeRun, tmp_path: Path) -> list[str]:
    """Destinations of each kind, published to, that the run's configuration names."""
    del known_hub  # is known
    places = [str(tmp_path / "to"), f"{bucket_url}/to", TO, TO_BUCKET]
    config = made.folder / "run.json"
    told = json.loads(config.read_bytes())
    told["config"]["publish"]["to"] = places
    told["config"]["accept"]["passed"] = ["outcome"]
    config.write_text(json.dumps(told))
    for place in places:
        said = called("publish", made.url, f"--to={place}", "--no-prefect")
        assert said.code == 0, said.err
    return places


def _audited(made: MadeRun, *args: str) -> Said:
    return called("audit", made.url, "--json", *args)


def test_the_command_proves_every_copy_that_the_run_names(
    anywhere: list[str], hub: LocalHub, made: MadeRun, tmp_path: Path
) -> None:
    whole = _audited(made, "--deep")

    assert whole.code == 0, whole.out
    copies = [PublishedCopy.model_validate(copy) for copy in _list(whole, "published")]
    assert [(copy.destination, copy.version, copy.whole) for copy in copies] == [
        (place, 1, True) for place in anywhere
    ]
    assert (whole.answer["findings"], whole.answer["leftovers"]) == ([], [])

    path = next(path for path in hub.files(DATASET) if path.startswith("data/steps/"))
    hub.edit(DATASET, path, None)
    del hub.bucket(BUCKET).files[f"demo/{path}"]
    (tmp_path / "to" / path).unlink()
    asyncio.run(open_store(anywhere[1], STORAGE).put(path, b"PAR1"))
    harmed = _audited(made)

    assert harmed.code == 1
    assert [str(finding).partition("; ")[0] for finding in _list(harmed, "findings")] == [
        f"{anywhere[0]}/{path}: is missing",
        f"{anywhere[1]}/{path}: is 4 bytes, not {_size(tmp_path, path):,}",
        f"{anywhere[2]}/{path}: is missing",
        f"{anywhere[3]}/{path}: is missing",
    ]


def test_a_copy_that_cannot_be_proven_says_nothing_of_the_run(
    known_hub: LocalHub, made: MadeRun
) -> None:
    _on_hub(known_hub).publish()
    known_hub.faults.append(Fault("/api/datasets/", status=401, times=99))
    to = f"--set=publish.to=['{TO}']"

    said, shown = _audited(made, to), called("audit", made.url, to)

    assert (said.code, shown.code) == (1, 1)
    assert (said.answer["whole"], said.answer["copies_whole"]) == (True, False)
    assert said.answer["run_findings"] == []
    [copy] = [PublishedCopy.model_validate(copy) for copy in _list(said, "published")]
    assert "does not know the token" in str(copy.unproven)
    assert [*copy.findings] == _list(said, "findings")
    assert f"{made.url}: whole (" in shown.out
    assert f"{TO}: NOT PROVEN" in shown.out
    assert f"\ncopy not proven: {TO}: cannot be proven: " in f"\n{shown.out}"
    assert "\nnot whole: " not in f"\n{shown.out}"


def test_a_harmed_copy_and_a_harmed_run_are_told_apart(made: MadeRun, tmp_path: Path) -> None:
    copy = _in_store(lambda: FolderDestination(tmp_path / "to"), LocalStore(tmp_path / "to"))
    copy.publish()
    (tmp_path / "to" / copy.data("tasks")).unlink()
    to = f"--set=publish.to=['{tmp_path / 'to'}']"

    harmed_copy = called("audit", made.url, "--json", to)
    (made.folder / "foreign.txt").write_text("mine", encoding="utf-8")
    both, shown = called("audit", made.url, "--json", to), called("audit", made.url, to)

    assert (harmed_copy.code, both.code) == (1, 1)
    states = [(said.answer["whole"], said.answer["copies_whole"]) for said in (harmed_copy, both)]
    assert states == [(True, False), (False, False)]
    [own] = _list(both, "run_findings")
    assert str(own).startswith("foreign.txt: ")
    assert _list(both, "findings") == [own, *_list(harmed_copy, "findings")]
    assert f"{made.url}: NOT WHOLE (" in shown.out
    assert f"{tmp_path / 'to'}: NOT WHOLE" in shown.out
    assert f"not whole: {own}" in shown.out.splitlines()
    assert f"copy not whole: {_list(harmed_copy, 'findings')[0]}" in shown.out.splitlines()


def _list(said: Said, name: str) -> list[object]:
    found = said.answer[name]
    assert isinstance(found, list)
    return list(found)


def _size(tmp_path: Path, path: str) -> int:
    told = read_manifest((tmp_path / "to" / MANIFEST).read_bytes(), MANIFEST)
    return next(file.bytes for file in told.files if file.path == path)


def test_a_copy_that_is_not_there_yet_is_told_of_and_no_finding(
    made: MadeRun, tmp_path: Path
) -> None:
    to = tmp_path / "later"

    said = called("audit", made.url, f"--set=publish.to=['{to}']")

    assert said.code == 0
    assert f"{to}: no published version is to be seen there yet" in said.out
