"""The proof that a published folder is what its manifest says, to the byte."""

import asyncio
import hashlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from schemas.base import Record
from schemas.errors import Damaged, NotFound
from storage.publish.manifest import MANIFEST, PublishedFile, read_manifest


class Discrepancy(StrEnum):
    """How a published folder differs from its manifest."""

    MISSING = "missing"
    """The manifest lists it, and it is not there."""
    ALTERED = "altered"
    """It is there, and its bytes are not those listed."""
    FOREIGN = "foreign"
    """It is there, and the manifest does not list it."""


class PublishedFinding(Record):
    """One file that is not as the manifest says."""

    kind: Discrepancy
    """How it differs."""
    path: str
    """Which file, below the folder."""
    message: str
    """A sentence that says what and what to do."""


async def verify_published(folder: Path) -> list[PublishedFinding]:
    """Return every difference between a published folder and its manifest, by path.

    Raises:
        NotFound: no dataset was published there, or its publication did not end.
    """
    return await asyncio.to_thread(lambda: sorted(_findings(folder), key=lambda f: f.path))


def _findings(folder: Path) -> Iterator[PublishedFinding]:
    try:
        data = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(
            f"{folder}: no published dataset lies here ({MANIFEST} is missing)"
        ) from None
    try:
        manifest = read_manifest(data, str(folder / MANIFEST))
    except Damaged as error:
        yield PublishedFinding(kind=Discrepancy.ALTERED, path=MANIFEST, message=str(error))
        return
    listed = {file.path: file for file in manifest.files}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if _is_file(path)}
    for path in sorted(there - listed.keys() - {MANIFEST}):
        yield PublishedFinding(
            kind=Discrepancy.FOREIGN, path=path, message=f"{path}: is not in {MANIFEST}"
        )
    for path, file in listed.items():
        finding = _compare(folder, file) if path in there else _missing(path)
        if finding is not None:
            yield finding


def _is_file(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _missing(path: str) -> PublishedFinding:
    return PublishedFinding(
        kind=Discrepancy.MISSING, path=path, message=f"{path}: is gone; publish again to restore it"
    )


def _compare(folder: Path, file: PublishedFile) -> PublishedFinding | None:
    with (folder / file.path).open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found == file.sha256:
        return None
    return PublishedFinding(
        kind=Discrepancy.ALTERED,
        path=file.path,
        message=f"{file.path}: its SHA-256 is {found}, not {file.sha256}; "
        "delete it and publish again to restore it",
    )
