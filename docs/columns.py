#!/usr/bin/env python3
"""Writes the generated parts of `docs/dataset.md`: what every column, value and action means.

The records are the one source: a column's type and nullability come from its Arrow schema, its
meaning from the docstring under the record's field, read from the source. `make docs` runs this;
a test compares the result with the page.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import TypeVar, get_args

import pyarrow as pa

from schemas.action import Action, ActionColumns
from schemas.base import Record
from schemas.columns import Spread
from schemas.episode import Actor, PolicyKind, StopReason, ThoughtSource
from schemas.errors import FailureKind
from schemas.step_label import StepLabel, StepQuality
from schemas.tables import (
    EPISODE_TABLES,
    TABLES,
    arrow_schema,
    json_columns,
    published_step_schema,
    trajectory_schema,
)
from schemas.verdict import Acceptance, Status

T = TypeVar("T")

PAGE = Path(__file__).with_name("dataset.md")

CLOSED_SETS: tuple[type[StrEnum], ...] = (
    StopReason,
    FailureKind,
    PolicyKind,
    Actor,
    ThoughtSource,
    Status,
    StepQuality,
)

_NO_FIELD = {
    "episode_id": "The episode the row belongs to.",
    "unit_id": "The unit the episode was committed with.",
    "action_type": "The action's `type`; see the actions below.",
    "elements": "What was on the page, a list of elements in document order.",
    "sights": "What the picture shows: a list of lines of text and of drawn things, each with its box, in"
    " document order; null where an earlier version recorded the step.",
    "step": "From 0, contiguous.",
}
"""Columns that no field of a record states."""

_MARKED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


@cache
def member_docs(kind: type) -> dict[str, str]:
    """Return the docstring under each field of a record or member of an enumeration."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    if not isinstance(tree, ast.ClassDef):
        raise TypeError(f"{kind!r} is no class")
    out: dict[str, str] = {}
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
            continue
        if isinstance(node, ast.AnnAssign):
            out[ast.unparse(node.target)] = " ".join(str(after.value.value).split())
        elif isinstance(node, ast.Assign):
            out[ast.unparse(node.targets[0])] = " ".join(str(after.value.value).split())
    return out


def column_docs(kind: type[Record]) -> dict[str, str]:
    """Return what each column of a record's table means."""
    out = dict(member_docs(kind))
    for name, info in kind.model_fields.items():
        for marker in info.metadata:
            if isinstance(marker, Spread):
                nested = member_docs(kind_in(info.annotation, Record) or Record)
                out |= {marker.prefix + key: doc for key, doc in nested.items()}
        if name == "action":
            out |= member_docs(ActionColumns)
    return out


def kind_in(annotation: object, base: type[T]) -> type[T] | None:
    """Return the class below `base` that a field holds; None if it holds none."""
    for part in (annotation, *get_args(annotation)):
        if isinstance(part, type) and issubclass(part, base):
            return part
    return None


def line(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list<{_type(kind.value_type)}>"
    return str(kind).replace("struct<bytes: binary, path: string>", "image (bytes, path)")


def columns(
    schema: pa.Schema, docs: dict[str, str], *, as_json: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield a table of columns as lines of Markdown."""
    yield from ("| column | type | null | meaning |", "|---|---|---|---|")
    for field in schema:
        meaning = docs.get(field.name) or _NO_FIELD[field.name]
        kind = "JSON" if field.name in as_json else _type(field.type)
        yield line(f"`{field.name}`", kind, "yes" if field.nullable else "", meaning)


def _table(name: str) -> Iterator[str]:
    kind = TABLES[name]
    docs = column_docs(kind) if name != "observations" else {}
    if name in EPISODE_TABLES:
        docs |= {key: _NO_FIELD[key] for key in ("episode_id", "unit_id")}
    return columns(arrow_schema(name), docs, as_json=json_columns(name))


def _trajectories() -> Iterator[str]:
    beside = set(arrow_schema("episodes").names)
    schema = trajectory_schema()
    own = pa.schema([field for field in schema if field.name not in beside])
    return columns(own, member_docs(Acceptance))


def _step_labels() -> Iterator[str]:
    beside = set(arrow_schema("steps").names)
    own = [field for field in published_step_schema() if field.name not in beside]
    return columns(pa.schema(own), member_docs(StepLabel))


def _values() -> Iterator[str]:
    for kind in CLOSED_SETS:
        yield f"**{kind.__name__}**: {(kind.__doc__ or '').strip()}"
        yield ""
        docs = member_docs(kind)
        for member in kind:
            doc = docs.get(member.name)
            yield f"* `{member.value}`: {doc}" if doc else f"* `{member.value}`"
        yield ""


def _actions() -> Iterator[str]:
    yield from ("| `type` | parts | what it does |", "|---|---|---|")
    (union, *_) = get_args(Action)
    for kind in get_args(union):
        docs = member_docs(kind)
        parts = [
            f"`{name}`{'' if info.is_required() else '?'}: {docs[name]}"
            for name, info in kind.model_fields.items()
            if name != "type"
        ]
        name = kind.model_fields["type"].default
        yield line(f"`{name}`", " ".join(parts), (kind.__doc__ or "").strip())


Parts = Mapping[str, Callable[[], Iterator[str]]]
"""What writes each generated part of a page, by the part's name."""

PARTS: Parts = {
    **{name: partial(_table, name) for name in TABLES},
    "trajectories": _trajectories,
    "step_labels": _step_labels,
    "values": _values,
    "actions": _actions,
}


def renewed(page: str, parts: Parts = PARTS) -> str:
    """Return the text of a page with its generated parts written anew."""

    def part(match: re.Match[str]) -> str:
        return f"{match[1]}{chr(10).join(parts[match[2]]())}\n{match[3]}"

    return _MARKED.sub(part, page)


def renew(path: Path, parts: Parts = PARTS) -> None:
    """Write the generated parts of the page at `path` anew."""
    path.write_text(renewed(path.read_text(encoding="utf-8"), parts), encoding="utf-8")


if __name__ == "__main__":
    renew(PAGE)
