"""Request handling for worlds' pages: the visit, the row of a URL, and the submitted form.

A visit is a world with its own database and pages. Missing or unreadable parts of a request raise errors here.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from generators.worlds.rendering.overlays import Memory
from generators.worlds.rendering.pages import SURE, Pages
from generators.worlds.serving.assets import HEADERS
from generators.worlds.serving.faults import Trouble, end_session
from generators.worlds.state.database import (
    Row,
    change_row,
    find_alike,
    find_row,
    find_title,
    linked_rows,
    titles_of,
)
from generators.worlds.state.display import Titles
from generators.worlds.state.form_fields import (
    Choices,
    Filled,
    asked_fields,
    field_choices,
    form_texts,
    new_row,
    read_form,
)
from generators.worlds.state.permissions import Withheld, withheld
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.fault import Fault
from schemas.worlds.field import TAG_PARTING
from schemas.worlds.world import Entity, Transition, View, World

MAX_BODY_BYTES = 1_000_000
"""Maximum size of a form in bytes."""

UNAVAILABLE = HTTPStatus.SERVICE_UNAVAILABLE.value
"""The number of the error by which a change is not made, as pages say it."""

_ID_BOUND = 2**63


@dataclass(frozen=True, slots=True)
class WorldVisit:
    """An open visit."""

    world: World
    database: sqlite3.Connection
    pages: Pages
    memory: Memory = field(default_factory=Memory)
    trouble: Trouble = field(default_factory=Trouble)

    def say(self, key: str, **given: object) -> str:
        """Return a text of pages in the world's language."""
        return catalogue(self.world.language).say(key, **given)

    def titles(self, entity: Entity) -> Titles:
        """Return the titles of all rows that an entity's links can point to."""
        targets = dict.fromkeys(field.target for field in entity.fields if field.target is not None)
        return {name: titles_of(self.database, self.world.entity(name)) for name in targets}

    def choices(self, entity: Entity) -> Choices:
        """Return the options of an entity's fields."""
        return field_choices(self.world, entity, self.titles(entity))

    def steps(self, entity: Entity, row: Row) -> list[Transition]:
        """Return the available steps of a row's workflow, without those reserved to another role."""
        held = {one.rule.step for one in self.withheld(entity, row)}
        flow = self.world.workflow(entity.name)
        steps = flow.transitions if flow is not None else ()
        return [
            step
            for step in steps
            if flow is not None and row[flow.field] in step.before and step.name not in held
        ]

    def withheld(self, entity: Entity, row: Row) -> list[Withheld]:
        """Return the acts that the signed-in user's role may not perform on a row."""
        return withheld(self.world, entity, row)

    def find_reserved(self, entity: Entity, row: Row, name: str) -> Withheld | None:
        """Return the reserved act of this name on a row; None: the act is permitted."""
        held = (one for one in self.withheld(entity, row) if one.rule.name == name)
        return next(held, None)


def visit_of(request: Request) -> WorldVisit:
    """Return the visit of a request."""
    visit: WorldVisit = request.scope["visit"]
    return visit


def answer(page: str, status: int = HTTPStatus.OK) -> Response:
    """Return a response with a page."""
    return HTMLResponse(page, status, headers=HEADERS)


def go_to(address: str) -> Response:
    """Return a redirect, so that reloading does not repeat a change."""
    return RedirectResponse(address, HTTPStatus.SEE_OTHER, headers=HEADERS)


def refuse_post(request: Request) -> None:
    """Reject POST requests for a page without a form.

    Raises:
        HTTPException: the method is POST.
    """
    if request.method == "POST":
        raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD"})


def find_entity(request: Request) -> Entity:
    """Return the entity of a URL.

    Raises:
        HTTPException: the entity does not exist.
    """
    try:
        return visit_of(request).world.entity(request.path_params["entity"])
    except KeyError:
        raise HTTPException(HTTPStatus.NOT_FOUND) from None


def find(request: Request) -> tuple[Entity, Row]:
    """Return the entity and the row of a URL.

    Raises:
        HTTPException: the row does not exist.
    """
    entity, row_id = find_entity(request), request.path_params["id"]
    row = find_row(visit_of(request).database, entity, row_id) if row_id < _ID_BOUND else None
    if row is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return entity, row


def show_row(
    visit: WorldVisit, entity: Entity, row: Row, *, message: str = "", status: int = HTTPStatus.OK
) -> Response:
    """Answer with a row's page; `message` is an error message."""
    thread = visit.world.thread(entity.name)
    linked = linked_rows(visit.database, visit.world, entity, int(row["id"] or 0))
    written = thread.messages if thread is not None else None
    history = visit.world.history
    kept = history.changes if history is not None and history.entity == entity.name else None
    past = [one for other, rows in linked if other.name == kept for one in rows]
    if history is not None:
        past.sort(key=lambda one: str(one[history.day]))
    held = visit.withheld(entity, row)
    flow = visit.world.workflow(entity.name)
    shown = {one.rule.step for one in held if not one.rule.hidden}
    refused = [step for step in (flow.transitions if flow else ()) if step.name in shown]
    lying = visit.world.cart.lying if visit.world.cart is not None else None
    messages = [one for other, rows in linked if other.name == written for one in rows]
    if thread is not None:
        day = thread.day
        messages.sort(key=lambda one: str(one[day]))
    return answer(
        visit.pages.row(
            entity,
            row,
            titles=visit.titles(entity),
            steps=[*visit.steps(entity, row), *refused],
            held=held,
            linked=[
                (other, rows) for other, rows in linked if other.name not in {written, kept, lying}
            ],
            past=past,
            messages=messages,
            message=message,
        ),
        status,
    )


