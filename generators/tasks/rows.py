"""One row of a task file: what it may state, and the task it gives.

A row states a task and no more. Its id, its split, its site's version and where its template starts
are computed, and a row that states other values is refused, so that a table written by one run can be read by another or not at all.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AwareDatetime, Field, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from generators.tasks.offers import MAX_STEPS, SiteOffer, did_you_mean, make_template_task
from schemas.base import JsonObject, Record, canonical_json
from schemas.task import MAX_SEED, Task, split_of, task_id

JSON_COLUMNS = ("parameters", "rubric")
"""Columns whose JSON may be written out or kept as a string, as tables keep it."""

FREE_COLUMNS = (
    "source",
    "max_steps",
    "difficulty",
    "tags",
    "feasible",
    "answer_kind",
    "rubric",
    "expires_at",
)
"""Columns that a row states as it likes: no identity hangs on them."""

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
_MAX_SHOWN = 60


class BadRow(Exception):
    """A row that makes no valid task; each line of the text is one mistake in it."""


class TaskRow(Record):
    """The columns of `tasks`, as a file may state them. What is None is not stated."""

    site: str
    """Which site serves it."""
    template_id: str | None = Field(default=None, min_length=1)
    """The template; where the site has none, a label for tasks of one kind."""
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)
    """Which task of the template."""
    instruction: str | None = Field(default=None, min_length=1)
    """The goal; passed over where the page states it."""
    start_url: str | None = None
    """Where it starts."""
    parameters: JsonObject | None = None
    """What the template is filled with, beside the seed."""
    max_steps: int | None = Field(default=None, ge=1, le=10_000)
    """The most actions an attempt may take."""
    difficulty: str | None = None
    """A label."""
    tags: tuple[str, ...] | None = None
    """Free labels; None: the template's own."""
    feasible: bool | None = None
    """False for tasks that cannot be done on purpose."""
    answer_kind: Literal["none", "verbatim", "computed"] | None = None
    """How the answer is to be given."""
    rubric: JsonObject | None = None
    """What a judge should look for."""
    expires_at: Annotated[AwareDatetime, Field(ge=_EARLIEST, lt=_LATEST)] | None = None
    """When it stops making sense."""
    source: str | None = Field(default=None, min_length=1)
    """Where it came from; None: this file."""
    site_version: str | None = None
    """Must be the site's, if stated."""
    task_id: str | None = None
    """Must be the computed one, if stated."""
    split: str | None = None
    """Must be the template's, if stated."""


def parse_row(raw: bytes | Mapping[str, object]) -> TaskRow:
    """Return what a line of JSON, or a row of a table, states.

    Raises:
        BadRow: it is not an object, has an unknown column or a wrong value.
    """
    try:
        stated = _object(raw) if isinstance(raw, bytes) else dict(raw)
        for column in JSON_COLUMNS:
            value = stated.get(column)
            if isinstance(value, str):
                stated[column] = json.loads(value)
        text = canonical_json({key: value for key, value in stated.items() if value is not None})
        return TaskRow.model_validate_json(text.encode(), strict=True)
    except ValidationError as error:
        raise BadRow("\n".join(map(_explain, error.errors()))) from None
    except UnicodeError:
        raise BadRow("holds text that is not valid UTF-8") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise BadRow(f"is not a row of JSON values: {error}") from None


def _object(line: bytes) -> dict[str, object]:
    value: object = json.loads(line.decode(), object_pairs_hook=_check_repeats)
    if not isinstance(value, dict):
        raise BadRow(f"is not a JSON object: {_shorten(value)}; a task file has one object a line")
    return value


def _check_repeats(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadRow(f"states '{twice}' twice")
    return out


def _explain(error: ErrorDetails) -> str:
    column = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"unknown column '{column}'{did_you_mean(column, TaskRow.model_fields)}"
    if error["type"] == "missing":
        return f"{column} is missing"
    rule = error["msg"].removeprefix("Value error, ")
    return f"{column} = {_shorten(error['input'])}: {rule}"


def make_task(row: TaskRow, *, sites: Mapping[str, SiteOffer], source: str) -> Task:
    """Return the task that a row of the file `source` gives.

    Raises:
        BadRow: it names something unknown, lacks something, or states what is not so.
    """
    offer = sites.get(row.site)
    if offer is None:
        hint = did_you_mean(row.site, sites)
        raise BadRow(f"unknown site '{row.site}' (there are: {', '.join(sites)}){hint}")
    task = (
        _make_template_task(row, offer, source)
        if offer.templates
        else _make_instruction_task(row, offer, source)
    )
    computed: dict[str, tuple[str | None, str | None]] = {
        "site_version": (row.site_version, offer.version),
        "start_url": (row.start_url, task.start_url),
        "split": (row.split, task.split),
        "task_id": (row.task_id, task.task_id),
    }
    for column, (stated, true) in computed.items():
        if stated is not None and stated != true:
            raise BadRow(f"{column} = {stated!r}, but this task's is {true!r}")
    taken = {column: getattr(row, column) for column in FREE_COLUMNS}
    return task.model_copy(update={key: value for key, value in taken.items() if value is not None})


def _make_template_task(row: TaskRow, offer: SiteOffer, source: str) -> Task:
    if row.template_id is None or row.seed is None:
        lacks = "template_id" if row.template_id is None else "seed"
        raise BadRow(f"{lacks} is missing: a task of {offer.name} is a template_id and a seed")
    if row.template_id not in offer.templates:
        hint = did_you_mean(row.template_id, offer.templates)
        raise BadRow(f"{offer.name} has no template '{row.template_id}'{hint}")
    return make_template_task(
        offer, row.template_id, seed=row.seed, source=source, parameters=row.parameters
    )


def _make_instruction_task(row: TaskRow, offer: SiteOffer, source: str) -> Task:
    if row.instruction is None or row.start_url is None:
        lacks = "instruction" if row.instruction is None else "start_url"
        raise BadRow(
            f"{lacks} is missing: a task of {offer.name} is an instruction and a start_url"
        )
    _check_start(row.start_url)
    parameters: dict[str, JsonValue] = row.parameters or {}
    identity = task_id(
        site=offer.name,
        site_version=offer.version,
        template_id=None,
        seed=row.seed or 0,
        start_url=row.start_url,
        instruction=row.instruction,
        parameters=parameters,
    )
    template_id = row.template_id or identity
    return Task(
        task_id=identity,
        template_id=template_id,
        source=source,
        site=offer.name,
        site_version=offer.version,
        start_url=row.start_url,
        instruction=row.instruction,
        parameters=parameters,
        seed=row.seed or 0,
        max_steps=MAX_STEPS,
        split=split_of(template_id),
    )


def _check_start(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, user = parts.hostname, parts.username or parts.password
    except ValueError as error:
        raise BadRow(f"start_url = {_shorten(url)}: {error}") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise BadRow(f"start_url = {_shorten(url)}: expected an http or https address")
    if user:
        raise BadRow("start_url holds a user name or password; they would be published")


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
