"""Steps with their pictures in Lance files, for readers that take single rows at random.

A Parquet file gives one picture by reading the row group that it lies in; a Lance file has the place of
every row (`bench/random_reads.py` compares the two). The module needs the extra `lance`:
`pip install 'stepmill[lance]'`.

The library can keep files in a folder with versions, named by chance and by the time. An export has plain files
instead, so the same run gives the same bytes; `docs/storing.md` says how to make the one of the other.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from typing_extensions import override

from schemas.base import JsonObject
from schemas.episodes.episode import Step
from schemas.tables.tables import Row, record_schema, to_row
from schemas.verdicts.step_label import StepLabel
from storage.export.protocol import Format, FormatCounts, FullEpisode, Piece, RowFile, TableRow
from storage.export.registry import FormatName
from storage.lake.parquet_writer import Shard
from storage.objects.durable_files import create_draft

try:
    from lance.file import LanceFileWriter
except ImportError as error:
    raise ImportError(
        "the format 'lance' needs the extra 'lance'; install it: pip install 'stepmill[lance]'"
    ) from error

_BATCH_ROWS = 64
"""Rows that are handed to the library at once: some megabytes of pictures."""

_COPY_BYTES = 1 << 20

_TEMPORARY = ".tmp-"
"""How names begin that an export which goes on removes first."""


_ATTEMPT = ("episode_id", "task_id", "template_id", "instruction")

SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in _ATTEMPT),
        pa.field("accepted", pa.bool_(), nullable=False),
        *record_schema(Step),
        *record_schema(StepLabel),
    ]
)
"""A few columns of the attempt, then those of the published `steps`."""


class LanceSteps(Format):
    """The `Format` of `lance`."""

    name = FormatName.LANCE

    @property
    @override
    def options(self) -> JsonObject:
        return {}

    @override
    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        episode = source.episode
        for step in episode.steps:
            row: Row = {
                "episode_id": episode.episode_id,
                "task_id": episode.task_id,
                "template_id": source.task.template_id,
                "instruction": source.task.instruction,
                "accepted": source.acceptance.accepted,
                **to_row(step),
                **to_row(source.columns(step.step)),
            }
            counts["rows"] += 1
            yield TableRow(row, SCHEMA, file=RowFile.LANCE)


class LanceWriter:
    """Writes rows to one Lance file, as `ParquetWriter` writes them to Parquet files."""

    def __init__(self, schema: pa.Schema, folder: Path) -> None:
        self._schema = schema
        self._folder = folder
        self._waiting: list[Row] = []
        self._rows = 0
        # The library has unfinished files of its own beside the one that it is told to write.
        self._place = TemporaryDirectory(prefix=_TEMPORARY, dir=folder)
        self._path = Path(self._place.name) / "rows.lance"
        self._writer = LanceFileWriter(str(self._path), schema)

    def write(self, rows: Sequence[Row]) -> list[Shard]:
        """Append rows; no file is full before the end."""
        self._waiting += rows
        if len(self._waiting) >= _BATCH_ROWS:
            self._flush()
        return []

    def close(self) -> Shard | None:
        """Return the file, copied into a draft, which hashes it."""
        self._flush()
        self._writer.close()
        draft = create_draft(self._folder)
        with self._place, self._path.open("rb") as written:
            while data := written.read(_COPY_BYTES):
                draft.write(data)
        return Shard(draft=draft, rows=self._rows)

    def discard(self) -> None:
        """Remove what was written."""
        self._place.cleanup()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_batch(pa.RecordBatch.from_pylist(self._waiting, self._schema))
        self._rows += len(self._waiting)
        self._waiting.clear()
