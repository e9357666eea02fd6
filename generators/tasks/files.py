"""A row of a task file: its columns, and the task made from them.

Columns are those of the `tasks` table. A row's id, its split, its site's version and its template's start are
computed; a row that states other values is rejected, so that a table written by one run is read by another unchanged
or not at all. `generators/tasks/task_file_reader.py` reads the file around it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, AwareDatetime, Field, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from generators.tasks.rephrase.gate import gate_for, with_goal
from generators.tasks.site_offers import MAX_STEPS, SiteOffer, make_template_task
from registries.entry_points import Group
from registries.registry import check_known
from registries.splits.registry import is_stated
from schemas.base import JsonObject, Record, canonical_json, first_mistake
from schemas.errors import BadTasks, NotFound
from schemas.nearest import did_you_mean
from schemas.page_facts import PageFacts
from schemas.tasks.expectation import Expectation, parse_expectation
from schemas.tasks.reference import Reference
from schemas.tasks.selector import asked_of
from schemas.tasks.task import MAX_SEED, Task, task_id
from schemas.tasks.task_file import TaskFile, check_files

JSON_COLUMNS = ("parameters", "rubric", "expect", "files", "page", "reference")
"""Columns that may be JSON values or, as in tables, strings of JSON."""

FREE_COLUMNS = (
    *("source", "max_steps", "difficulty", "tags"),
    *("feasible", "answer_kind", "rubric", "reference", "expires_at"),
)
"""Columns outside a task's identity, taken from the row unchanged; `split` too, unless the registry decided it."""

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
_MAX_SHOWN = 60


RawRow = bytes | Mapping[str, object]
"""A line of JSON, or a row of a table."""


class BadRow(Exception):
    """A row without a valid task; each argument is one mistake."""


def _check_files(files: tuple[TaskFile, ...]) -> tuple[TaskFile, ...]:
    check_files(files)
    return files


class TaskRow(Record):
    """The columns of `tasks` that a file may state; None: not stated."""

    site: str
    """The site that serves it."""
    template_id: str | None = Field(default=None, min_length=1)
    """The template; on a site without templates, a label for tasks of one kind."""
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)
    """Selects a task of the template."""
    instruction: str | None = Field(default=None, min_length=1)
    """The goal; ignored where the page states it."""
    start_url: str | None = None
    """The URL where it starts."""
    parameters: JsonObject | None = None
    """Parameters of the template, beside the seed."""
    max_steps: int | None = Field(default=None, ge=1, le=10_000)
    """Maximum number of actions of an attempt."""
    difficulty: str | None = None
    """A free label."""
    tags: tuple[str, ...] | None = None
    """Free labels; None: the template's own."""
    feasible: bool | None = None
    """False for a task that is impossible on purpose."""
    answer_kind: Literal["none", "verbatim", "computed"] | None = None
    """The form of the answer."""
    rubric: JsonObject | None = None
    """Criteria for a judge."""
    expect: JsonObject | None = None
    """The required state of the server and the answer, or the probe that judges them; only for sites that judge by
    it."""
    files: Annotated[tuple[TaskFile, ...], AfterValidator(_check_files)] | None = None
    """What an action may give to a page: names, each with `text` or `base64`."""
    page: PageFacts | None = None
    """What its pages find out about their user, over what the site says."""
    user: str | None = Field(default=None, min_length=1)
    """The user who is logged in, of those that the application's file describes; None: the first, or the only one."""
    reference: Reference | None = None
    """Ordinary actions that do the task."""
    fault: str | None = Field(default=None, min_length=1)
    """What goes wrong on the site; if stated, must be that of the drawn task's seed. None: nothing does on purpose."""
    expires_at: Annotated[AwareDatetime, Field(ge=_EARLIEST, lt=_LATEST)] | None = None
    """The time from which the task is invalid."""
    source: str | None = Field(default=None, min_length=1)
    """The task's origin; None: this file."""
    site_version: str | None = None
    """If stated, must be the site's."""
    task_id: str | None = None
    """If stated, must be the computed one."""
    original_instruction: str | None = Field(default=None, min_length=1)
    """The goal of a world's task before a model rephrased it; must be that of the drawn task. None: nobody did."""
    rephrased_by: str | None = Field(default=None, min_length=1)
    """The model that wrote `instruction`; stated with `original_instruction` alone."""
    split: Literal["", "train", "validation", "test"] | None = None
    """The split of its template, the same for all its tasks; None or empty: the registry of splits decides."""
    split_version: int | None = Field(default=None, ge=1)
    """The version of the registry that decided `split`, in a run's table; None: this file names it."""


def row_of(task: Task) -> JsonObject:
    """Return a task as a row of a task file, without the columns that say nothing."""
    whole = task.model_dump(mode="json", exclude_none=True)
    return {
        name: value
        for name, value in whole.items()
        if name in TaskRow.model_fields
        and value != ""
        and not (name in JSON_COLUMNS and value in ({}, []))
    }


