"""A published dataset, opened for reading: in a folder, a bucket or a repository on the Hub, at a version.

A dataset of one run holds one version of it. A collection keeps the list of each version's files, in `versions/`
or, on the Hub, under a tag. Nothing is written, and no lock is taken: data files are named by their
content, so a publication that ends meanwhile takes nothing away but files that the newest version has not.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyarrow import fs
from pydantic import ValidationError

from schemas.base import Record
from schemas.configuration.sections import StorageSection
from schemas.errors import Damaged, NotFound
from storage.lake.file_access import access_to
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.urls import open_store
from storage.publish.destinations.ownership import MARK
from storage.publish.destinations.protocol import version_path
from storage.publish.plan.manifest import (
    MANIFEST,
    Counts,
    Manifest,
    PublishedFile,
    read_manifest,
    row_counts,
    total,
)
from storage.reading.row_files import RowFiles, files_by_config


class Place(Protocol):
    """Where a dataset lies."""

    @property
    def address(self) -> str:
        """Its URL or path, for messages."""
        ...

    async def text(self, path: str) -> bytes | None:
        """Return the bytes of a small file; None without one."""
        ...

    async def sizes(self) -> Mapping[str, int]:
        """Return the size of every file in bytes, by path."""
        ...

    def filesystem(self, sizes: Mapping[str, int]) -> fs.FileSystem:
        """Return its files, for reading parts of them."""
        ...


class StorePlace(Place):
    """A folder or a bucket."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    @property
    def address(self) -> str:
        """The store's URL."""
        return self._store.url

    async def text(self, path: str) -> bytes | None:
        """Return the object's bytes."""
        try:
            return await self._store.get(path)
        except Missing:
            return None

    async def sizes(self) -> Mapping[str, int]:
        """Return the sizes of all objects."""
        return {item.key: item.size async for item in self._store.list()}

    def filesystem(self, sizes: Mapping[str, int]) -> fs.FileSystem:
        """Return the folder, or the objects below the bucket's prefix."""
        return access_to(self._store).filesystem(self._store.url, sizes)


class VersionList(Record):
    """The file of a version of a collection."""

    version: int
    """Its number."""
    configs: dict[str, dict[str, tuple[str, ...]]]
    """The paths of its files by config and split."""

    def paths(self) -> Iterator[str]:
        """Yield the paths of all its files."""
        for splits in self.configs.values():
            for paths in splits.values():
                yield from paths


@dataclass(frozen=True, slots=True)
class OpenDataset:
    """A dataset at a version."""

    address: str
    """Its URL or path."""
    manifest: Manifest
    """What it says of itself."""
    configs: Mapping[str, RowFiles]
    """Its files by config."""


def open_place(url: str, version: int | None, storage: StorageSection) -> Place:
    """Return the place of a dataset; `version` chooses a tag on the Hub. Nothing is asked yet.

    Raises:
        BadConfig: it is the URL of no such place.
    """
    if url.partition("://")[0].lower() == "hf":
        from storage.publish.destinations.hub import checks, reading  # noqa: PLC0415 - heavy

        if checks.is_bucket_url(url):
            return reading.BucketPlace(url)
        return reading.HubPlace(url if version is None else _url_of_tag(url, version))
    return StorePlace(open_store(url, storage))


def _url_of_tag(url: str, version: int) -> str:
    """Return the URL of the tag that a version has on the Hub."""
    name, _, branch = url.partition("@")
    return f"{name}@{branch}-v{version}" if branch else f"{name}@v{version}"


async def open_dataset(place: Place, version: int | None) -> OpenDataset:
    """Return the dataset at `place`, at a version of it.

    Raises:
        NotFound: there is none, none is finished, or it has no such version.
        Damaged: its manifest cannot be read, or a file that it lists is missing or of another size.
    """
    manifest = await _manifest(place, version)
    sizes = await place.sizes()
    for file in manifest.files:
        if file.config is not None and sizes.get(file.path) != file.bytes:
            found = sizes.get(file.path)
            state = "is not there" if found is None else f"is {found:,} bytes"
            raise Damaged(
                f"{place.address}: {file.path}, of {file.bytes:,} bytes by its manifest, {state}; "
                "a publication is under way or was killed: publish again and compare then"
            )
    configs = await asyncio.to_thread(files_by_config, manifest.files, place.filesystem(sizes))
    return OpenDataset(place.address, manifest, configs)


async def _manifest(place: Place, version: int | None) -> Manifest:
    data = await place.text(MANIFEST)
    if data is None:
        if await place.text(MARK) is not None:
            raise NotFound(
                f"{place.address}: a publication began here and has not ended; publish again, "
                "and compare then"
            )
        raise NotFound(
            f"{place.address}: expected a run (run.json) or a published dataset ({MANIFEST}), "
            "and there is neither"
        )
    manifest = read_manifest(data, f"{place.address}/{MANIFEST}")
    if version is None or manifest.version == version:
        return manifest
    path, listed = version_path(version), {file.path for file in manifest.files}
    data = await place.text(path) if path in listed else None  # an unlisted one never came to be
    if data is None:
        raise NotFound(
            f"{place.address}: has no version {version}: it holds version {manifest.version}"
            + ("" if manifest.nights else " alone; the run itself has all of its own, as RUN@N")
        )
    return _earlier(manifest, read_version_list(data, f"{place.address}/{path}"), place.address)


def _earlier(manifest: Manifest, listed: VersionList, address: str) -> Manifest:
    """Return the manifest of an earlier version of a collection, with the files that its list names."""
    known = {file.path: file for file in (*manifest.files, *manifest.former)}
    files = []
    for path in listed.paths():
        if path not in known:
            raise NotFound(
                f"{address}: version {listed.version} is not whole any more: {path} is gone, as after a "
                "withdrawal or a compaction; compare a later version"
            )
        files.append(known[path])
    return _at_version(manifest, listed.version, files)


def read_version_list(data: bytes, where: str) -> VersionList:
    """Return the list of a version in `data`, which was read from `where`.

    Raises:
        Damaged: it is no such list.
    """
    try:
        return VersionList.model_validate_json(data)
    except ValidationError:
        raise Damaged(f"{where}: is not the list of the files of a version") from None


def _at_version(manifest: Manifest, version: int, files: Sequence[PublishedFile]) -> Manifest:
    """Return the manifest of an earlier version of a collection, with its nights as they are told now."""
    nights = [night for night in manifest.nights if night.added <= version]
    tally = total(night.tally for night in nights)
    rows = row_counts(files)
    counts = {**tally.model_dump(), "episodes": tally.total}
    counts |= {name: rows.get(name, 0) for name in Counts.model_fields if name not in counts}
    changed = {"version": version, "files": tuple(files), "nights": tuple(nights), "former": ()}
    return manifest.model_copy(update={**changed, "counts": Counts(**counts)})
