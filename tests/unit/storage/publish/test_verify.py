"""The proof that a published copy is what its manifest says, in a folder."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.episodes.factories import RUN_ID
from support.runs.memory_run import (
    MemorySnapshot,
    contents,
    findings,
    published,
    small_run,
    two_versions,
    written_at,
)

from schemas.errors import BadConfig
from storage.publish.destinations.store import FolderDestination
from storage.publish.plan.manifest import MANIFEST
from storage.publish.verify import Discrepancy, Progress, VerificationReport, verify_published

_DEEP = pytest.mark.parametrize("deep", [False, True], ids=["shallow", "deep"])


def _proof(folder: Path, *, deep: bool, progress: Progress | None = None) -> VerificationReport:
    return asyncio.run(
        verify_published(FolderDestination(folder), run_id=RUN_ID, deep=deep, progress=progress)
    )


def _named(proof: VerificationReport) -> list[tuple[Discrepancy, str]]:
    return [(finding.kind, finding.path) for finding in proof.findings]


def _change(path: Path) -> None:
    """Change a byte and no size."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _with(told: bytes, **changes: object) -> bytes:
    return json.dumps(json.loads(told) | changes).encode()


def _with_count(told: bytes, /, **changes: int) -> bytes:
    return _with(told, counts=json.loads(told)["counts"] | changes)


def _counting_one(config: str) -> Callable[[bytes], bytes]:
    return lambda told: _with_count(told, **{config: 1})


