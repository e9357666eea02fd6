"""Removes from a collection what its newest version has no more: files with withdrawn rows, and those of renewed nights.

Lists of older versions go with the files that they name. The newest version stays as it is.
"""

import json
from collections.abc import Callable

from schemas.base import Record
from schemas.errors import NotFound
from storage.publish.destinations.ownership import OwnedListing
from storage.publish.destinations.protocol import Destination, is_version
from storage.publish.plan.manifest import COLLECTION, MANIFEST, Manifest

HUB_KEEPS = (
    "tags and earlier commits on the Hub keep them until the repository's history is rewritten "
    "(`HfApi().super_squash_history`) and its tags are deleted"
)
"""What a removal from the Hub does not reach."""


class TidyReport(Record):
    """What was removed from a collection."""

    place: str
    """Its place."""
    version: int
    """Its version, which is as it was."""
    removed: int
    """Files that were removed."""
    bytes: int
    """Their size."""
    versions: tuple[int, ...]
    """The versions that can be read no more."""
    remains: tuple[str, ...]
    """What cannot be taken back, in sentences."""


async def tidy(open_place: Callable[[], Destination]) -> TidyReport:
    """Remove what the newest version of a collection has no more.

    Raises:
        NotFound: there is no collection.
        Unwritable: the place cannot be written, or a publication is running there.
        Conflict: a publication ended there meanwhile.
    """
    place = open_place()
    async with place.hold():
        existing = await place.owned_listing(COLLECTION)
        there = existing.manifest
        if there is None:
            raise NotFound(f"{place.address}: holds no collection")
        gone = sorted(file.path for file in there.former if file.path in existing.sizes)
        versions = await _unreadable(place, there, {*gone})
        kept = [file for file in there.files if file.path not in versions]
        manifest = there.model_copy(update={"files": tuple(kept), "former": ()})
        if manifest != there:
            await place.put(MANIFEST, manifest.to_bytes())
        await place.delete([*gone, *versions])
        await place.finish(there.version)
    return _report(place, there, existing, gone, versions)


async def _unreadable(place: Destination, there: Manifest, gone: set[str]) -> dict[str, int]:
    """Return the lists of versions that name a file that is removed, with the versions' numbers."""
    out: dict[str, int] = {}
    for file in there.files:
        if is_version(file.path):
            told = json.loads(await place.read(file.path))
            named = (path for splits in told["configs"].values() for path in splits.values())
            if any(gone & {*paths} for paths in named):
                out[file.path] = told["version"]
    return out


def _report(
    place: Destination,
    there: Manifest,
    existing: OwnedListing,
    gone: list[str],
    versions: dict[str, int],
) -> TidyReport:
    return TidyReport(
        place=place.address,
        version=there.version,
        removed=len(gone) + len(versions),
        bytes=sum(existing.sizes[path] for path in (*gone, *versions)),
        versions=tuple(sorted(versions.values())),
        remains=(HUB_KEEPS,) if place.has_tags and gone else (),
    )
