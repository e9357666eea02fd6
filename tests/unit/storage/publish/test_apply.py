"""Planned files as Parquet: which rows, in which order, and what stops a publication."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from support.episodes.factories import make_verdict
from support.runs.memory_run import (
    RULE,
    TRAIN,
    MemoryRun,
    MemorySnapshot,
    commit_unit,
    small_run,
    tables_of,
)

from schemas.errors import Damaged, Unwritable
from schemas.tables.tables import trajectory_schema
from storage.lake.parquet_writer import Shard
from storage.publish.plan import rows as rows_module
from storage.publish.plan.build import build
from storage.publish.plan.config_columns import config_schema
from storage.publish.plan.plan import PublishPlan, plan_files
from storage.publish.plan.row_index import RowIndex
from storage.publish.plan.rows import RowRequest, Tables, read_rows
from storage.publish.plan.selection import select

_BIG = 1 << 30


def _plan(tables: Tables) -> PublishPlan:
    chosen = select(tables, RULE, include_rejected=False)
    return plan_files(tables, chosen, run_id="0" * 32, shard_bytes=_BIG)


def _built(tables: Tables, config: str, split: str = "train") -> pa.Table:
    [planned] = [f for f in _plan(tables).files if (f.config, f.split) == (config, split)]
    [shard] = build(tables, planned, shard_bytes=_BIG)
    return pq.read_table(pa.BufferReader(shard.data))


def _with(snapshot: MemorySnapshot, table: str, parts: Sequence[pa.Table]) -> MemorySnapshot:
    return replace(snapshot, rows={**snapshot.rows, table: parts})


def test_steps_are_those_of_published_episodes_in_order() -> None:
    run = MemoryRun()
    first = commit_unit(run, 1, TRAIN, rejects=[1])
    second = commit_unit(run, 2, TRAIN)
    table = _built(tables_of(run.seal()), "steps")

    by_address = (
        sorted(first, key=lambda e: (e.task_id, e.attempt)),
        sorted(second, key=lambda e: (e.task_id, e.attempt)),
    )
    rejected = first[1].episode_id
    expected = [
        (episode.episode_id, step.step)
        for unit in by_address
        for episode in unit
        if episode.episode_id != rejected
        for step in episode.steps
    ]
    assert list(zip(table["episode_id"].to_pylist(), table["step"].to_pylist(), strict=True)) == (
        expected
    )


def test_pictures_are_the_very_bytes_recorded() -> None:
    run = MemoryRun()
    episodes = commit_unit(run, 1, TRAIN)
    table = _built(tables_of(run.seal()), "steps")

    recorded = {(e.episode_id, s.step): s.screenshot.bytes for e in episodes for s in e.steps}
    assert {
        (row["episode_id"], row["step"]): row["screenshot"]["bytes"] for row in table.to_pylist()
    } == recorded


def test_trajectories_are_episodes_with_what_the_rule_made_of_them() -> None:
    snapshot = small_run().seal()
    table = _built(tables_of(snapshot), "trajectories")

    assert table.schema.names == trajectory_schema().names
    assert set(table["accepted"].to_pylist()) == {True}
    assert set(table["assurance"].to_pylist()) == {"replayed"}
    assert set(table["replay"].to_pylist()) == {"reproduced"}
    assert set(table["split"].to_pylist()) == {"train"}


def test_steps_say_what_they_did_where_it_is_known() -> None:
    run = MemoryRun()
    known, unknown = commit_unit(run, 1, TRAIN, tasks=1, attempts=2)
    before = tables_of(run.seal())
    rows = [{"label": "mistake", "visible_change": False, "because": "x"}]
    verdict = make_verdict(known, verifier="steps")
    run.judge([verdict.model_copy(update={"evidence": {"steps": rows}})])
    after = tables_of(run.seal())
    table = _built(after, "steps").select(["episode_id", "step", "label", "visible_change"])
    labels = {tuple(row.values())[:2]: tuple(row.values())[2:] for row in table.to_pylist()}

    assert labels.pop((known.episode_id, 0)) == ("mistake", False)
    assert {unknown.episode_id, known.episode_id} == {id_ for id_, _ in labels}
    assert set(labels.values()) == {(None, None)}
    changed = {
        new.config
        for old, new in zip(_plan(before).files, _plan(after).files, strict=True)
        if old.recipe != new.recipe
    }
    assert changed == {"steps", "verdicts"}


@pytest.mark.parametrize(
    "rows", [None, "x", [1], [{"label": "splendid"}], [{"visible_change": 3}]], ids=str
)
def test_labels_that_cannot_be_read_are_none(rows: object) -> None:
    run = MemoryRun()
    [known] = commit_unit(run, 1, TRAIN, tasks=1, attempts=1)
    verdict = make_verdict(known, verifier="steps")
    run.judge([verdict.model_copy(update={"evidence": {"steps": rows}})])

    assert set(_built(tables_of(run.seal()), "steps")["label"].to_pylist()) == {None}


def test_a_prompt_that_several_units_committed_is_one_row() -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, model=True)
    commit_unit(run, 2, TRAIN, model=True)

    assert _built(tables_of(run.seal()), "prompts").num_rows == 1


def _turned(parts: Sequence[pa.Table]) -> list[pa.Table]:
    """Return all rows in one table, the last first."""
    table = pa.concat_tables(parts)
    return [table.take(list(range(table.num_rows))[::-1])]


@pytest.mark.parametrize("table", ["steps", "episodes", "observations", "tasks"])
def test_the_bytes_do_not_depend_on_how_the_tables_lie(table: str) -> None:
    snapshot = small_run().seal()
    other = _with(snapshot, table, _turned(snapshot.rows[table]))

    one, turned = tables_of(snapshot), tables_of(other)
    for planned in _plan(one).files:
        assert list(build(one, planned, shard_bytes=_BIG)) == list(
            build(turned, planned, shard_bytes=_BIG)
        )


def test_the_bytes_do_not_depend_on_the_size_of_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of(small_run().seal())
    files = _plan(tables).files
    whole: list[list[Shard]] = [list(build(tables, f, shard_bytes=_BIG)) for f in files]

    monkeypatch.setattr(rows_module, "PIECE_KEYS", 1)

    assert [list(build(tables, f, shard_bytes=_BIG)) for f in files] == whole


def test_pieces_shrink_when_rows_are_heavier_than_estimated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = MemoryRun()
    ids = [episode.episode_id for episode in commit_unit(run, 1, TRAIN, tasks=6)]
    whole = read_rows(
        tables_of(run.seal()),
        RowRequest("steps", "episode_id", ids, lambda _: 0),
        config_schema("steps"),
    )
    [table] = whole
    weight = table.nbytes // len(ids)
    monkeypatch.setattr(rows_module, "PIECE_BYTES", 2 * weight)
    wanted = RowRequest("steps", "episode_id", ids, weigh=lambda _: weight // 3)

    pieces = list(read_rows(tables_of(run.seal()), wanted, config_schema("steps")))

    first, *later = [pc.count_distinct(piece["episode_id"]).as_py() for piece in pieces]
    assert first == 6
    assert later
    assert max(later) <= 2
    assert pa.concat_tables(pieces).combine_chunks() == table.combine_chunks()


def test_rows_come_in_pieces_of_bounded_size() -> None:
    run = MemoryRun()
    episodes = commit_unit(run, 1, TRAIN, tasks=5, attempts=1)
    ids = [episode.episode_id for episode in episodes]
    wanted = RowRequest("steps", "episode_id", ids, weigh=lambda _: rows_module.PIECE_BYTES // 2)

    pieces = list(
        read_rows(tables_of(run.seal()), wanted, pa.schema([("episode_id", pa.string())]))
    )

    assert [pc.count_distinct(piece["episode_id"]).as_py() for piece in pieces] == [2, 2, 1]


def test_more_rows_than_estimated_are_more_files() -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, tasks=4)
    tables = tables_of(run.seal())
    [planned] = [f for f in _plan(tables).files if f.config == "steps"]

    parts = list(build(tables, planned, shard_bytes=20_000))

    assert len(parts) > 1
    assert sum(part.rows for part in parts) == 24


def test_a_column_that_older_tables_lack_is_null() -> None:
    snapshot = small_run().seal()
    older = _with(snapshot, "steps", [t.drop_columns(["note"]) for t in snapshot.rows["steps"]])

    assert _built(tables_of(older), "steps")["note"].null_count == 9


def _without_step(table: pa.Table) -> pa.Table:
    return table.filter(pc.field("step") != 1)


def _without_last_step(table: pa.Table) -> pa.Table:
    return table.filter(pc.field("step") != 2)


def _twice(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table, table])


def _other_picture(table: pa.Table) -> pa.Table:
    """Return the table with the second row's picture in the first row too."""
    place = table.schema.get_field_index("screenshot")
    moved = table["screenshot"].take([1, *range(1, table.num_rows)])
    return table.set_column(place, table.schema.field(place), moved)