def parse_row(raw: RawRow) -> TaskRow:
    """Parse a line of JSON or a row of a table.

    Raises:
        BadRow: it is not an object, or has an unknown column or a wrong value.
    """
    try:
        stated = parse_object(raw) if isinstance(raw, bytes) else dict(raw)
        for column in JSON_COLUMNS:
            if isinstance(value := stated.get(column), str):
                stated[column] = _parse_json(value, f"{column}: ")
        text = canonical_json({key: value for key, value in stated.items() if value is not None})
        return TaskRow.model_validate_json(text.encode(), strict=True)
    except ValidationError as error:
        raise BadRow(*(_explain(one) for one in error.errors() if not _is_echo(one))) from None
    except UnicodeError:
        raise BadRow("holds text that is not valid UTF-8") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise BadRow(f"is not a row of JSON values: {error}") from None


def _parse_json(
    text: str, where: str = "", pairs: Callable[[list[tuple[str, object]]], object] | None = None
) -> object:
    """Parse a JSON text; `pairs` converts its objects.

    Raises:
        BadRow: the text is invalid, nested too deeply, or has too long a number.
    """
    try:
        value: object = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise BadRow(f"{where}is not a row of JSON values: {error}") from None
    except RecursionError:
        raise BadRow(f"{where}is not a row of JSON values: brackets are nested too deep") from None
    except ValueError:  # Python limits the digits of numbers
        raise BadRow(f"{where}is not a row of JSON values: a number has too many digits") from None
    return value


def parse_object(line: bytes) -> dict[str, object]:
    """Parse bytes as a JSON object.

    Raises:
        BadRow: they are invalid JSON, another value, or an object with a duplicate key.
        UnicodeError: they are not UTF-8.
    """
    value = _parse_json(line.decode(), pairs=_to_dict)
    if not isinstance(value, dict):
        raise BadRow(f"is not a JSON object: {_shorten(value)}; a task file has one object a line")
    return value


