"""What is written is what is read: every record and action, through Arrow and Parquet and back."""

import io
import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import THOROUGH
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from pydantic import JsonValue, ValidationError
from support.inputs import strategies
from support.runs.unit_rows import unit_rows

from schemas.base import Record, canonical_json
from schemas.columns import OtherTable
from schemas.episodes.action import ACTION, Action, ActionColumns, action_columns, target_point
from schemas.episodes.call import Call, Prompt
from schemas.episodes.episode import Episode, Step, steps_sha256
from schemas.tables.tables import (
    EPISODE_TABLES,
    TABLES,
    UNIT_TABLES,
    Row,
    arrow_schema,
    episode_from_rows,
    from_row,
    json_columns,
    to_row,
)
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Finding, Status

OWNER: Row = {"episode_id": "e", "unit_id": "u"}


def examples(count: int) -> int:
    """Return how many records are tried: so many at the large size, and a quarter of them at the small one."""
    return count if THOROUGH else count // 4


FLAT = [table for table in TABLES if table != "observations"]
"""Tables whose rows are a record each."""


def _through_parquet(table: str, rows: Sequence[Row]) -> list[Row]:
    """Write rows as the table's Parquet and read them again."""
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=arrow_schema(table)), out)
    read = pq.read_table(io.BytesIO(out.getvalue()))
    assert read.schema.equals(arrow_schema(table))
    return read.to_pylist()


def _own_columns(made: Record) -> Record:
    """Return a record without what lies in other tables."""
    parts = {
        name: info.default
        for name, info in type(made).model_fields.items()
        if any(isinstance(marker, OtherTable) for marker in info.metadata)
    }
    return made.model_copy(update=parts)


@pytest.mark.parametrize("table", TABLES)
@given(data=st.data())
@settings(max_examples=examples(60))
def test_a_record_survives_json_and_its_table(table: str, data: DataObject) -> None:
    kind = TABLES[table]
    made = data.draw(strategies.records(kind))

    assert kind.model_validate_json(made.model_dump_json()) == made
    if table in FLAT:
        row = to_row(made)
        owner = OWNER if table in EPISODE_TABLES else {}
        (read,) = _through_parquet(table, [owner | row])
        assert from_row(kind, read) == _own_columns(made)
        _is_as_its_table_says(table, owner | row)


def _is_as_its_table_says(table: str, row: Row) -> None:
    """Assert that a row has its table's columns and no others, null only where it may be, and canonical JSON."""
    schema = arrow_schema(table)
    assert list(row) == schema.names
    missing = {name for name, value in row.items() if value is None}
    assert missing <= {field.name for field in schema if field.nullable}
    texts = [row[name] for name in json_columns(table) if row[name] is not None]
    assert [canonical_json(json.loads(text)) for text in texts] == texts


@given(action=strategies.actions)
@settings(max_examples=examples(200))
def test_an_action_survives_its_canonical_json(action: Action) -> None:
    text = canonical_json(action.model_dump(mode="json"))

    read = ACTION.validate_json(text)

    assert read == action
    assert canonical_json(read.model_dump(mode="json")) == text


@given(action=strategies.actions)
def test_an_actions_columns_say_what_the_action_says(action: Action) -> None:
    columns = action_columns(action)

    parts = set(ActionColumns.model_fields) & set(type(action).model_fields)
    assert {name: getattr(columns, name) for name in parts} == {
        name: getattr(action, name) for name in parts
    }
    has_point = columns.x is not None
    assert target_point(action) == ((columns.x, columns.y) if has_point else None)


def _numbered(made: Sequence[Any], name: str) -> tuple[Any, ...]:
    return tuple(item.model_copy(update={name: n}) for n, item in enumerate(made))


@st.composite
def episodes(draw: st.DrawFn) -> Episode:
    """Draw an episode as a rollout makes them: numbered steps and calls, a hash over its steps."""
    steps = _numbered(draw(st.lists(strategies.records(Step), max_size=3)), "step")
    prompts = draw(
        st.lists(strategies.records(Prompt), max_size=2, unique_by=lambda p: p.prompt_sha256)
    )
    made: Episode = draw(strategies.records(Episode)).model_copy(
        update={
            "steps": steps,
            "calls": _numbered(draw(st.lists(strategies.records(Call), max_size=2)), "call"),
            "prompts": tuple(sorted(prompts, key=lambda p: p.prompt_sha256)),
            "n_steps": max(len(steps) - 1, 0),
            "content_sha256": steps_sha256(steps),
        }
    )
    return made


