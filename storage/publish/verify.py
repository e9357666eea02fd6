"""The proof that a published copy is what its manifest says, wherever it lies.

It asks a destination what lies there, and changes nothing. The names and sizes of all files, the
hashes that the place tells for nothing and the texts are held against the manifest; a deep proof
reads every byte as well, part by part. What a publication that was killed left behind, or one that
goes on has not come to yet, is told apart and is no finding: the next publication clears it.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial

from schemas.base import Record
from schemas.errors import Damaged
from storage.publish.destinations.listing import Content
from storage.publish.destinations.ownership import MARK
from storage.publish.destinations.protocol import Destination, is_ours, named_hash
from storage.publish.plan.manifest import (
    MANIFEST,
    TEXTS,
    Manifest,
    PublishedFile,
    read_manifest,
    rows_by_config,
)

Progress = Callable[[int, int], None]
"""Told how many of how many files were looked at; first of none."""

_LOOKS = 5
"""How often the manifest may be replaced while it is proven."""

_RESTORE = "delete it and publish again to restore it"
_RESTORE_MANIFEST = (
    "restore it (on the Hub, revert the commit that changed it), or empty the place, and publish "
    "again"
)


class Discrepancy(StrEnum):
    """How a published copy differs from its manifest."""

    MISSING = "missing"
    """The manifest lists it, and it is not there."""
    ALTERED = "altered"
    """It is there, and is not what it was."""
    FOREIGN = "foreign"
    """It is there, and no publication put it there."""


class PublishedFinding(Record):
    """One file that is not as it should be."""

    kind: Discrepancy
    """How it differs."""
    path: str
    """Which file, below the copy's root."""
    message: str
    """What is wrong with it and what to do."""


class Proof(Record):
    """What is to be said of a published copy."""

    destination: str
    """Where it lies."""
    version: int | None
    """The run's version that it is; None: no publication has ended there, as far as can be seen."""
    files: int
    """Files that its manifest lists."""
    bytes: int
    """Their size, as it says."""
    findings: tuple[PublishedFinding, ...]
    """What is not as it should be, by path."""
    leftovers: tuple[str, ...]
    """Paths of what a publication that did not end left there."""


async def verify_published(
    destination: Destination,
    *,
    run_id: str | None = None,
    deep: bool = False,
    progress: Progress | None = None,
) -> Proof:
    """Prove the copy at `destination` whole, or name what is not.

    `run_id` is the run it must be of; None: of any. `deep` reads every byte.

    Raises:
        Refusal: the place cannot be looked at.
    """
    content = await destination.content()
    looks = 0
    while True:
        looks += 1
        proof = await _Proving(destination, content, deep=deep, progress=progress).prove(run_id)
        again = await destination.content() if proof.findings else content
        if looks == _LOOKS or again.texts.get(MANIFEST) == content.texts.get(MANIFEST):
            return proof
        content = again  # a publication ended meanwhile, and what was found is its doing


