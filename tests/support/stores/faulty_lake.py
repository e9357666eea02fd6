"""A lake with something wrong on the way to it: cut short, an answer lost, a disk full.

And what a test asks of a lake's tables afterwards.
"""

from collections.abc import Sequence
from pathlib import Path

from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError
from support.episodes.factories import MadeRun, Unit, commit_whole_unit

from schemas.base import sha256_hex
from schemas.configuration.sections import StorageSection
from schemas.episodes.episode import Episode
from schemas.tables.tables import UNIT_TABLES
from schemas.verdicts.verdict import Verdict
from storage.lake.delta_stats import AddedFile
from storage.lake.delta_table import CommitEntry, DeltaHandle
from storage.lake.file_access import access_to, table_url
from storage.lake.lake import Lake
from storage.objects.urls import open_store


class Cut(Exception):
    """What stands for `kill -9`: nothing in the program expects it."""


async def commit(lake: Lake, unit: Unit) -> bool:
    return await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=unit.episodes)


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): sha256_hex(path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def count(run: MadeRun, table: str) -> int:
    access = access_to(open_store(run.url, StorageSection()))
    found = DeltaHandle(table, table_url(run.url, table), access).dataset()
    return 0 if found is None else found.count_rows()


def counts(run: MadeRun) -> dict[str, int]:
    return {table: count(run, table) for table in UNIT_TABLES}


def whole(*units: Unit) -> dict[str, int]:
    """Return how many rows each table has when every one of `units` is in it once."""
    episodes = [episode for unit in units for episode in unit.episodes]
    steps = sum(len(episode.steps) for episode in episodes)
    return {
        "tasks": sum(len(unit.tasks) for unit in units),
        "prompts": len(units),
        "observations": steps,
        "calls": sum(len(episode.calls) for episode in episodes),
        "steps": steps,
        "episodes": len(episodes),
    }


def swap(lake: Lake, table: str, kind: type[DeltaHandle]) -> None:
    """Give a table of `lake` a handle of another kind."""
    lake._tables[table]._handle = kind(table, lake._urls[table], lake._access)


class CutBefore(DeltaHandle):
    """Is killed before its table is committed."""

    def commit_once(self, entry: CommitEntry) -> int:  # noqa: ARG002
        raise Cut


class CutAfter(DeltaHandle):
    """Is killed when its table has been committed."""

    def commit_once(self, entry: CommitEntry) -> int:
        super().commit_once(entry)
        raise Cut


class AnswerLost(DeltaHandle):
    """Commits, and then says that it did not."""

    def write(
        self, table: DeltaTable, properties: CommitProperties, files: Sequence[AddedFile]
    ) -> None:
        super().write(table, properties, files)
        raise CommitFailedError("the connection was reset")


class NeverCommits(DeltaHandle):
    """Fails at the commit."""

    error: Exception = CommitFailedError("another writer was first")

    def write(
        self,
        table: DeltaTable,  # noqa: ARG002
        properties: CommitProperties,  # noqa: ARG002
        files: Sequence[AddedFile],  # noqa: ARG002
    ) -> None:
        raise self.error


class FullDisk(NeverCommits):
    error = OSError("No space left on device")


class Broken(NeverCommits):
    error = DeltaError("\x1b[31mthe log\x1b[0m is\nbroken\n   0: frame\n   1: frame")


def by_id(record: Episode | Verdict) -> str:
    """Sort by episode."""
    return record.episode_id
