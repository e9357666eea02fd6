"""The versions of a collection, each with the files that it has: `versions/000007.json`, or a tag on the Hub.

A bucket has no lock, so two publications may be about to state a version at the same time, of which one will fail. The
list of a version is therefore put only where none is: whoever finds that of another version which has not come to be
takes the next number. So no list of a version that exists is ever overwritten, and a number may be passed over.
"""

from collections.abc import Sequence

from schemas.base import JsonObject, canonical_json
from schemas.errors import Conflict
from schemas.tasks.task import SPLITS
from storage.publish.card.escape import python_string
from storage.publish.card.loading import DatasetName, default_config, loading_lines
from storage.publish.destinations.ownership import OwnedListing
from storage.publish.destinations.protocol import (
    ONE_WRITER,
    Destination,
    is_version,
    version_path,
)
from storage.publish.plan.config_columns import DATASET_CONFIGS
from storage.publish.plan.manifest import COLLECTION, MANIFEST, PublishedFile, rows_by_config


def version_bytes(version: int, files: Sequence[PublishedFile]) -> bytes:
    """Return the file of a version: by config and split the paths of its files, in the order of its rows."""
    configs: JsonObject = {}
    for config in DATASET_CONFIGS:
        splits: JsonObject = {}
        for split in SPLITS:
            if paths := [f.path for f in files if (f.config, f.split) == (config, split)]:
                splits[split] = [*paths]
        if splits:
            configs[config] = splits
    return canonical_json({"version": version, "configs": configs}).encode() + b"\n"


async def check_unchanged(place: Destination, existing: OwnedListing, owner: str) -> None:
    """Check that no publication ended since a place was listed.

    Raises:
        Conflict: one did.
    """
    now = await place.owned_listing(owner)
    if now.texts.get(MANIFEST) != existing.texts.get(MANIFEST):
        alone = f", and {ONE_WRITER}" if place.one_writer else ""
        raise Conflict(f"{place.address}: another publication ended here meanwhile{alone}")


async def end_version(place: Destination, existing: OwnedListing) -> None:
    """End the version that is there, of which a kill may have left the tag out."""
    if existing.manifest is not None and existing.manifest.nights:
        await place.finish(existing.manifest.version)


async def claim_version(
    place: Destination, existing: OwnedListing, files: Sequence[PublishedFile]
) -> int:
    """Return the number of the next version, whose list nobody else writes; `existing` is the version before.

    Raises:
        Conflict: another version has come to be meanwhile.
    """
    version = 1 + (existing.manifest.version if existing.manifest else 0)
    if not place.has_tags:
        while not await place.claim(version_path(version), version_bytes(version, files)):
            await check_unchanged(place, existing, COLLECTION)
            version += 1
    return version


def unlisted_versions(existing: OwnedListing, version: int) -> list[str]:
    """Return the lists of versions that never came to be, once `version` has."""
    listed = {file.path for file in existing.manifest.files} if existing.manifest else set[str]()
    listed.add(version_path(version))
    return sorted(path for path in existing.sizes if is_version(path) and path not in listed)


def loading_of(files: Sequence[PublishedFile], name: DatasetName, version: int) -> list[str]:
    """Return the lines of Python that load a version of a collection.

    A bucket has files of earlier versions beside those of this one, so there the list of the version is read.
    """
    if not name.by_file:
        return loading_lines(files, name)
    rows = rows_by_config(files)
    config = default_config(rows)
    split = next(split for split in SPLITS if split in rows[config])
    return [
        "import fsspec, json",
        "from datasets import load_dataset",
        f"place = {python_string(name.name)}",
        f'with fsspec.open(f"{{place}}/{version_path(version)}") as file:',
        f'    paths = json.load(file)["configs"]["{config}"]["{split}"]',
        'files = [f"{place}/{path}" for path in paths]',
        f'data = load_dataset("parquet", data_files={{"{split}": files}}, split="{split}")',
    ]