@pytest.mark.parametrize(
    ("table", "harm", "message"),
    [
        ("steps", _without_step, "step 1 is missing, or exists twice"),
        ("steps", _without_last_step, "expected 3 steps, got 2"),
        ("steps", _twice, "step 1 is missing, or exists twice"),
        ("steps", _other_picture, "picture of step 0 is not the one recorded"),
        ("steps", lambda table: table.slice(0, 0), "table `steps` has no row with episode_id"),
    ],
    ids=["no step", "no last step", "twice", "picture", "no rows"],
)
def test_what_is_not_whole_is_not_published(
    table: str, harm: Callable[[pa.Table], pa.Table], message: str
) -> None:
    snapshot = small_run().seal()
    parts = snapshot.rows[table]
    harmed = _with(snapshot, table, [harm(parts[0]), *parts[1:]])

    with pytest.raises(Damaged, match=message):
        _built(tables_of(harmed), table)


def test_a_file_of_the_run_that_cannot_be_read_is_named_as_damage(tmp_path: Path) -> None:
    tables = tables_of(small_run().seal())
    plan = _plan(tables)
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(b"PAR1 and then nothing")
    harmed = Tables(1, {**tables.datasets, "steps": _files([torn], tables.datasets["steps"])})

    [planned, *_] = [f for f in plan.files if f.config == "steps"]
    with pytest.raises(Damaged, match=r"`steps` cannot be read: .*audit RUN --deep"):
        list(build(harmed, planned, shard_bytes=_BIG))


