"""A published dataset, opened: that of one run, or a collection of many, in a folder, a bucket or on the Hub."""

import json
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from os import environ
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from typing_extensions import override

from flows.job.config_loader import Sources, load
from flows.resources.authorities import trust_authorities
from schemas.base import sha256_hex
from schemas.errors import Damaged, NotFound
from schemas.tasks.task import SPLITS
from schemas.verdicts.full_episode import FullEpisode
from stepmill.published_episodes import read_episodes
from stepmill.rows import Rows, refuse_unknown
from stepmill.waiting import wait_for
from storage.publish.destinations.protocol import Destination, version_path
from storage.publish.plan.config_columns import DATASET_CONFIGS, config_schema
from storage.publish.plan.manifest import MANIFEST, Manifest, PublishedFile, read_manifest
from storage.publish.publish import open_destination


class Dataset(Rows):
    """A published dataset, at the version that it had when it was opened."""

    def __init__(
        self, place: Destination, manifest: Manifest, files: Sequence[PublishedFile], version: int
    ) -> None:
        self._place = place
        self._files = files
        self.manifest = manifest
        """What it says of itself: its rule, its files, and in a collection its nights and what was withdrawn."""
        self.version = version
        """The version of the run, or that of the collection."""

    @property
    def address(self) -> str:
        """Its path or URL."""
        return self._place.address

    @property
    @override
    def configs(self) -> tuple[str, ...]:
        there = {file.config for file in self._files}
        return tuple(config for config in DATASET_CONFIGS if config in there)

    @override
    def table(
        self, config: str, *, split: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        refuse_unknown("table", config, self.configs)
        known, tables = dict[str, None](), list[pa.Table]()
        for file in self._open(config, self._splits(split)):
            known |= dict.fromkeys(file.schema_arrow.names)
            wanted = known if columns is None else columns
            tables.append(file.read([name for name in wanted if name in file.schema_arrow.names]))
        if not tables:
            tables.append(config_schema(config).empty_table())
        for name in columns or ():
            refuse_unknown("column", name, known or tables[0].column_names)
        whole = pa.concat_tables(tables, promote_options="default")
        return whole if columns is None else whole.select([*columns])

    @override
    def episodes(
        self,
        *,
        split: str | None = None,
        accepted: bool | None = None,
        ids: Collection[str] | None = None,
    ) -> Iterator[FullEpisode]:
        for one in self._splits(split):
            read = partial(self._open, splits=(one,))
            yield from read_episodes(read, accepted=accepted, ids=ids)

    def _splits(self, split: str | None) -> Sequence[str]:
        if split is None:
            return SPLITS
        refuse_unknown("split", split, SPLITS)
        return (split,)

    def _open(self, config: str, splits: Sequence[str]) -> Iterator[pq.ParquetFile]:
        """Yield the files of a config, in the order of their rows."""
        chosen = [
            (splits.index(file.split), file.night or 0, file.path, file.sha256)
            for file in self._files
            if file.config == config and file.split in splits
        ]
        for _, _, path, sha256 in sorted(chosen):
            data = wait_for(self._place.read(path))
            if sha256_hex(data) != sha256:
                raise Damaged(
                    f"{self.address}: {path} is not the file that was published; publish its run again "
                    "to restore it"
                )
            yield pq.ParquetFile(pa.BufferReader(data))


def open_dataset(place: str | Path, *, version: int | None = None) -> Dataset:
    """Open a published dataset or a collection; nothing is written, and a file is fetched when it is first read.

    Args:
        place: a folder, `s3://BUCKET/PREFIX` or `hf://datasets/ORG/NAME[@BRANCH]`.
        version: one of its versions; None: the last one. An earlier one may still have episodes that were withdrawn
            after it (see `Dataset.manifest`).

    Raises:
        NotFound: no dataset was published there, or it has no such version.
        BadConfig: nothing can be published to such a URL, it is the folder of a run, or a setting is wrong.
        Unwritable: it cannot be read, or access is denied.
        Damaged: it is not what was published.
    """
    return wait_for(_open(str(place), version))


async def _open(to: str, version: int | None) -> Dataset:
    trust_authorities(environ)
    config = load(Sources(), environ)
    terms = config.publish.model_copy(update={"private": False, "gated": None})
    place = open_destination(to, terms, config.storage)
    if version is not None and place.has_tags:
        place = open_destination(_url_of_tag(to, version), terms, config.storage)
    there = (await place.listing()).texts.get(MANIFEST)
    if there is None:
        raise NotFound(f"{place.address}: holds no published dataset: it has no {MANIFEST}")
    manifest = read_manifest(there, f"{place.address}/{MANIFEST}")
    if version is None or version == manifest.version:
        return Dataset(place, manifest, manifest.files, manifest.version)
    return Dataset(place, manifest, await _files_at(place, manifest, version), version)


def _url_of_tag(to: str, version: int) -> str:
    """Return the URL of the tag that a version has on the Hub."""
    name, _, branch = to.partition("@")
    return f"{name}@{f'{branch}-' if branch else ''}v{version}"


async def _files_at(place: Destination, manifest: Manifest, version: int) -> list[PublishedFile]:
    """Return the data files of an earlier version of a collection.

    Raises:
        NotFound: it has no such version, or not all of its files any more.
    """
    known = {file.path: file for file in (*manifest.files, *manifest.former)}
    listed = version_path(version)
    missing = f"{place.address}: has no version {version}; the last one is {manifest.version}"
    if listed not in known:
        raise NotFound(missing)
    told = json.loads(await place.read(listed))
    paths = [path for splits in told["configs"].values() for of in splits.values() for path in of]
    if not known.keys() >= {*paths}:
        raise NotFound(f"{missing}, and the files of {version} were compacted")
    return [known[path] for path in paths]
