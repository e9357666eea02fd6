"""Whatever rows go in come out, each once, in their order, in files of the size asked for."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from storage.lake.parquet_writer import Shard, shards

SCHEMA = pa.schema(
    [
        pa.field("number", pa.int32(), nullable=False),
        pa.field("screenshot", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        pa.field("note", pa.string()),
        pa.field("tags", pa.list_(pa.string())),
    ]
)

SIZES = st.lists(st.integers(0, 3_000), max_size=60)


def table(sizes: list[int]) -> pa.Table:
    rows = [
        {
            "number": number,
            "screenshot": {"bytes": bytes([number % 256]) * size, "path": f"{number}.jpg"},
            "note": None if size % 3 == 0 else "n" * (size % 50),
            "tags": ["t"] * (size % 4),
        }
        for number, size in enumerate(sizes)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def read(made: list[Shard]) -> pa.Table:
    files = [pq.read_table(io.BytesIO(shard.data)) for shard in made]
    return pa.concat_tables([SCHEMA.empty_table(), *(file.cast(SCHEMA) for file in files)])


@given(sizes=SIZES, shard_bytes=st.integers(1, 20_000))
def test_no_row_is_lost_or_doubled(sizes: list[int], shard_bytes: int) -> None:
    rows = table(sizes)

    made = list(shards(SCHEMA, [rows], shard_bytes=shard_bytes))

    assert read(made).equals(rows)
    assert sum(shard.rows for shard in made) == len(sizes)
    assert all(shard.rows for shard in made)


@given(sizes=SIZES, shard_bytes=st.integers(500, 20_000), data=st.data())
def test_how_rows_arrive_changes_no_byte(
    sizes: list[int], shard_bytes: int, data: st.DataObject
) -> None:
    rows = table(sizes)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sizes)), max_size=8)))
    pieces = [
        rows.slice(start, stop - start)
        for start, stop in zip([0, *cuts], [*cuts, len(sizes)], strict=True)
    ]

    assert list(shards(SCHEMA, pieces, shard_bytes=shard_bytes)) == list(
        shards(SCHEMA, [rows], shard_bytes=shard_bytes)
    )


@given(sizes=SIZES, shard_bytes=st.integers(1, 20_000))
def test_no_shard_holds_more_than_it_may_beyond_one_row(sizes: list[int], shard_bytes: int) -> None:
    for shard in shards(SCHEMA, [table(sizes)], shard_bytes=shard_bytes):
        rows = pq.read_table(io.BytesIO(shard.data)).to_pylist()
        held = sum(len(row["screenshot"]["bytes"]) for row in rows)
        assert held <= shard_bytes or shard.rows == 1