def _files(paths: Sequence[Path], like: ds.Dataset) -> ds.Dataset:
    return ds.dataset([str(path) for path in paths], schema=like.schema, format="parquet")


_REFUSED = """Generic S3 error: Error performing GET http://127.0.0.1:1/b/run/x.parquet in 1ms
 ↳ Server returned non-2xx status code: 403 Forbidden: <?xml version="1.0"?>
<Error><Code>AccessDenied</Code><Message>AKIAPLANTED may not</Message></Error>"""


def test_a_store_that_refuses_is_told_of_in_our_words() -> None:
    with pytest.raises(Unwritable) as told, rows_module.table_errors("version 1"):
        raise OSError(_REFUSED)

    said = str(told.value)
    assert said.startswith("version 1 cannot be read: the credentials do not allow it; see")
    assert "AKIAPLANTED" not in said
    assert "audit" not in said


def test_ids_are_found_in_the_row_groups_they_lie_in(tmp_path: Path) -> None:
    rows: Mapping[str, list[object]] = {
        "episode_id": [str(number // 3) for number in range(60)],
        "step": [number % 3 for number in range(60)],
    }
    table = pa.table(rows)
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, part in zip(paths, (table.slice(0, 30), table.slice(30)), strict=True):
        pq.write_table(part, path, row_group_size=10)

    found = RowIndex(_files(paths, ds.dataset(table)), "episode_id")

    assert "19" in found
    assert "20" not in found
    assert sorted(
        found.read(["3", "15"], ["episode_id", "step", "later"]).to_pylist(), key=str
    ) == [{"episode_id": episode, "step": step} for episode in ("15", "3") for step in range(3)]


class _Watched(io.BytesIO):
    """A file that keeps where it was read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.spans: list[tuple[int, int]] = []

    def read(self, size: int | None = -1, /) -> bytes:
        start = self.tell()
        data = super().read(size)
        self.spans.append((start, start + len(data)))
        return data


def test_columns_without_pictures_are_read_without_a_byte_of_a_picture() -> None:
    run = MemoryRun()
    for number in range(12):
        commit_unit(run, number, TRAIN, tasks=4, attempts=4)
    tables = tables_of(run.seal())
    [planned] = [f for f in _plan(tables).files if f.config == "steps"]
    [shard] = build(tables, planned, shard_bytes=_BIG)
    metadata = pq.read_metadata(pa.BufferReader(shard.data))
    place = [metadata.schema.column(n).path for n in range(metadata.num_columns)].index(
        "screenshot.bytes"
    )
    chunks = [metadata.row_group(n).column(place) for n in range(metadata.num_row_groups)]
    pictures = [(c.data_page_offset, c.data_page_offset + c.total_compressed_size) for c in chunks]

    watched = _Watched(shard.data)
    names = [name for name in config_schema("steps").names if name != "screenshot"]
    read = pq.read_table(watched, columns=names, pre_buffer=False)

    # the footer is read with whatever stands in the last 64 kB before it
    spans = [s for s in watched.spans if s[1] < len(shard.data)]
    assert read.num_rows == shard.rows
    assert spans
    assert not [(s, p) for s in spans for p in pictures if s[0] < p[1] and p[0] < s[1]]
