"""The verification of a published copy against its manifest, at any kind of destination.

It lists the files of a destination, and changes nothing. It compares the names and sizes of all files,
the hashes that the destination gives at no cost, and the texts with the manifest; a deep verification
also reads every byte, in parts. Files that a killed publication left behind, or that a running one has
not replaced yet, are reported separately and are not findings: the next publication removes them.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial

from schemas.base import Record
from schemas.errors import Damaged
from storage.publish.destinations.ownership import MARK, Listing
from storage.publish.destinations.protocol import Destination, hash_in_name, is_published_path
from storage.publish.plan.manifest import (
    MANIFEST,
    TEXTS,
    Manifest,
    PublishedFile,
    read_manifest,
    row_counts,
)

Progress = Callable[[int, int], None]
"""Called with the number of files verified and the number of all; first with none."""

_MAX_PASSES = 5
"""How often the manifest may be replaced during the verification."""

_RESTORE = "delete it and publish again to restore it"
_RESTORE_MANIFEST = (
    "restore it (on the Hub, revert the commit that changed it), or empty the destination, and publish "
    "again"
)


class Discrepancy(StrEnum):
    """How a published copy differs from its manifest."""

    MISSING = "missing"
    """The manifest lists it, and it does not exist."""
    ALTERED = "altered"
    """Its bytes are not those that were published."""
    FOREIGN = "foreign"
    """No publication wrote it."""


class PublishedFinding(Record):
    """One file that differs from the manifest."""

    kind: Discrepancy
    """How it differs."""
    path: str
    """The file, below the copy's root."""
    message: str
    """The difference, and what to do."""


class VerificationReport(Record):
    """The result of a verification."""

    destination: str
    """The destination's URL or path."""
    version: int | None
    """The published version of the run; None: no publication has ended there."""
    files: int
    """Files that its manifest lists."""
    bytes: int
    """Their size, by the manifest."""
    findings: tuple[PublishedFinding, ...]
    """The differences, by path."""
    leftovers: tuple[str, ...]
    """Paths of the files of a publication that has not ended."""


async def verify_published(
    destination: Destination,
    *,
    run_id: str | None = None,
    deep: bool = False,
    progress: Progress | None = None,
) -> VerificationReport:
    """Verify the copy at `destination`.

    `run_id` is the run it must be of; None: any. `deep` reads every byte.

    Raises:
        Refusal: the destination cannot be read.
    """
    content = await destination.listing()
    passes = 0
    while True:
        passes += 1
        report = await _Verification(destination, content, deep=deep, progress=progress).run(run_id)
        current = await destination.listing() if report.findings else content
        if passes == _MAX_PASSES or current.texts.get(MANIFEST) == content.texts.get(MANIFEST):
            return report
        content = current  # a publication ended meanwhile, which explains the findings