@given(task=strategies.records(Task), episode=episodes(), seed=st.integers(0, 9))
@settings(max_examples=examples(40))
def test_a_whole_episode_survives_the_tables_of_its_unit_and_its_hash_needs_the_steps_alone(
    task: Task, episode: Episode, seed: int
) -> None:
    rows = {
        table: _through_parquet(table, made) for table, made in unit_rows([task], [episode]).items()
    }
    alone = tuple(from_row(Step, item) for item in rows["steps"])
    for made in rows.values():
        random.Random(seed).shuffle(made)

    read = episode_from_rows(
        rows["episodes"][0],
        rows["steps"],
        observations=rows["observations"],
        calls=rows["calls"],
        prompts=sorted(rows["prompts"], key=lambda item: str(item["prompt_sha256"])),
    )

    assert read == episode
    assert steps_sha256(read.steps) == steps_sha256(alone) == episode.content_sha256
    assert [from_row(Task, item) for item in rows["tasks"]] == [task]


@given(step=strategies.records(Step), other=strategies.records(Step))
@settings(max_examples=examples(20))
def test_the_content_hash_takes_every_column_into_account(step: Step, other: Step) -> None:
    for name in set(Step.model_fields) - {"screenshot", "elements", "sights"}:
        changed = step.model_copy(update={name: getattr(other, name)})
        same = changed.model_dump_json() == step.model_dump_json()

        assert (steps_sha256((changed,)) == steps_sha256((step,))) == same, name


@given(made=st.lists(episodes(), max_size=3, unique_by=lambda e: e.episode_id))
@settings(max_examples=examples(20))
def test_a_unit_commits_every_row_of_its_episodes_once_and_the_same_for_the_same(
    made: list[Episode],
) -> None:
    rows = unit_rows([], made)

    assert list(rows) == list(UNIT_TABLES)
    assert [item["episode_id"] for item in rows["episodes"]] == [e.episode_id for e in made]
    assert len(rows["steps"]) == len(rows["observations"]) == sum(len(e.steps) for e in made)
    assert len(rows["calls"]) == sum(len(e.calls) for e in made)
    prompts = [item["prompt_sha256"] for item in rows["prompts"]]
    assert prompts == sorted({p.prompt_sha256 for e in made for p in e.prompts})
    again = [Episode.model_validate_json(e.model_dump_json()) for e in made]
    assert unit_rows([], again) == rows


BROKEN: list[JsonValue] = ["\ud800", "a\udfff", float("nan"), float("inf"), -float("inf")]
"""Values that pages and models do send and no table or JSON text can hold."""


@pytest.mark.parametrize("value", BROKEN)
def test_json_in_a_record_is_json_a_table_can_hold(value: JsonValue) -> None:
    with pytest.raises(ValidationError):
        Finding(status=Status.PASSED, reason="", evidence={"a": [value]})


def test_text_in_a_record_is_unicode() -> None:
    with pytest.raises(ValidationError, match="unicode"):
        Finding(status=Status.PASSED, reason="half a pair: \ud800")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_in_a_record_is_finite(value: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        Finding(status=Status.PASSED, reason="", score=value)


@pytest.mark.parametrize("value", [2**31, -(2**31), 2**70])
def test_a_number_too_large_for_its_column_is_refused_by_the_record(value: int) -> None:
    with pytest.raises(ValidationError, match="int32"):
        Call(step=0, call=0, role="policy", prompt_tokens=value, at=datetime.now(UTC))


def test_a_time_is_kept_in_utc() -> None:
    noon_in_tokyo = datetime(2026, 1, 2, 12, tzinfo=timezone(timedelta(hours=9)))

    at = Call(step=0, call=0, role="policy", at=noon_in_tokyo).at

    assert (at, at.tzinfo, at.hour) == (noon_in_tokyo, UTC, 3)


@pytest.mark.parametrize(
    "at",
    [
        datetime(2026, 1, 2),  # noqa: DTZ001 - what is refused
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9))),
    ],
)
def test_a_time_that_cannot_be_put_in_utc_is_refused(at: datetime) -> None:
    with pytest.raises(ValidationError):
        Call(step=0, call=0, role="policy", at=at)