class _Proving:
    """One look at a copy."""

    def __init__(
        self, destination: Destination, content: Content, *, deep: bool, progress: Progress | None
    ) -> None:
        self._destination = destination
        self._content = content
        self._deep = deep
        self._progress = progress
        self._findings: list[PublishedFinding] = []
        self._leftovers = list(content.unfinished)

    async def prove(self, run_id: str | None) -> Proof:
        """Return the proof."""
        manifest = self._manifest()
        mark = self._content.texts.get(MARK, b"").decode(errors="replace")
        owner = manifest.run if manifest else mark
        if owner and run_id is not None and owner != run_id:
            self._find(
                Discrepancy.FOREIGN,
                MANIFEST if manifest else MARK,
                f"is of another run ({owner}); take the place out of publish.to, or empty it and "
                "publish again",
            )
        elif manifest is not None:
            await self._hold_against(manifest)
        files = manifest.files if manifest else ()
        return Proof(
            destination=self._destination.address,
            version=manifest.version if manifest else None,
            files=len(files),
            bytes=sum(file.bytes for file in files),
            findings=tuple(sorted(self._findings, key=lambda finding: finding.path)),
            leftovers=tuple(sorted(self._leftovers)),
        )

    def _manifest(self) -> Manifest | None:
        """Return the manifest; None if there is none that can be read."""
        text = self._content.texts.get(MANIFEST)
        if text is not None:
            try:
                return read_manifest(text, MANIFEST)
            except Damaged as error:
                why = str(error).removeprefix(f"{MANIFEST}: ")
                self._find(Discrepancy.ALTERED, MANIFEST, f"{why}; {_RESTORE_MANIFEST}")
                return None
        data = sorted(filter(named_hash, self._content.sizes))
        if MARK in self._content.sizes:
            self._leftovers += filter(is_ours, self._content.sizes)
        elif data:
            what = f"is gone, and {data[0]} is there; {_RESTORE_MANIFEST}"
            self._find(Discrepancy.MISSING, MANIFEST, what)
        return None

    async def _hold_against(self, manifest: Manifest) -> None:
        """Hold every file against what the manifest says, and the manifest against itself."""
        for problem in _contradictions(manifest):
            self._find(Discrepancy.ALTERED, MANIFEST, f"{problem}; {_RESTORE_MANIFEST}")
        others = sorted(self._content.sizes.keys() - {file.path for file in manifest.files})
        pending = [path for path in others if is_ours(path) and path != MANIFEST]
        replaced = bool(pending or self._content.unfinished)
        looks = {
            file.path: partial(self._compare, file, replaced=replaced) for file in manifest.files
        }
        looks |= {path: partial(self._weigh, path) for path in pending}
        self._tell(0, len(looks))
        for number, (path, look) in enumerate(looks.items(), start=1):
            try:
                await look()
            except Damaged as error:
                self._alter(path, f"cannot be read: {error}")
            self._tell(number, len(looks))
        for path in others:
            if not is_ours(path):
                self._find(
                    Discrepancy.FOREIGN,
                    path,
                    f"is not in {MANIFEST}; move it elsewhere, publications leave it alone",
                )

    async def _compare(self, file: PublishedFile, *, replaced: bool) -> None:
        """Hold one file against the manifest; `replaced`: a publication that did not end began."""
        size, sha256 = self._content.sizes.get(file.path), await self._digest(file.path)
        if size is None or (self._deep and sha256 is None):
            self._find(Discrepancy.MISSING, file.path, "is gone; publish again to restore it")
        elif size == file.bytes and sha256 in (None, file.sha256):
            pass
        elif replaced and file.path in TEXTS:
            self._leftovers.append(file.path)
        elif size != file.bytes:
            self._alter(file.path, f"is {size:,} bytes, not {file.bytes:,}")
        else:
            self._alter(file.path, f"its SHA-256 is {sha256}, not {file.sha256}")

    async def _weigh(self, path: str) -> None:
        """Tell what a publication that did not end left from what only bears such a name."""
        sha256, name = await self._digest(path), named_hash(path)
        if None in (sha256, name) or str(sha256).startswith(str(name)):
            self._leftovers.append(path)
        else:
            self._find(
                Discrepancy.FOREIGN,
                path,
                f"is not in {MANIFEST}, and its bytes are not those its name speaks of; delete it",
            )

    async def _digest(self, path: str) -> str | None:
        """Return a file's hash; None if it is gone, or may not be read for it."""
        if path in self._content.texts or not self._deep or path not in self._content.sizes:
            return self._content.digests.get(path)
        return await self._destination.digest(path)

    def _alter(self, path: str, what: str) -> None:
        self._find(Discrepancy.ALTERED, path, f"{what}; {_RESTORE}")

    def _find(self, kind: Discrepancy, path: str, message: str) -> None:
        self._findings.append(PublishedFinding(kind=kind, path=path, message=message))

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)


def _contradictions(manifest: Manifest) -> Iterator[str]:
    """Yield where a manifest contradicts itself: it was not we who wrote that."""
    for file in manifest.files:
        if (name := named_hash(file.path)) is not None and not file.sha256.startswith(name):
            yield f"gives {file.path} another hash than its name does"
    rows = rows_by_config(manifest.files)
    told = manifest.counts.model_dump()
    for config in ("trajectories", "steps", "tasks"):
        held = sum(rows.get(config, {}).values())
        if held != told[config]:
            yield f"counts {told[config]:,} {config}, and its files hold {held:,}"
