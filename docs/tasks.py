#!/usr/bin/env python3
"""Writes the generated parts of `docs/tasks.md`, and the JSON schema of a row of a task file.

The record `TaskRow` is the one source of both: what a column means is the docstring under its field.
The schema lies beside the page and in the package. `make docs` runs this; a test compares the results
with the files.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from columns import Parts, line, renew

from generators.tasks.benchmarks import FileFormat
from generators.tasks.files import JSON_COLUMNS, TaskRow
from storage.publish.card.columns import member_docs

PAGE = Path(__file__).with_name("tasks.md")
NAME = "task.schema.json"
SCHEMAS = (PAGE.with_name(NAME), PAGE.parents[1] / "generators" / "tasks" / NAME)
"""Where the schema lies: beside the page, and in the package."""

_TEXT_OF_JSON = {"type": "string", "contentMediaType": "application/json"}


def schema() -> dict[str, Any]:
    """Return the JSON schema of a row, with what each column means."""
    made = TaskRow.model_json_schema()
    docs = member_docs(TaskRow)
    for name, column in made["properties"].items():
        column["description"] = docs[name]
        column.pop("title", None)
        if name in JSON_COLUMNS:
            column.setdefault("anyOf", []).append(_TEXT_OF_JSON)
    about = {
        "title": "A row of a Stepmill task file",
        "description": " ".join((TaskRow.__doc__ or "").split()),
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, **about}


def schema_text() -> str:
    """Return the schema as its files hold it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _kind(column: Mapping[str, Any]) -> str:
    """Return what a column may hold, in a few words."""
    parts = [part for part in column.get("anyOf", [column]) if part.get("type") != "null"]
    return " or ".join(map(_kind_of, parts))


def _kind_of(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return ", ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    if "items" in part:
        return f"list of {_kind_of(part['items'])}s"
    if part.get("format") == "date-time":
        return "time with its zone"
    if "contentMediaType" in part:
        return "text of JSON"
    least, most = part.get("minimum"), part.get("maximum")
    limits = f" from {least:,} to {most:,}" if most is not None else ""
    return f"{part.get('type', 'object')}{limits}"


def _columns() -> Iterator[str]:
    made = schema()
    yield from (line("column", "holds", "needed", "meaning"), "|---|---|---|---|")
    for name, column in made["properties"].items():
        needed = "always" if name in made["required"] else ""
        yield line(f"`{name}`", _kind(column), needed, column["description"])


def _formats() -> Iterator[str]:
    docs = member_docs(FileFormat)
    yield from (f"* `{one.value}`: {docs[one.name]}" for one in FileFormat)


PARTS: Parts = {"columns": _columns, "formats": _formats}

if __name__ == "__main__":
    for place in SCHEMAS:
        place.write_text(schema_text(), encoding="utf-8")
    renew(PAGE, PARTS)