def _with_hash(told: bytes) -> bytes:
    files = json.loads(told)["files"]
    data = next(file for file in files if file["config"] is not None)
    data["sha256"] = "0" * 64
    return _with(told, files=files)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a small run was published to."""
    to: Path = tmp_path_factory.mktemp("made") / "to"
    published(small_run().seal(), to)
    return to


@pytest.fixture
def to(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "to"))


@_DEEP
def test_a_published_folder_agrees_with_its_manifest(tmp_path: Path, deep: bool) -> None:  # noqa: FBT001
    report = published(small_run().seal(), tmp_path)
    before = written_at(tmp_path)

    proof = _proof(tmp_path, deep=deep)

    assert (proof.findings, proof.leftovers) == ((), ())
    assert (proof.destination, proof.version) == (str(tmp_path), 1)
    assert (proof.files, proof.bytes) == (report.files, report.bytes)
    assert written_at(tmp_path) == before


def test_what_is_missing_altered_or_foreign_is_named(to: Path) -> None:
    gone, changed, *_ = sorted(to.rglob("*.parquet"))
    gone.unlink()
    _change(changed)
    (to / "data/steps/more.parquet").write_bytes(b"")

    assert sorted(findings(to)) == sorted(
        [
            (Discrepancy.ALTERED, changed.relative_to(to).as_posix()),
            (Discrepancy.FOREIGN, "data/steps/more.parquet"),
            (Discrepancy.MISSING, gone.relative_to(to).as_posix()),
        ]
    )


def test_a_changed_byte_takes_a_deep_look_and_a_changed_size_does_not(to: Path) -> None:
    changed, torn, *_ = sorted(to.rglob("*.parquet"))
    _change(changed)
    torn.write_bytes(torn.read_bytes()[:-1])

    assert [path for _, path in _named(_proof(to, deep=False))] == [torn.relative_to(to).as_posix()]
    assert len(_named(_proof(to, deep=True))) == 2


def test_a_changed_card_is_seen_at_a_glance(to: Path) -> None:
    _change(to / "README.md")

    assert _named(_proof(to, deep=False)) == [(Discrepancy.ALTERED, "README.md")]


@pytest.mark.parametrize("harm", ["change", "tear", "remove"])
def test_what_a_finding_says_to_do_restores_the_copy(tmp_path: Path, harm: str) -> None:
    snapshot = small_run().seal()
    published(snapshot, tmp_path)
    whole = contents(tmp_path)
    for path in [*tmp_path.rglob("*.parquet"), tmp_path / "README.md"]:
        if harm == "remove":
            path.unlink()
        elif harm == "tear":
            path.write_bytes(b"PAR1")
        else:
            _change(path)

    for finding in _proof(tmp_path, deep=True).findings:
        assert "publish again to restore it" in finding.message
        (tmp_path / finding.path).unlink(missing_ok=True)
    published(snapshot, tmp_path)

    assert contents(tmp_path) == whole


@_DEEP
@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda told: told[:-9], "is not a manifest"),
        (lambda told: _with(told, kind="other"), "is not a manifest"),
        (lambda told: _with_count(told, steps=1), "counts 1 steps, and its files hold"),
        *(
            (_counting_one(config), f"counts 1 {config}, and its files hold")
            for config in ("attempts", "results", "verdicts")
        ),
        (_with_hash, "another hash than its name does"),
    ],
    ids=["torn", "foreign", "counts", "attempts", "results", "verdicts", "hash"],
)
def test_a_damaged_manifest_is_named(
    to: Path,
    harm: Callable[[bytes], bytes],
    says: str,
    deep: bool,  # noqa: FBT001
) -> None:
    place = to / MANIFEST
    place.write_bytes(harm(place.read_bytes()))

    told = [f for f in _proof(to, deep=deep).findings if f.path == MANIFEST]
    assert [finding.kind for finding in told] == [Discrepancy.ALTERED]
    assert says in told[0].message
    assert "empty the destination, and publish again" in told[0].message


def test_a_lost_manifest_is_named(to: Path) -> None:
    (to / MANIFEST).unlink()

    proof = _proof(to, deep=True)

    assert _named(proof) == [(Discrepancy.MISSING, MANIFEST)]
    assert proof.version is None


def test_the_copy_of_another_run_is_named(to: Path) -> None:

    proof = asyncio.run(verify_published(FolderDestination(to), run_id="f" * 32))

    assert _named(proof) == [(Discrepancy.FOREIGN, MANIFEST)]
    assert f"is of another run ({RUN_ID})" in proof.findings[0].message


@_DEEP
@pytest.mark.parametrize("there", [[], ["README.md", "notes/thesis.txt"]], ids=["empty", "other"])
def test_where_nothing_was_published_there_is_nothing_to_find(
    tmp_path: Path,
    there: list[str],
    deep: bool,  # noqa: FBT001
) -> None:
    for name in there:
        path = tmp_path / "to" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"precious")

    proof = _proof(tmp_path / "to", deep=deep)

    assert (proof.version, proof.files, proof.findings, proof.leftovers) == (None, 0, (), ())


def test_the_folder_of_a_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(b"{}")
    (tmp_path / "tables").mkdir()

    with pytest.raises(BadConfig, match="lies in the folder of a run"):
        _proof(tmp_path / "to", deep=False)


@_DEEP
def test_what_a_killed_first_publication_left_is_no_finding(to: Path, deep: bool) -> None:  # noqa: FBT001
    (to / MANIFEST).unlink()
    (to / ".publishing").write_text(RUN_ID)
    (to / "data/steps/.tmp-0123456789abcdef").write_bytes(b"half")

    proof = _proof(to, deep=deep)

    assert (proof.version, proof.findings) == (None, ())
    assert {*proof.leftovers} == contents(to).keys()


@_DEEP
def test_what_a_killed_update_left_is_no_finding(tmp_path: Path, deep: bool) -> None:  # noqa: FBT001
    before, after = two_versions()
    to, updated = tmp_path / "one/to", tmp_path / "two/to"
    published(before, to)
    published(after, updated)
    old, new = contents(to), contents(updated)
    written = {path for path in new if new[path] != old.get(path)} - {MANIFEST}
    for path in written:
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        (to / path).write_bytes(new[path])

    proof = _proof(to, deep=deep)

    assert (proof.version, proof.findings) == (1, ())
    assert {*proof.leftovers} == written
    assert "README.md" in written
    published(after, to)
    assert contents(to) == new
    assert _proof(to, deep=True).leftovers == ()


def test_what_only_bears_the_name_of_a_data_file_is_named(to: Path) -> None:
    name = f"data/steps/train-00007-000-{'0' * 16}.parquet"
    (to / name).write_bytes(b"not what its name speaks of")

    assert _named(_proof(to, deep=True)) == [(Discrepancy.FOREIGN, name)]


class _Moving(FolderDestination):
    """A folder to which somebody publishes once it was looked at."""

    def __init__(self, root: Path, snapshot: MemorySnapshot) -> None:
        super().__init__(root)
        self.root = root
        self.snapshot: MemorySnapshot | None = snapshot

    async def digest(self, path: str) -> str | None:
        snapshot, self.snapshot = self.snapshot, None
        if snapshot is not None:
            await asyncio.to_thread(published, snapshot, self.root)
        return await super().digest(path)


def test_a_publication_that_ends_meanwhile_is_no_finding(tmp_path: Path) -> None:
    before, after = two_versions()
    published(before, tmp_path)

    proof = asyncio.run(verify_published(_Moving(tmp_path, after), deep=True))

    assert (proof.version, proof.findings) == (2, ())


def test_progress_is_told_to_the_end(tmp_path: Path) -> None:
    report = published(small_run().seal(), tmp_path)
    told: list[tuple[int, int]] = []

    _proof(tmp_path, deep=True, progress=lambda done, total: told.append((done, total)))

    assert told == [(done, report.files) for done in range(report.files + 1)]
