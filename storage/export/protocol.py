"""The protocol of an export format: from one episode to its lines and files.

A format gets complete episodes, one after another, in the order of publication, and yields the lines
and files to write for each. It keeps no state between episodes, so the result depends on the episode
and the format's options alone. A format that compares attempts gets all those at one task at once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

import pyarrow as pa

from schemas.base import JsonObject
from schemas.tables.tables import Row
from schemas.verdicts.full_episode import FullEpisode
from storage.export.dataset_info import TrainerColumns
from storage.export.line_columns import LineColumns

__all__ = [
    "File",
    "Format",
    "FormatCounts",
    "FullEpisode",
    "GroupFormat",
    "Line",
    "Piece",
    "RowFile",
    "TableRow",
    "picture_path",
]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the JSONL file of the episode's split."""

    record: JsonObject
    """A JSON object, with its keys in the order in which they are written."""
    columns: LineColumns | None = None
    """The type of each column, the same for every line of a format; None if readers infer the types."""


@dataclass(frozen=True, slots=True)
class File:
    """A separate file."""

    path: str
    """Relative to the export's folder."""
    data: bytes
    """The file's content."""


class RowFile(StrEnum):
    """The kind of file that rows are written to, as its name ends."""

    PARQUET = "parquet"
    LANCE = "lance"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of the Parquet or Lance files of the episode's split."""

    row: Row
    """A value for each column."""
    schema: pa.Schema
    """The columns, the same for every row of a format."""
    trainer: TrainerColumns | None = None
    """Where LLaMA-Factory finds them, the same for every row; None if it has no loader for such rows."""
    file: RowFile = RowFile.PARQUET
    """The kind of file, the same for every row of a format."""


Piece = Line | File | TableRow
"""A part of the output for an episode."""

FormatCounts = Counter[str]
"""The counts of a format, by name."""


class Format(Protocol):
    """Turns episodes into what another program reads, one after another."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    @property
    def options(self) -> JsonObject:
        """All options that affect the output: equal options give equal bytes."""
        ...

    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        """Yield the lines and files of an episode, and count those written and left out."""
        ...


@runtime_checkable
class GroupFormat(Protocol):
    """Turns all exported attempts at one task into what another program reads."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    @property
    def options(self) -> JsonObject:
        """All options that affect the output: equal options give equal bytes."""
        ...

    def group_pieces(self, group: Sequence[FullEpisode], counts: FormatCounts) -> Iterator[Piece]:
        """Yield the lines and files of a group, and count those written and left out."""
        ...


def picture_path(episode_id: str, step: int) -> str:
    """Return the path of a step's picture, relative to the export's folder."""
    return f"images/{episode_id}/{step}.jpg"
