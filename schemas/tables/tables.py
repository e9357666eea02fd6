"""The tables: Arrow schemas derived from the records, and records turned into rows and back.

A record's annotations are the one source of its columns: the Python type gives the Arrow type, `T |
None` makes it nullable, and a marker of `schemas.columns` adds the rest. Rows of `steps`, `calls` and
`observations` carry their episode's and unit's id before the record's own columns. Anything with
structure of its own is one canonical JSON string.
"""

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import pyarrow as pa
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from schemas.base import Record, canonical_json, parse_json
from schemas.columns import AsJson, OtherTable, Spread, Width
from schemas.episodes.action import ActionColumns, action_columns
from schemas.episodes.call import Call, Prompt
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Element, Screenshot, Sight
from schemas.packed import PACKED
from schemas.tasks.task import Task
from schemas.verdicts.review import Review
from schemas.verdicts.step_label import StepLabel
from schemas.verdicts.verdict import Acceptance, Verdict

Row = dict[str, Any]
"""A row: column names with values that Arrow takes as they are."""

R = TypeVar("R", bound=Record)

TABLES: dict[str, type[Record]] = {
    "tasks": Task,
    "prompts": Prompt,
    "observations": Element,
    "calls": Call,
    "steps": Step,
    "episodes": Episode,
    "verdicts": Verdict,
    "reviews": Review,
}
"""Every table of a run and the record its rows are made of."""

UNIT_TABLES = ("tasks", "prompts", "observations", "calls", "steps", "episodes")
"""The tables that a unit's commit writes, in order: its row in `episodes` is the commit point."""

EPISODE_TABLES = {"steps", "calls", "observations"}
"""Tables whose rows belong to an episode and carry its id and its unit's."""

_ELEMENTS = TypeAdapter(tuple[Element, ...])
_SIGHTS = TypeAdapter(tuple[Sight, ...])

_IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
_NARROW: dict[str, pa.DataType] = {"int32": pa.int32(), "float": pa.float32()}
_SCALARS: dict[object, pa.DataType] = {
    str: pa.string(),
    bytes: pa.binary(),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    datetime: pa.timestamp("us", tz="UTC"),
    Screenshot: _IMAGE,
    **{kind: pa.list_(_NARROW[kind.width.arrow]) for kind in PACKED},
}


class _Shape(NamedTuple):
    """An annotation in its parts."""

    base: object
    nullable: bool
    markers: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    """One field of a record as a column."""

    name: str
    arrow: pa.DataType
    nullable: bool
    json: bool


def _shape(annotation: object, markers: tuple[object, ...] = ()) -> _Shape:
    """Split an annotation into its type, whether it may be None, and its markers."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _shape(inner, (*markers, *more))
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [arg for arg in get_args(annotation) if arg is not type(None)]
        if len(rest) == 1 and len(get_args(annotation)) > 1:
            inner_shape = _shape(rest[0], markers)
            return inner_shape._replace(nullable=True)
    return _Shape(annotation, nullable=False, markers=markers)


def _arrow(shape: _Shape) -> tuple[pa.DataType, bool]:
    """Return a shape's Arrow type, and whether it is stored as JSON."""
    for marker in shape.markers:
        if isinstance(marker, Width):
            return _NARROW[marker.arrow], False
        if isinstance(marker, AsJson):
            return pa.string(), True
    base = shape.base
    if base in _SCALARS:
        return _SCALARS[base], False
    if isinstance(base, type) and issubclass(base, StrEnum):
        return pa.string(), False
    if get_origin(base) is tuple:
        items = set(get_args(base)) - {Ellipsis}
        return pa.list_(_arrow(_shape(next(iter(items))))[0]), False
    if get_origin(base) is dict:
        return pa.string(), True
    raise TypeError(f"no column type for {base!r}: mark the field with AsJson")


