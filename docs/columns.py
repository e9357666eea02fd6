#!/usr/bin/env python3
"""Writes the generated parts of `docs/dataset.md`: what every column, value and action means.

The records are the one source: a column's type and nullability come from its Arrow schema, its
meaning from the docstring under the record's field, as on a dataset's card. `make docs` runs this; a
test compares the result with the page.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import get_args

import pyarrow as pa

from schemas.base import Record
from schemas.configuration.sections import RowKind
from schemas.episodes.action import Action
from schemas.episodes.episode import Actor, PolicyKind, StopReason, ThoughtSource
from schemas.errors import FailureKind
from schemas.tables.published import Attempt, Result
from schemas.tables.tables import (
    TABLES,
    arrow_schema,
    json_columns,
    published_step_schema,
    record_schema,
    trajectory_schema,
)
from schemas.verdicts.acceptance import AcceptanceStatus
from schemas.verdicts.step_label import Label, StepLabel
from schemas.verdicts.verdict import Acceptance, Status
from storage.publish.card.columns import NO_FIELD, column_docs, member_docs, table_docs, type_name
from storage.publish.training.schema import own_columns

PAGE = Path(__file__).with_name("dataset.md")

CLOSED_SETS: tuple[type[StrEnum], ...] = (
    StopReason,
    FailureKind,
    PolicyKind,
    Actor,
    ThoughtSource,
    Status,
    AcceptanceStatus,
    Label,
)

_MARKED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def line(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def columns(
    schema: pa.Schema, docs: Mapping[str, str], *, as_json: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield a table of columns as lines of Markdown."""
    yield from ("| column | type | null | meaning |", "|---|---|---|---|")
    for field in schema:
        meaning = docs.get(field.name) or NO_FIELD[field.name]
        kind = "JSON" if field.name in as_json else type_name(field.type)
        yield line(f"`{field.name}`", kind, "yes" if field.nullable else "", meaning)


def _table(name: str) -> Iterator[str]:
    return columns(arrow_schema(name), table_docs(name), as_json=json_columns(name))


def _trajectories() -> Iterator[str]:
    beside = set(arrow_schema("episodes").names)
    schema = trajectory_schema()
    own = pa.schema([field for field in schema if field.name not in beside])
    return columns(own, member_docs(Acceptance))


def _step_labels() -> Iterator[str]:
    beside = set(arrow_schema("steps").names)
    own = [field for field in published_step_schema() if field.name not in beside]
    return columns(pa.schema(own), member_docs(StepLabel))


def _record(kind: type[Record]) -> Iterator[str]:
    return columns(record_schema(kind), column_docs(kind))


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


def _training_rows(kind: RowKind) -> Iterator[str]:
    """Yield the columns of training rows; of kinds like `sft`, what that has not."""
    yield from ("| column | type | null | meaning |", "|---|---|---|---|")
    for column in own_columns(kind):
        nullable = "yes" if column.nullable else ""
        yield line(f"`{column.name}`", type_name(column.type), nullable, column.about)


Parts = Mapping[str, Callable[[], Iterator[str]]]
"""What writes each generated part of a page, by the part's name."""

PARTS: Parts = {
    **{name: partial(_table, name) for name in TABLES},
    "trajectories": _trajectories,
    "step_labels": _step_labels,
    "attempts": partial(_record, Attempt),
    "results": partial(_record, Result),
    "values": _values,
    "actions": _actions,
    **{f"rows_{kind.value}": partial(_training_rows, kind) for kind in RowKind},
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
