"""A run, opened: its episodes, and the tables that a dataset of it has."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from os import environ
from pathlib import Path

import pyarrow as pa
from typing_extensions import override

from flows.job.config_loader import Sources
from flows.job.stored_run import StoredRun, open_stored_run
from flows.resources.authorities import trust_authorities
from schemas.configuration.config import RunConfig
from schemas.tasks.task import SPLITS
from schemas.verdicts.full_episode import FullEpisode
from stepmill.rows import Rows, refuse_unknown
from stepmill.waiting import wait_for
from storage.lake.row_batch import picture_columns
from storage.publish.plan.build import table_rows
from storage.publish.plan.config_columns import TABLE_CONFIGS, config_schema
from storage.publish.plan.episode_reader import EpisodeReader
from storage.publish.plan.plan import PublishPlan, plan_files
from storage.publish.plan.rows import Tables, open_tables, table_errors
from storage.publish.plan.selection import Selection, select

_ONE_FILE = 1 << 62
"""Bytes of a planned file: all rows of a config and a split are in one."""


class Run(Rows):
    """What a run holds, as a dataset with its rejected episodes has it, whether it was published or not.

    It stays as it was when it was opened, while the run goes on.
    """

    def __init__(self, stored: StoredRun, tables: Tables, selection: Selection) -> None:
        self._stored = stored
        self._tables = tables
        self._selection = selection

    @property
    def address(self) -> str:
        """The run's URL or path."""
        return self._stored.store.url

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._stored.run.run_id

    @property
    def version(self) -> int:
        """The version of its tables; where it was opened as it is, the last one that was sealed, 0 before the first."""
        return self._tables.version

    @property
    def config(self) -> RunConfig:
        """The configuration that it was made with, and what the environment sets over it."""
        return self._stored.config

    @property
    @override
    def configs(self) -> tuple[str, ...]:
        return TABLE_CONFIGS

    @override
    def table(
        self, config: str, *, split: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        refuse_unknown("table", config, self.configs)
        _check_split(split)
        full = config_schema(config)
        for name in columns or ():
            refuse_unknown("column", name, full.names)
        left_out = picture_columns(full) if columns is not None else ()
        schema = pa.schema(
            [one for one in full if one.name not in left_out or one.name in (columns or ())]
        )
        files = [one for one in self._plan.files if one.config == config]
        with table_errors(f"`{config}` of the run"):
            found = [
                table
                for file in files
                if split in (None, file.split)
                for table in table_rows(self._tables, file, schema)
            ]
        whole = pa.concat_tables([schema.empty_table(), *found])
        return whole if columns is None else whole.select([*columns])

    @override
    def episodes(
        self,
        *,
        split: str | None = None,
        accepted: bool | None = None,
        ids: Collection[str] | None = None,
    ) -> Iterator[FullEpisode]:
        _check_split(split)
        wanted = (
            one
            for one in self._selection.published
            if split in (None, one.acceptance.split)
            and accepted in (None, one.acceptance.accepted)
            and (ids is None or one.episode_id in ids)
        )
        with table_errors("the episodes of the run"):
            yield from EpisodeReader(self._tables).read(wanted)

    @cached_property
    def _plan(self) -> PublishPlan:
        with table_errors("the run"):
            return plan_files(
                self._tables, self._selection, run_id=self.run_id, shard_bytes=_ONE_FILE
            )


def open_run(url: str | Path, *, version: int | None = None) -> Run:
    """Open a run; nothing is written.

    Args:
        url: the run's folder, `file://…` or `s3://…`.
        version: one of its sealed versions; None: the run as it is now, ended or not.

    Raises:
        NotFound: there is no run, no such version, or no episode in it yet.
        BadConfig: the environment sets a value that is wrong.
        BadTasks: two versions of the registry disagree on the split of one of its templates.
        Damaged: it cannot be read.
    """
    return wait_for(_open(str(url), version))


async def _open(url: str, version: int | None) -> Run:
    trust_authorities(environ)
    stored = await open_stored_run(url, Sources(), environ)
    try:
        if version is None:
            snapshot, _ = await stored.lake.current()
        else:
            snapshot = await stored.lake.reviewed_snapshot(version)
        tables = await open_tables(snapshot)
    finally:
        await stored.lake.close()
    with table_errors("the run"):
        selection = select(tables, stored.config.accept, include_rejected=True)
    return Run(stored, tables, selection)


def _check_split(split: str | None) -> None:
    if split is not None:
        refuse_unknown("split", split, SPLITS)