@cache
def _fields(record: type[Record]) -> tuple[tuple[str, _Shape], ...]:
    return tuple(
        (name, _shape(info.annotation, tuple(info.metadata)))
        for name, info in record.model_fields.items()
    )


@cache
def _columns(record: type[Record], prefix: str = "") -> tuple[_Column, ...]:
    """Return `record`'s columns in order, nested records spread."""
    out: list[_Column] = []
    for name, shape in _fields(record):
        spread = next((m for m in shape.markers if isinstance(m, Spread)), None)
        if any(isinstance(m, OtherTable) for m in shape.markers):
            continue
        if spread is not None:
            inner = _columns(_record_type(shape.base), spread.prefix)
            out += [_Column(c.name, c.arrow, c.nullable or shape.nullable, c.json) for c in inner]
            continue
        arrow, as_json = _arrow(shape)
        if name == "action":
            out.append(_Column("action_type", pa.string(), nullable=False, json=False))
        out.append(_Column(prefix + name, arrow, shape.nullable, as_json))
        if name == "action":
            out += [
                _Column(
                    c.name, pa.int32() if c.arrow == pa.int64() else c.arrow, c.nullable, c.json
                )
                for c in _columns(ActionColumns)
            ]
    return tuple(out)


def _record_type(base: object) -> type[Record]:
    if isinstance(base, type) and issubclass(base, Record):
        return base
    raise TypeError(f"{base!r} cannot be spread: expected a record")


@cache
def arrow_schema(table: str) -> pa.Schema:
    """Return the Arrow schema of a run's `table`.

    Raises:
        KeyError: there is no such table.
    """
    own: list[pa.Field[Any]]
    if table == "observations":
        own = [
            pa.field("step", pa.int32(), nullable=False),
            pa.field("elements", pa.string(), nullable=False),
            pa.field("sights", pa.string(), nullable=True),
        ]
    else:
        own = list(record_schema(TABLES[table]))
    if table in EPISODE_TABLES:
        ids = ("episode_id", "unit_id")
        own = [*(pa.field(name, pa.string(), nullable=False) for name in ids), *own]
    return pa.schema(own)


@cache
def json_columns(table: str) -> frozenset[str]:
    """Return the columns of a run's `table` that hold canonical JSON.

    Raises:
        KeyError: there is no such table.
    """
    if table == "observations":
        return frozenset({"elements", "sights"})
    return frozenset(c.name for c in _columns(TABLES[table]) if c.json)


@cache
def record_schema(record: type[Record]) -> pa.Schema:
    """Return the Arrow schema of a table whose rows are records of one kind."""
    return pa.schema([pa.field(c.name, c.arrow, nullable=c.nullable) for c in _columns(record)])


@cache
def trajectory_schema() -> pa.Schema:
    """Return the Arrow schema of the published `trajectories`: episodes' columns and more."""
    return pa.schema([*arrow_schema("episodes"), *record_schema(Acceptance)])


@cache
def published_step_schema() -> pa.Schema:
    """Return the Arrow schema of the published `steps`: a run's columns and the labels of `steps`."""
    return pa.schema([*arrow_schema("steps"), *record_schema(StepLabel)])


def to_row(record: Record) -> Row:
    """Return `record` as the row of its table, without the ids of its episode and unit."""
    out: Row = {}
    for name, shape in _fields(type(record)):
        value = getattr(record, name)
        spread = next((m for m in shape.markers if isinstance(m, Spread)), None)
        if any(isinstance(m, OtherTable) for m in shape.markers):
            continue
        if spread is not None:
            fields = _record_type(shape.base).model_fields
            inner = dict.fromkeys(fields) if value is None else to_row(value)
            out |= {spread.prefix + field: item for field, item in inner.items()}
        elif name == "action":
            out |= {"action_type": value.type, "action": _json_text(value)}
            out |= to_row(action_columns(value))
        else:
            as_json = _arrow(shape)[1] and not (value is None and shape.nullable)
            out[name] = _json_text(value) if as_json else _arrow_value(value)
    return out


