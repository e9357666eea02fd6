"""The Parquet that everything is written as."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Features, Image  # type: ignore[import-untyped] # it has no types
from support.episodes.factories import make_prompt, make_task, make_unit
from support.runs.unit_rows import unit_rows

from schemas.base import sha256_hex
from schemas.tables.tables import TABLES, UNIT_TABLES, Row, arrow_schema, trajectory_schema
from storage.lake.delta_stats import statistics
from storage.lake.parquet_writer import ParquetWriter, Shard, footer, shards
from storage.lake.shard_upload import shard_name

BIG = 1 << 28


@pytest.fixture(scope="module")
def rows() -> dict[str, list[Row]]:
    tasks = [make_task(seed) for seed in range(6)]
    _, episodes = make_unit(tasks, attempts=2, n_steps=3, prompt=make_prompt())
    return unit_rows(tasks, episodes)


def write(table: str, rows: list[Row], *, shard_bytes: int = BIG) -> list[Shard]:
    return list(shards(arrow_schema(table), [rows], shard_bytes=shard_bytes))


def metadata(shard: Shard) -> pq.FileMetaData:
    return pq.read_metadata(io.BytesIO(shard.data))


@pytest.mark.parametrize("table", UNIT_TABLES)
def test_rows_are_read_back_as_they_were(table: str, rows: dict[str, list[Row]]) -> None:
    [shard] = write(table, rows[table])

    found = pq.read_table(io.BytesIO(shard.data))

    assert found.schema.equals(arrow_schema(table))
    assert found.equals(pa.Table.from_pylist(rows[table], schema=arrow_schema(table)))
    assert shard.rows == len(rows[table])


@pytest.mark.parametrize("table", UNIT_TABLES)
def test_the_bytes_depend_on_the_rows_and_not_on_the_calls(
    table: str, rows: dict[str, list[Row]]
) -> None:
    whole = pa.Table.from_pylist(rows[table], schema=arrow_schema(table))
    expected = write(table, rows[table])

    for length in (1, 5, 1_000):
        pieces = [whole.slice(start, length) for start in range(0, len(whole), length)]
        assert list(shards(arrow_schema(table), pieces, shard_bytes=BIG)) == expected


def test_no_rows_are_no_shard() -> None:
    assert write("steps", []) == []
    assert ParquetWriter(arrow_schema("steps"), shard_bytes=BIG).close() is None


def test_pictures_lie_raw_and_everything_else_is_compressed(rows: dict[str, list[Row]]) -> None:
    [shard] = write("steps", rows["steps"])
    group = metadata(shard).row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    picture = next(c for c in columns if c.path_in_schema == "screenshot.bytes")
    others = [c for c in columns if c is not picture]

    assert picture.compression == "UNCOMPRESSED"
    assert not picture.has_dictionary_page
    assert rows["steps"][0]["screenshot"]["bytes"] in shard.data
    assert {column.compression for column in others} == {"ZSTD"}


def test_scalar_columns_have_statistics_and_an_index(rows: dict[str, list[Row]]) -> None:
    for table in UNIT_TABLES:
        [shard] = write(table, rows[table])
        group = metadata(shard).row_group(0)
        for number in range(group.num_columns):
            column = group.column(number)
            assert column.is_stats_set == ("." not in column.path_in_schema)
            assert column.has_offset_index


def test_the_pictures_of_a_small_row_group_are_one_page(rows: dict[str, list[Row]]) -> None:
    """What stands between pictures is new to the Hub whenever a row before it went."""
    schema, size = arrow_schema("steps"), 100_000
    large = [
        row | {"screenshot": {"bytes": bytes(size), "path": "0.jpg"}} for row in rows["steps"][:40]
    ]

    def between(group_bytes: int | None) -> int:
        [shard] = shards(schema, [large], shard_bytes=BIG, group_bytes=group_bytes)
        group = metadata(shard).row_group(0)
        columns = [group.column(number) for number in range(group.num_columns)]
        picture = next(c for c in columns if c.path_in_schema == "screenshot.bytes")
        return int(picture.total_compressed_size) - len(large) * (4 + size)

    assert 0 < between(16 << 20) < 50
    assert between(None) > 2 * between(16 << 20)


def test_a_shard_is_closed_at_its_size(rows: dict[str, list[Row]]) -> None:
    size = 60_000
    made = write("steps", rows["steps"], shard_bytes=size)

    assert len(made) > 1
    assert sum(shard.rows for shard in made) == len(rows["steps"])
    for shard in made[:-1]:
        content = len(shard.data) - metadata(shard).serialized_size
        assert size / 2 < content < size + 3 * content / shard.rows


def test_a_row_larger_than_a_shard_is_a_shard(rows: dict[str, list[Row]]) -> None:
    made = write("steps", rows["steps"][:3], shard_bytes=10)

    assert [shard.rows for shard in made] == [1, 1, 1]


def test_a_row_group_is_cut_by_its_bytes(
    rows: dict[str, list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.lake.parquet_writer.ROW_GROUP_BYTES", 20_000)
    [shard] = write("steps", rows["steps"])
    groups = [metadata(shard).row_group(n) for n in range(metadata(shard).num_row_groups)]

    assert len(groups) > 2
    assert all(group.total_byte_size < 2 * 20_000 for group in groups)


def test_a_writer_holds_one_file_and_one_row_group() -> None:
    """A stream far larger than a shard comes out as it goes in."""
    schema = pa.schema([pa.field("text", pa.string())])
    writer = ParquetWriter(schema, shard_bytes=100_000)
    rows_out = most = 0
    for number in range(400):
        text = "".join(sha256_hex(f"{number}-{part}".encode()) for part in range(100))
        rows_out += sum(shard.rows for shard in writer.write(pa.table({"text": [text]})))
        most = max(most, number + 1 - rows_out)
    last = writer.close()

    assert last is not None
    assert rows_out + last.rows == 400
    assert most < 60


def test_a_column_that_is_missing_is_refused() -> None:
    writer = ParquetWriter(arrow_schema("prompts"), shard_bytes=BIG)

    with pytest.raises(ValueError, match="schema"):
        writer.write(pa.table({"text": ["a"]}))


@pytest.mark.parametrize("table", [*TABLES, "trajectories"])
def test_the_footer_says_what_the_datasets_library_would(table: str) -> None:
    schema = trajectory_schema() if table == "trajectories" else arrow_schema(table)
    told = json.loads(footer(schema)[b"huggingface"])["info"]["features"]

    expected = Features.from_arrow_schema(schema)
    if "screenshot" in expected:
        expected["screenshot"] = Image()
    assert Features.from_dict(told) == expected


def test_the_name_of_a_shard_is_that_of_its_bytes(rows: dict[str, list[Row]]) -> None:
    [shard] = write("tasks", rows["tasks"])

    assert shard_name("ab", 3, shard) == f"ab-3-{sha256_hex(shard.data)}.parquet"


def test_statistics_are_those_of_the_rows(rows: dict[str, list[Row]]) -> None:
    [shard] = write("steps", rows["steps"])
    told = json.loads(statistics(shard.data))

    assert told["numRecords"] == len(rows["steps"])
    for column in ("episode_id", "unit_id", "step"):
        values = [row[column] for row in rows["steps"]]
        assert told["minValues"][column] == min(values)
        assert told["maxValues"][column] == max(values)
        assert told["nullCount"][column] == 0


def test_statistics_cover_all_row_groups(
    rows: dict[str, list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    [one] = write("steps", rows["steps"])
    monkeypatch.setattr("storage.lake.parquet_writer.ROW_GROUP_BYTES", 5_000)
    [many] = write("steps", rows["steps"])

    assert metadata(many).num_row_groups > metadata(one).num_row_groups
    assert statistics(many.data) == statistics(one.data)


def test_what_is_not_known_of_a_column_is_not_told() -> None:
    columns: dict[str, pa.DataType] = {
        "unit_id": pa.string(),
        "step": pa.int32(),
        "seed": pa.int64(),
    }
    schema = pa.schema(columns)
    values = {"unit_id": ["é" * 3, "b"], "step": [None, None], "seed": [None, 7]}
    [shard] = shards(schema, [pa.table(values, schema=schema)], shard_bytes=BIG)

    assert json.loads(statistics(shard.data)) == {
        "numRecords": 2,
        "minValues": {"seed": 7},
        "maxValues": {"seed": 7},
        "nullCount": {"unit_id": 0, "step": 2, "seed": 1},
    }