def fill(visit: WorldVisit, entity: Entity, row: Row | None, given: Mapping[str, str]) -> Filled:
    """Return the parsed form; a duplicate title is an error."""
    choices = visit.choices(entity)
    filled = read_form(visit.world, entity, given, choices=choices, before=row)
    title = entity.title
    if title.name in filled.values:
        other = find_title(visit.database, entity, filled.values[title.name])
        if other is not None and (row is None or other != row["id"]):
            message = visit.say("form.same_title", one=entity.one, field=title.label)
            return filled._replace(messages={**filled.messages, title.name: message})
    return _without_clash(visit, entity, row, filled)


def _without_clash(visit: WorldVisit, entity: Entity, row: Row | None, filled: Filled) -> Filled:
    """Return the parsed form, with an error message if another row has the same values of `apart`."""
    if not entity.apart or filled.messages:
        return filled
    before = row or new_row(visit.world, entity)
    wanted = {name: filled.values.get(name, before[name]) for name in entity.apart}
    if row is not None and all(row[name] == value for name, value in wanted.items()):
        return filled
    other = find_alike(visit.database, entity, wanted)
    if other is None or (row is not None and other["id"] == row["id"]):
        return filled
    message = visit.say("form.taken", title=other[entity.title.name])
    asked = [field.name for field in asked_fields(visit.world, entity)]
    name = next(name for name in asked if name in entity.apart)
    return filled._replace(messages={name: message})


def is_sure(visit: WorldVisit, given: Mapping[str, str]) -> bool:
    """Return whether a valid form may be saved without a further confirmation."""
    return visit.world.behaviour.sure is None or SURE in given


def show_form(
    visit: WorldVisit,
    entity: Entity,
    row: Row | None,
    *,
    texts: Mapping[str, str],
    messages: Mapping[str, str] | None = None,
    view: View | None = None,
    asks_again: bool = False,
    message: str = "",
    status: int = UNAVAILABLE,
) -> Response:
    """Answer with a form: `texts` and `messages` (errors) are by field; `row` is None for a new row.

    `asks_again`: whether the form asks for a second confirmation; `message`: why it was not saved otherwise, which
    `status` says by a number.
    """
    choices = visit.choices(entity)
    page = visit.pages.form(
        entity,
        row,
        texts=texts,
        choices=choices,
        messages=messages or {},
        view=view,
        asks_again=asks_again,
        message=message,
    )
    if message:
        return answer(page, status)
    return answer(page, HTTPStatus.UNPROCESSABLE_ENTITY if messages else HTTPStatus.OK)


def hinder(
    request: Request,
    visit: WorldVisit,
    entity: Entity,
    row: Row | None,
    given: Mapping[str, str],
    *,
    view: View | None = None,
) -> Response | None:
    """Return the answer to a valid form that a fault of the visit keeps from its row; None: nothing does."""
    if visit.trouble.strikes(Fault.SESSION_ENDS):
        return end_session(visit.memory, request)
    if visit.trouble.strikes(Fault.SAVE_FAILS):
        return show_form(
            visit,
            entity,
            row,
            texts=given,
            view=view,
            message=visit.say("form.not_saved", code=UNAVAILABLE),
        )
    other = visit.trouble.other
    if other is None or row is None or not visit.trouble.is_stale(entity.name, int(row["id"] or 0)):
        return None
    change_row(visit.database, entity, other.row, {other.field: other.value})
    present = find_row(visit.database, entity, other.row) or row
    label = entity.field(other.field).label
    conflict = HTTPStatus.CONFLICT.value
    message = visit.say("form.changed_meanwhile", field=label, code=conflict)
    texts = form_texts(visit.world, entity, present)
    return show_form(
        visit, entity, present, texts=texts, view=view, message=message, status=conflict
    )


async def read_body(request: Request) -> dict[str, str]:
    """Return the fields of a form; repeated fields are joined as tags.

    Raises:
        HTTPException: the body is too large, or not a form.
    """
    given = dict[str, str]()
    for name, text in await read_pairs(request):
        given[name] = TAG_PARTING.join((given[name], text)) if name in given else text
    return given


async def read_pairs(request: Request) -> list[tuple[str, str]]:
    """Return the names and values of a form, in order.

    Raises:
        HTTPException: the body is too large, or not a form.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    try:
        return parse_qsl(body.decode(), keep_blank_values=True, errors="strict")
    except ValueError:
        raise HTTPException(HTTPStatus.BAD_REQUEST) from None