def _arrow_value(value: object) -> object:
    if isinstance(value, Screenshot):
        return {"bytes": value.bytes, "path": value.path}
    if isinstance(value, StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _json_text(value: object) -> str:
    return canonical_json(to_jsonable_python(value))


def from_row(kind: type[R], row_: Mapping[str, Any]) -> R:
    """Return the record of `kind` that `row_` was made of.

    Columns that the record does not have (an owner's, the action's parts, those of a later version)
    are ignored.

    Raises:
        pydantic.ValidationError: a column is missing or holds what the record refuses.
    """
    return kind.model_validate(_unflatten(kind, row_, ""))


class _Read(NamedTuple):
    """How a field of a record is read from a row."""

    name: str
    spread: tuple[type[Record], str] | None
    """The record whose fields have columns of their own, and how these begin; None: it has one column."""
    nullable: bool
    is_json: bool


@cache
def _reads(kind: type[Record]) -> tuple[_Read, ...]:
    """Return how each field of a record is read, cached: a run has many rows and few kinds of records."""
    out = []
    for name, shape in _fields(kind):
        spread = next((m for m in shape.markers if isinstance(m, Spread)), None)
        nested = None if spread is None else (_record_type(shape.base), spread.prefix)
        other = any(isinstance(m, OtherTable) for m in shape.markers)
        is_json = nested is None and not other and _arrow(shape)[1]
        out.append(_Read(name, nested, shape.nullable, is_json))
    return tuple(out)


def _unflatten(kind: type[Record], row_: Mapping[str, Any], prefix: str) -> Row:
    out: Row = {}
    for name, spread, nullable, is_json in _reads(kind):
        if spread is not None:
            nested = _unflatten(spread[0], row_, spread[1])
            absent = nullable and all(item is None for item in nested.values())
            out[name] = None if absent else nested
        elif prefix + name in row_:
            value = row_[prefix + name]
            out[name] = parse_json(value) if is_json and isinstance(value, str) else value
    return out


def episode_rows(episode: Episode) -> dict[str, list[Row]]:
    """Return the rows of `episodes`, `steps`, `observations` and `calls` that hold an episode."""
    owner: Row = {"episode_id": episode.episode_id, "unit_id": episode.unit_id}
    return {
        "episodes": [to_row(episode)],
        "steps": [owner | to_row(step) for step in episode.steps],
        "calls": [owner | to_row(call) for call in episode.calls],
        "observations": [
            owner
            | {
                "step": step.step,
                "elements": canonical_json([e.model_dump(mode="json") for e in step.elements]),
                "sights": None
                if step.sights is None
                else canonical_json([sight.model_dump(mode="json") for sight in step.sights]),
            }
            for step in episode.steps
        ],
    }


def episode_from_rows(
    head: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    *,
    observations: Sequence[Mapping[str, Any]] = (),
    calls: Sequence[Mapping[str, Any]] = (),
    prompts: Sequence[Mapping[str, Any]] = (),
) -> Episode:
    """Return the episode whose rows these are; the rows may come in any order."""
    elements = {item["step"]: _ELEMENTS.validate_json(item["elements"]) for item in observations}
    sights = {
        item["step"]: _SIGHTS.validate_json(item["sights"])
        for item in observations
        if item.get("sights") is not None
    }
    rows = sorted(steps, key=lambda item: item["step"])
    return Episode.model_validate(
        _unflatten(Episode, head, "")
        | {
            "steps": [
                _unflatten(Step, item, "")
                | {
                    "elements": elements.get(item["step"], []),
                    "sights": sights.get(item["step"]),
                }
                for item in rows
            ],
            "calls": [
                _unflatten(Call, item, "") for item in sorted(calls, key=lambda item: item["call"])
            ],
            "prompts": [_unflatten(Prompt, item, "") for item in prompts],
        }
    )