def _to_dict(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadRow(f"states '{twice}' twice")
    return out


def _is_echo(error: ErrorDetails) -> bool:
    """Return whether a list is called too short because of items that are mistakes of their own."""
    return error["type"] == "too_short" and error["ctx"]["actual_length"] < len(error["input"])


def _explain(error: ErrorDetails) -> str:
    column = ".".join(str(part) for part in error["loc"])
    if (column, error["type"]) == ("reference", "too_short"):
        return (
            "reference = []: expected at least one step; a task that needs no action has the one step "
            '{"do": "answer", "text": "…"}, and a task without a reference has no column `reference`'
        )
    if error["type"] == "extra_forbidden":
        return f"unknown column '{column}'{did_you_mean(column, TaskRow.model_fields)}"
    if error["type"] == "missing":
        return f"{column} is missing"
    return f"{column} = {_shorten(error['input'])}: {error['msg'].removeprefix('Value error, ')}"


def make_task(row: TaskRow, *, sites: Mapping[str, SiteOffer], source: str) -> Task:
    """Return the task of a row of the file `source`.

    Raises:
        BadRow: an unknown site or template, a missing column, or a wrong value.
    """
    offer = sites.get(row.site)
    if offer is None:
        hint = did_you_mean(row.site, sites)
        raise BadRow(f"unknown site '{row.site}' (there are: {', '.join(sites)}){hint}")
    if row.expect is None and offer.judges_state:
        raise BadRow(f"expect is missing: {offer.name} is judged by its state and the answer")
    if row.expect is not None and not offer.judges_state:
        raise BadRow(f"expect: {offer.name} judges its tasks itself")
    if row.files and offer.templates:
        raise BadRow(f"files: pages of {offer.name} take none")
    if row.page is not None and offer.templates:
        raise BadRow(f"page: those of {offer.name} are as their templates say")
    if row.user is not None and row.user not in offer.users:
        there = ", ".join(offer.users) or "none"
        hint = did_you_mean(row.user, offer.users)
        raise BadRow(
            f"user = '{row.user}': {offer.name} has no such user (there are: {there}){hint}"
        )
    make = _make_template_task if offer.templates else _make_instruction_task
    task = _rephrase(row, make(row, offer, source))
    computed: dict[str, tuple[str | None, str | None]] = {
        "site_version": (row.site_version, offer.version),
        "start_url": (None if offer.origin else row.start_url, task.start_url),
        "fault": (row.fault, task.fault),
        "task_id": (row.task_id, task.task_id),
    }
    for column, (stated, actual) in computed.items():
        if stated is not None and stated != actual:
            raise BadRow(f"{column} = {stated!r}, but this task's is {actual!r}")
    free = {column: getattr(row, column) for column in FREE_COLUMNS}
    labels = {key: value for key, value in free.items() if value is not None}
    return task.model_copy(update=labels | _stated_split(row, task))


def _stated_split(row: TaskRow, task: Task) -> dict[str, str | int | None]:
    """Return the split that a row names with its version, unless the registry decides it."""
    split, version = row.split or "", row.split_version
    try:
        holds = is_stated(task.site, task.template_id, split, version)
    except BadTasks as error:
        raise BadRow(f"split: {error}") from None
    return {"split": split, "split_version": version} if holds else {}


def _make_template_task(row: TaskRow, offer: SiteOffer, source: str) -> Task:
    if row.template_id is None or row.seed is None:
        lacks = "template_id" if row.template_id is None else "seed"
        raise BadRow(f"{lacks} is missing: a task of {offer.name} is a template_id and a seed")
    if row.template_id not in offer.templates:
        hint = did_you_mean(row.template_id, offer.templates)
        raise BadRow(f"{offer.name} has no template '{row.template_id}'{hint}")
    try:
        asked = None if offer.draw is None else asked_of(row.parameters or {})
    except ValidationError as error:
        raise BadRow(f"parameters.asked: {first_mistake(error)}") from None
    return make_template_task(
        offer,
        row.template_id,
        seed=row.seed,
        source=source,
        parameters=row.parameters,
        faults=0.0 if row.fault is None else 1.0,
        difficulty=asked,
    )


def _rephrase(row: TaskRow, task: Task) -> Task:
    """Return a task with the goal that a model wrote for it, if the row has one and it means the same."""
    if row.original_instruction is None and row.rephrased_by is None:
        return task
    if row.instruction is None or row.original_instruction is None or row.rephrased_by is None:
        raise BadRow("instruction, original_instruction and rephrased_by: a row has all three")
    gate = gate_for(task)
    if gate is None:
        raise BadRow("original_instruction: only goals of worlds are rephrased")
    if row.original_instruction != task.instruction:
        stated, own = _shorten(row.original_instruction), _shorten(task.instruction)
        raise BadRow(f"original_instruction = {stated}, but this task's is {own}")
    if (why := gate.why_not(task, row.instruction)) is not None:
        raise BadRow(f"instruction = {_shorten(row.instruction)}: {why}")
    return with_goal(task, row.instruction, by=row.rephrased_by)


def _make_instruction_task(row: TaskRow, offer: SiteOffer, source: str) -> Task:
    if row.instruction is None or row.start_url is None:
        lacks = "instruction" if row.instruction is None else "start_url"
        raise BadRow(
            f"{lacks} is missing: a task of {offer.name} is an instruction and a start_url"
        )
    start_url = row.start_url
    if offer.origin is not None and start_url.startswith("/"):
        start_url = offer.origin + start_url
    _check_start(start_url, offer)
    parameters: dict[str, JsonValue] = row.parameters or {}
    expect = _read_expectation(row.expect)
    identity = task_id(
        site=offer.name,
        site_version=offer.version,
        template_id=None,
        seed=row.seed or 0,
        start_url=start_url,
        instruction=row.instruction,
        parameters=parameters,
        expect=expect,
        files=row.files or (),
        page=row.page,
        user=row.user,
    )
    template_id = row.template_id or identity
    return Task(
        task_id=identity,
        template_id=template_id,
        source=source,
        site=offer.name,
        site_version=offer.version,
        start_url=start_url,
        instruction=row.instruction,
        parameters=parameters,
        seed=row.seed or 0,
        max_steps=MAX_STEPS,
        expect=expect,
        files=row.files or None,
        page=row.page,
        user=row.user,
    )


def _read_expectation(stated: JsonObject | None) -> Expectation | None:
    """Return a row's expectation; None: the row has none.

    Raises:
        BadRow: the form is invalid, or no installed package has the probe.
    """
    if stated is None:
        return None
    try:
        expectation = parse_expectation(stated, "")
        if expectation.probe is not None:
            check_known(Group.PROBES, expectation.probe, (), key="expect.probe")
    except (BadTasks, NotFound) as error:
        raise BadRow(*(line.removeprefix(": ") for line in error.lines)) from None
    return expectation


def _check_start(url: str, offer: SiteOffer) -> None:
    try:
        parts = urlsplit(url)
        host, user = parts.hostname, parts.username or parts.password
    except ValueError as error:
        raise BadRow(f"start_url = {_shorten(url)}: {error}") from None
    if parts.scheme not in {"http", "https"} or not host or not url.isprintable():
        raise BadRow(f"start_url = {_shorten(url)}: expected an http or https address")
    if user:
        raise BadRow("start_url holds a user name or password; they would be published")
    allowed = (offer.origin, *offer.further_origins)
    if offer.origin is not None and origin_of(url) not in allowed:
        raise BadRow(
            f"start_url = {_shorten(url)}: tasks of {offer.name} start on {offer.origin}; a path of it will do"
        )


def origin_of(url: str) -> str:
    """Return the origin of a URL: scheme, host and port in lower case.

    Raises:
        ValueError: the URL is invalid.
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