class _Verification:
    """One pass over a copy."""

    def __init__(
        self, destination: Destination, content: Listing, *, deep: bool, progress: Progress | None
    ) -> None:
        self._destination = destination
        self._content = content
        self._deep = deep
        self._progress = progress
        self._findings: list[PublishedFinding] = []
        self._leftovers = list(content.unfinished)

    async def run(self, run_id: str | None) -> VerificationReport:
        """Return the result."""
        manifest = self._manifest()
        mark = self._content.texts.get(MARK, b"").decode(errors="replace")
        owner = manifest.run if manifest else mark
        has_run = manifest is not None and run_id in {night.run for night in manifest.nights}
        if owner and run_id is not None and owner != run_id and not has_run:
            self._find(
                Discrepancy.FOREIGN,
                MANIFEST if manifest else MARK,
                f"is of another run ({owner}); remove it from publish.to, or empty it and "
                "publish again",
            )
        elif manifest is not None:
            await self._compare_all(manifest)
        files = manifest.files if manifest else ()
        return VerificationReport(
            destination=self._destination.address,
            version=manifest.version if manifest else None,
            files=len(files),
            bytes=sum(file.bytes for file in files),
            findings=tuple(sorted(self._findings, key=lambda finding: finding.path)),
            leftovers=tuple(sorted(self._leftovers)),
        )

    def _manifest(self) -> Manifest | None:
        """Return the manifest; None if it is missing or cannot be read."""
        text = self._content.texts.get(MANIFEST)
        if text is not None:
            try:
                return read_manifest(text, MANIFEST)
            except Damaged as error:
                why = str(error).removeprefix(f"{MANIFEST}: ")
                self._find(Discrepancy.ALTERED, MANIFEST, f"{why}; {_RESTORE_MANIFEST}")
                return None
        data = sorted(filter(hash_in_name, self._content.sizes))
        if MARK in self._content.sizes:
            self._leftovers += filter(is_published_path, self._content.sizes)
        elif data:
            what = f"is missing, but {data[0]} exists; {_RESTORE_MANIFEST}"
            self._find(Discrepancy.MISSING, MANIFEST, what)
        return None

    async def _compare_all(self, manifest: Manifest) -> None:
        """Compare every file with the manifest, and the manifest with itself."""
        for problem in _contradictions(manifest):
            self._find(Discrepancy.ALTERED, MANIFEST, f"{problem}; {_RESTORE_MANIFEST}")
        known = {file.path for file in (*manifest.files, *manifest.former)}
        others = sorted(self._content.sizes.keys() - known)
        pending = [path for path in others if is_published_path(path) and path != MANIFEST]
        replaced = bool(pending or self._content.unfinished)
        checks = {
            file.path: partial(self._compare, file, replaced=replaced) for file in manifest.files
        }
        checks |= {path: partial(self._classify, path) for path in pending}
        self._report(0, len(checks))
        for number, (path, check) in enumerate(checks.items(), start=1):
            try:
                await check()
            except Damaged as error:
                self._find_altered(path, f"cannot be read: {error}")
            self._report(number, len(checks))
        for path in others:
            if not is_published_path(path):
                self._find(
                    Discrepancy.FOREIGN,
                    path,
                    f"is not in {MANIFEST}; move it elsewhere, publications leave it alone",
                )

    async def _compare(self, file: PublishedFile, *, replaced: bool) -> None:
        """Compare one file with the manifest; `replaced`: a publication has begun and not ended."""
        size, sha256 = self._content.sizes.get(file.path), await self._digest(file.path)
        if size is None or (self._deep and sha256 is None):
            self._find(Discrepancy.MISSING, file.path, "is missing; publish again to restore it")
        elif size == file.bytes and sha256 in (None, file.sha256):
            pass
        elif replaced and file.path in TEXTS:
            self._leftovers.append(file.path)
        elif size != file.bytes:
            self._find_altered(file.path, f"is {size:,} bytes, not {file.bytes:,}")
        else:
            self._find_altered(file.path, f"its SHA-256 is {sha256}, not {file.sha256}")

    async def _classify(self, path: str) -> None:
        """Tell a file of an unfinished publication from a foreign file of such a name."""
        sha256, name = await self._digest(path), hash_in_name(path)
        if None in (sha256, name) or str(sha256).startswith(str(name)):
            self._leftovers.append(path)
        else:
            self._find(
                Discrepancy.FOREIGN,
                path,
                f"is not in {MANIFEST}, and its bytes do not match the hash in its name; delete it",
            )

    async def _digest(self, path: str) -> str | None:
        """Return a file's hash; None if it is missing, or only a deep verification may read it."""
        if path in self._content.texts or not self._deep or path not in self._content.sizes:
            return self._content.digests.get(path)
        return await self._destination.digest(path)

    def _find_altered(self, path: str, what: str) -> None:
        self._find(Discrepancy.ALTERED, path, f"{what}; {_RESTORE}")

    def _find(self, kind: Discrepancy, path: str, message: str) -> None:
        self._findings.append(PublishedFinding(kind=kind, path=path, message=message))

    def _report(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)


def _contradictions(manifest: Manifest) -> Iterator[str]:
    """Yield the contradictions within a manifest; one that a publication wrote has none."""
    for file in manifest.files:
        if (name := hash_in_name(file.path)) is not None and not file.sha256.startswith(name):
            yield f"gives {file.path} another hash than its name does"
    rows = row_counts(manifest.files)
    counts = manifest.counts.model_dump()
    for config in ("trajectories", "steps", "tasks", "attempts", "results", "verdicts"):
        rows_in_files = rows.get(config, 0)
        if counts[config] is not None and rows_in_files != counts[config]:
            yield f"counts {counts[config]:,} {config}, and its files hold {rows_in_files:,}"
