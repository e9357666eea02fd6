"""Rows of a version's tables, in the order that the caller gives, in pieces of bounded size.

Commits and compaction wrote the rows in an order of their own; a published file holds the rows of many
episodes in the order of publication. `read_rows` reads the row groups of a few episodes at a time (see
`row_index`) and sorts them, so only one piece and one row group are in memory, however large the table
or a unit is. `check_steps` and `check_pictures` stop the publication at a missing step, or at a picture
that is not the one recorded.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from schemas.errors import Damaged
from schemas.tables.tables import Row
from storage.objects.error_messages import read_error
from storage.publish.plan.row_index import RowIndex

PIECE_BYTES = 32 << 20
"""Rows are read and written in pieces of about this size."""

PIECE_KEYS = 256
"""The maximum number of ids in a piece; rows without pictures reach it first."""

_BATCH_ROWS = 4_096

VERDICT_ORDER = ("judged_at", "round", "verifier_version", "verifier")
"""The columns by which an episode's verdicts are sorted, whenever they are read; no two are equal."""

_SORT_COLUMNS = ("step", "call", *VERDICT_ORDER)


class SnapshotTables(Protocol):
    """A sealed version of a run's tables: the part of `LakeReader`'s snapshot that publication uses."""

    @property
    def version(self) -> int:
        """The version's number."""
        ...

    async def dataset(self, table: str) -> ds.Dataset | None:
        """Return the table at this version; None if it did not exist yet."""
        ...

    async def known_splits(self) -> Mapping[str, str]:
        """Return the split of each template that any version of the run was published with."""
        ...

    async def withdrawn(self) -> Collection[str]:
        """Return the run's episodes that were withdrawn."""
        ...

    async def add_splits(self, splits: Mapping[str, str]) -> None:
        """Record the splits of templates that have none yet."""
        ...


class Tables:
    """A sealed version's tables, opened."""

    def __init__(
        self,
        version: int,
        datasets: Mapping[str, ds.Dataset],
        known_splits: Mapping[str, str] | None = None,
        withdrawn: Collection[str] = (),
    ) -> None:
        self.version = version
        self.datasets = datasets
        self.known_splits = known_splits or {}
        self.withdrawn = frozenset(withdrawn)
        """The run's episodes that were withdrawn."""
        self._indexes: Mapping[str, RowIndex] = {}

    def row_index(self, table: str, key: str) -> RowIndex:
        """Return the index of the rows of `table` by the column `key`.

        Raises:
            Damaged: the table does not exist.
        """
        if table not in self.datasets:
            raise Damaged(f"version {self.version} of the run has no table `{table}`")
        return self.row_indexes({table: key})[table]

    def row_indexes(self, keys: Mapping[str, str]) -> Mapping[str, RowIndex]:
        """Return the index of each table of `keys` by its column, without tables that do not exist.

        Those of other tables are freed: files are built config by config.
        """
        self._indexes = {name: index for name, index in self._indexes.items() if name in keys}
        missing = [name for name in keys if name in self.datasets and name not in self._indexes]
        self._indexes |= {name: RowIndex(self.datasets[name], keys[name]) for name in missing}
        return self._indexes


@contextmanager
def table_errors(what: str) -> Iterator[None]:
    """Translate errors of reading the tables' files.

    Raises:
        Damaged: a file is torn or altered.
        Unwritable: the store denies access, or does not answer.
    """
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        translated = read_error(error, f"{what} cannot be read")
        if isinstance(translated, Damaged):
            translated = Damaged(f"{translated}; `stepmill audit RUN --deep` names the file")
        raise translated from None


async def open_tables(snapshot: SnapshotTables) -> Tables:
    """Open every table of `snapshot` that publication reads."""
    names = (
        "episodes",
        "tasks",
        "verdicts",
        "reviews",
        "steps",
        "observations",
        "calls",
        "prompts",
    )
    opened = {name: await snapshot.dataset(name) for name in names}
    return Tables(
        version=snapshot.version,
        datasets={name: dataset for name, dataset in opened.items() if dataset is not None},
        known_splits=await snapshot.known_splits(),
        withdrawn=await snapshot.withdrawn(),
    )


@dataclass(frozen=True, slots=True)
class RowRequest:
    """A request for rows of a table, in order."""

    table: str
    """The table."""
    key: str
    """The column that holds the ids."""
    ids: Sequence[str]
    """The ids, in the order of the result."""
    weigh: Callable[[int], int]
    """Estimates the bytes of the rows of an id, by its index in `ids`; 0 if unknown."""


