"""Finds which new episodes repeat others, published or new, by their sketches alone.

The rule is that of one run (`schemas.verdicts.novelty`), with what is published before what is new and
each in the order of its ids; so the order of rows decides nothing. Episodes are joined by the hashes in
their sketches, one bucket of hashes at a time: at any time only the sketches of a bucket are in memory
twice. Of what is published only the courses are looked at that a new episode has too.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from schemas.errors import Damaged
from schemas.tables.published import Attempt
from schemas.tables.tables import record_schema
from schemas.verdicts.novelty import MAX_COMPARED
from schemas.verdicts.sketch import COURSE, FORM, SKETCH_BYTES, TRAJECTORY, are_near

_ATTEMPT = record_schema(Attempt)

COLUMNS = pa.schema([_ATTEMPT.field(name) for name in ("episode_id", "sketch")])
"""The columns of a table of sketches, as `attempts` has them; a row whose sketch is null is compared with no other."""

_BUCKET_ROWS = 1 << 14
"""Rows of a bucket, on average; more if there were too many buckets."""

_MAX_BUCKETS = 256


class Repeat(NamedTuple):
    """What a new episode repeats."""

    original: str
    """The first episode that it repeats: one that is published if there is one, and then by id."""
    is_near: bool
    """It is a near copy; False: a copy."""


class _Sketched(NamedTuple):
    """A row of a bucket."""

    key: int
    """The hash by which the bucket's rows are joined."""
    row: int
    """Its place in the joined table."""
    episode_id: str
    """The episode."""
    sketch: bytes
    """Its sketch."""


class _Sketches(NamedTuple):
    """All rows that are compared, those of what is published first."""

    table: pa.Table
    """Columns `row`, `episode_id` and `sketch`."""
    first_new: int
    """The place of the first new row."""


def repeats_of(published: pa.Table, new: pa.Table) -> dict[str, Repeat]:
    """Return what each episode of `new` repeats, by its id, in no certain order; of the others nothing.

    Both tables have the columns of `COLUMNS`, an episode once. An episode that is published already is
    not new, and no repeat of itself. A sketch of another form is as null.

    Raises:
        Damaged: a sketch has not the length that a sketch has.
            pyarrow.ArrowException, KeyError: a table has not these columns.
    """
    every = _join(published, new)
    courses, trajectories = (_keys(every.table, part) for part in (COURSE, TRAJECTORY))
    later = pc.greater_equal(every.table["row"], pa.scalar(every.first_new))
    is_new = cast("pa.ChunkedArray[Any]", later)
    active = _is_one_of(courses, courses.filter(is_new)) if every.first_new else is_new
    out: dict[str, Repeat] = {}
    copies = bytearray(every.table.num_rows)
    for group in _groups(every, trajectories, active):
        published_ids = {one.episode_id for one in group if one.row < every.first_new}
        for one in group[1:]:
            copies[one.row] = True
            if one.row >= every.first_new and one.episode_id not in published_ids:
                out[one.episode_id] = Repeat(group[0].episode_id, is_near=False)
    for group in _groups(every, courses, is_new):
        for one, original in _near([one for one in group if not copies[one.row]]):
            if one.row >= every.first_new:
                out[one.episode_id] = Repeat(original, is_near=True)
    return out


def _join(published: pa.Table, new: pa.Table) -> _Sketches:
    """Return all rows as one table, without copying a sketch."""
    parts = [part.select(COLUMNS.names).cast(COLUMNS) for part in (published, new)]
    table = pa.concat_tables(parts)
    own = _has_form(table["sketch"])
    torn = pc.and_(own, pc.not_equal(pc.binary_length(table["sketch"]), pa.scalar(SKETCH_BYTES)))
    for found in table.filter(torn).slice(length=1).to_pylist():
        raise Damaged(
            f"episode {found['episode_id']}: expected a sketch of {SKETCH_BYTES} bytes, "
            f"got {len(found['sketch'])}"
        )
    rows = pa.array(range(table.num_rows), pa.int64())
    return _Sketches(table.append_column("row", rows), first_new=published.num_rows)


def _has_form(sketches: "pa.ChunkedArray[Any]") -> "pa.ChunkedArray[Any]":
    """Return which sketches can be compared; null and those of another form cannot."""
    return _is_one_of(pc.binary_slice(sketches, 0, 1), pa.chunked_array([[bytes([FORM])]]))


def _keys(table: pa.Table, part: slice) -> "pa.ChunkedArray[Any]":
    """Return a hash of eight bytes in each sketch as a number; null where a sketch cannot be compared."""
    width, none = pa.binary(part.stop - part.start), pa.scalar(None, pa.binary())
    numbers = []
    for chunk in table["sketch"].chunks:  # each alone, because what is made on the way is larger
        sketches = pa.chunked_array([chunk])
        hashes = pc.binary_slice(sketches, part.start, part.stop)
        known = pc.if_else(_has_form(sketches), hashes, none)
        numbers += [one.cast(width).view(pa.int64()) for one in known.chunks]
    return pa.chunked_array(numbers, pa.int64())


def _is_one_of(
    values: "pa.ChunkedArray[Any]", wanted: "pa.ChunkedArray[Any]"
) -> "pa.ChunkedArray[Any]":
    """Return which values are among those wanted; null is among none."""
    known = pc.and_(pc.is_in(values, value_set=pc.unique(wanted)), pc.is_valid(values))
    return cast("pa.ChunkedArray[Any]", known)


def _groups(
    every: _Sketches, keys: "pa.ChunkedArray[Any]", wanted: "pa.ChunkedArray[Any]"
) -> Iterator[list[_Sketched]]:
    """Yield the rows that share the key of a wanted one, in the order in which the first is the original."""
    table = every.table.append_column("key", keys).append_column("is_wanted", wanted)
    buckets = min(1 << (table.num_rows // _BUCKET_ROWS).bit_length(), _MAX_BUCKETS)
    places = pc.bit_wise_and(keys, pa.scalar(buckets - 1)).cast(pa.uint8())
    for bucket in range(buckets):
        held = table.filter(pc.equal(places, pa.scalar(bucket, pa.uint8())))
        held = held.filter(_is_one_of(held["key"], held["key"].filter(held["is_wanted"])))
        columns = (held[name].to_pylist() for name in ("key", "row", "episode_id", "sketch"))
        rows = [_Sketched(*row) for row in zip(*columns, strict=True)]
        rows.sort(key=lambda one: (one.key, one.row >= every.first_new, one.episode_id))
        for _, found in groupby(rows, key=itemgetter(0)):
            group = list(found)
            if len(group) > 1:
                yield group


def _near(rows: Sequence[_Sketched]) -> Iterator[tuple[_Sketched, str]]:
    """Yield each of the rows of a course that is a near copy, and its original."""
    left = list(rows)
    for _ in range(MAX_COMPARED):
        if not left:
            return
        original, *others = left
        left = []
        for one in others:
            if are_near(original.sketch, one.sketch):
                yield one, original.episode_id
            else:
                left.append(one)
