"""A published dataset, opened: that of one run, or a collection of many, in a folder, a bucket or on the Hub."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from os import environ
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from typing_extensions import override

from flows.job.config_loader import Sources, load
from flows.resources.authorities import trust_authorities
from schemas.errors import BadConfig
from schemas.tasks.task import SPLITS
from schemas.verdicts.full_episode import FullEpisode
from stepmill.rows import Rows, refuse_unknown
from stepmill.waiting import wait_for
from storage.publish.plan.config_columns import DATASET_CONFIGS, config_schema
from storage.publish.plan.manifest import Manifest
from storage.reading.place import OpenDataset, open_place
from storage.reading.place import open_dataset as open_published
from storage.reading.published_episodes import read_episodes
from storage.reading.row_files import read_errors
from storage.run_file import KEY


class Dataset(Rows):
    """A published dataset, at the version that it had when it was opened."""

    def __init__(self, opened: OpenDataset) -> None:
        self._opened = opened

    @property
    def address(self) -> str:
        """Its path or URL."""
        return self._opened.address

    @property
    def manifest(self) -> Manifest:
        """What it says of itself: its rule, its counts, and in a collection its nights and what was withdrawn."""
        return self._opened.manifest

    @property
    def version(self) -> int:
        """The version of the run, or that of the collection."""
        return self.manifest.version

    @property
    @override
    def configs(self) -> tuple[str, ...]:
        return tuple(config for config in DATASET_CONFIGS if config in self._opened.configs)

    @override
    def table(
        self, config: str, *, split: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        refuse_unknown("table", config, self.configs)
        files = [*self._files(config, _splits(split))]
        with read_errors(self.address):
            known = dict.fromkeys(name for one in files for name in one.physical_schema.names)
            for name in columns or ():
                refuse_unknown("column", name, known or config_schema(config).names)
            tables = [_read(one, known if columns is None else columns) for one in files]
        whole = pa.concat_tables(
            tables or [config_schema(config).empty_table()], promote_options="default"
        )
        return whole if columns is None else whole.select([*columns])

    @override
    def episodes(
        self,
        *,
        split: str | None = None,
        accepted: bool | None = None,
        ids: Collection[str] | None = None,
    ) -> Iterator[FullEpisode]:
        with read_errors(self.address):
            for one in _splits(split):
                read = partial(self._files, splits=(one,))
                yield from read_episodes(read, accepted=accepted, ids=ids)

    def _files(self, config: str, splits: Sequence[str]) -> Iterator[ds.ParquetFileFragment]:
        """Yield the files of a config, in the order of their rows; no byte of them is read yet."""
        files = [one.fragment for one in self._opened.configs.get(config, ())]
        fragments = {one.path: one for one in files if isinstance(one, ds.ParquetFileFragment)}
        chosen = [
            (splits.index(file.split), file.night or 0, file.path)
            for file in self.manifest.files
            if file.config == config and file.split in splits
        ]
        for _, _, path in sorted(chosen):
            yield fragments[path]


def open_dataset(place: str | Path, *, version: int | None = None) -> Dataset:
    """Open a published dataset or a collection; nothing is written, and of files only what is asked for is read.

    Args:
        place: a folder, `s3://BUCKET/PREFIX`, `hf://datasets/ORG/NAME[@BRANCH]` or
            `hf://buckets/OWNER/NAME[/PREFIX]`.
        version: one of its versions; None: the last one. An earlier one may still have episodes that were withdrawn
            after it (see `Dataset.manifest`).

    Raises:
        NotFound: no dataset was published there, or it has no such version.
        BadConfig: nothing can be published to such a URL, it is the folder of a run, or a setting is wrong.
        Unwritable: access is denied.
        Damaged: a file that it lists is missing or of another size, or its manifest cannot be read.
    """
    return wait_for(_open(str(place), version))


async def _open(url: str, version: int | None) -> Dataset:
    trust_authorities(environ)
    place = open_place(url, version, load(Sources(), environ).storage)
    if await place.text(KEY) is not None:
        raise BadConfig(f"{place.address}: is the folder of a run: `open_run` opens it")
    return Dataset(await open_published(place, version))


def _splits(split: str | None) -> Sequence[str]:
    """Return the splits that a caller asked for; None asks for all."""
    if split is None:
        return SPLITS
    refuse_unknown("split", split, SPLITS)
    return (split,)


def _read(file: ds.ParquetFileFragment, columns: Collection[str]) -> pa.Table:
    """Return those of `columns` that a file has; one of an earlier version may lack some."""
    there = file.physical_schema.names
    return file.to_table(columns=[name for name in columns if name in there])