def read_rows(tables: Tables, wanted: RowRequest, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of `wanted` with the columns of `schema`, those of an id together.

    Raises:
        Damaged: an id has no row.
    """
    index = tables.row_index(wanted.table, wanted.key)
    start, underestimate = 0, 1.0
    while start < len(wanted.ids):
        stop, weight = _stretch(wanted, start, limit=PIECE_BYTES / underestimate)
        ids = wanted.ids[start:stop]
        missing = next((item for item in ids if item not in index), None)
        if missing is not None:
            raise Damaged(f"table `{wanted.table}` has no row with {wanted.key} {missing}")
        piece = _read_piece(index, wanted.key, ids, schema)
        start, underestimate = stop, max(1.0, piece.nbytes / max(1, weight))
        yield piece


def _stretch(wanted: RowRequest, start: int, *, limit: float) -> tuple[int, int]:
    """Return the end of the ids that are read together from `start`, and their weight."""
    size = wanted.weigh(start)
    for place in range(start + 1, min(start + PIECE_KEYS, len(wanted.ids))):
        more = wanted.weigh(place)
        if size + more > limit:
            return place, size
        size += more
    return min(start + PIECE_KEYS, len(wanted.ids)), size


def _read_piece(index: RowIndex, key: str, ids: Sequence[str], schema: pa.Schema) -> pa.Table:
    """Return the rows of `ids` in their order with the columns of `schema`; lacking ones are null."""
    table = index.read(ids, schema.names)
    rank = pc.index_in(table[key], value_set=pa.array(ids, pa.string()))
    keys = [name for name in _SORT_COLUMNS if name in table.column_names]
    ranks = zip(rank.to_pylist(), *(table[name].to_pylist() for name in keys), strict=True)
    places = [place for _, place in sorted((ranked, at) for at, ranked in enumerate(ranks))]
    # Slices do not copy the pictures, and an episode's rows are adjacent, so there are few slices.
    slices = [table.slice(start, stop - start) for start, stop in _runs(places)]
    ordered = pa.concat_tables(slices) if slices else table
    columns = [
        ordered[field.name].cast(field.type)
        if field.name in ordered.column_names
        else pa.chunked_array([pa.nulls(ordered.num_rows, field.type)])
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of consecutive numbers in `places`."""
    start = 0
    for end in range(1, len(places) + 1):
        if end == len(places) or places[end] != places[end - 1] + 1:
            yield places[start], places[end - 1] + 1
            start = end


def row_dicts(table: pa.Table) -> Iterator[Row]:
    """Yield the rows of `table`, a batch of them in memory."""
    for batch in table.to_batches(max_chunksize=_BATCH_ROWS):
        yield from batch.to_pylist()


def drop_repeats(table: pa.Table, key: str, *, stated: str | None = None) -> pa.Table:
    """Return a row of each `key` of `table`, whose rows of one key are adjacent: the first one.

    With `stated`, the first one that has a text in that column, if there is one: of a task that several units of served
    episodes have, a unit whose episodes saw no page does not know the goal.
    """
    values = table[key].to_pylist()
    texts = values if stated is None else table[stated].to_pylist()
    kept: list[int] = []
    for place, value in enumerate(values):
        if not kept or value != values[kept[-1]]:
            kept.append(place)
        elif not texts[kept[-1]] and texts[place]:
            kept[-1] = place
    return table.take(pa.array(kept, pa.int64()))


def check_steps(table: pa.Table, expected: Mapping[str, int]) -> None:
    """Check that the steps of each episode are contiguous and as many as `expected`.

    Raises:
        Damaged: they are not; the error names the episode.
    """
    steps: Counter[str] = Counter()
    for row in table.select(["episode_id", "step"]).to_pylist():
        episode = row["episode_id"]
        if row["step"] != steps[episode]:
            raise Damaged(f"episode {episode}: step {steps[episode]} is missing, or exists twice")
        steps[episode] += 1
    for episode, count in steps.items():
        if count != expected.get(episode, count):
            raise Damaged(f"episode {episode}: expected {expected[episode]} steps, got {count}")


def check_pictures(table: pa.Table) -> None:
    """Check that every picture is the one recorded.

    Raises:
        Damaged: one is not; the error names its episode and step.
    """
    pictures = pc.struct_field(table["screenshot"], "bytes")
    recorded = table["screenshot_sha256"].to_pylist()
    for place, (picture, sha256) in enumerate(zip(pictures, recorded, strict=True)):
        if not picture.is_valid or hashlib.sha256(picture.as_buffer()).hexdigest() != sha256:
            row = table.slice(place, 1).select(["episode_id", "step"]).to_pylist()[0]
            raise Damaged(
                f"episode {row['episode_id']}: the picture of step {row['step']} "
                "is not the one recorded"
            )
