"""The server of all worlds: one ASGI application, in which each visit has a database of its own.

A request names its visit by a cookie, and what it finds and changes is that visit's alone. A change is answered
with the address of what it made, so that a page that is loaded again changes nothing.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl

from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from generators.worlds.database import (
    Chosen,
    Row,
    add_row,
    change_row,
    delete_row,
    find_row,
    find_title,
    linked_rows,
    list_rows,
    open_database,
    read_tables,
    titles_of,
)
from generators.worlds.display import Titles
from generators.worlds.forms import Choices, Filled, field_choices, form_texts, new_row, read_form
from generators.worlds.pages import Pages
from schemas.world import Entity, Transition, View, World

MAX_BODY_BYTES = 1_000_000
"""The largest form that is read, bytes."""

_ID_BOUND = 2**63
_PAGE_DIGITS = 9

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'",
}


@dataclass(frozen=True, slots=True)
class _Visit:
    """A visit while it is open."""

    world: World
    database: sqlite3.Connection
    pages: Pages

    def titles(self, entity: Entity) -> Titles:
        """Return the titles of all rows that an entity's links may lead to."""
        targets = dict.fromkeys(field.target for field in entity.fields if field.target is not None)
        return {name: titles_of(self.database, self.world.entity(name)) for name in targets}

    def choices(self, entity: Entity) -> Choices:
        """Return what may be chosen in the fields of an entity."""
        return field_choices(self.world, entity, self.titles(entity))

    def steps(self, entity: Entity, row: Row) -> list[Transition]:
        """Return the steps of a workflow that a row may take."""
        flow = self.world.workflow(entity.name)
        steps = flow.transitions if flow is not None else ()
        return [step for step in steps if flow is not None and row[flow.field] in step.before]


class WorldServer:
    """The application. Whoever opens a visit closes it."""

    def __init__(self, cookie: str) -> None:
        """`cookie` names a request's visit."""
        self._cookie = cookie
        self._visits: dict[str, _Visit] = {}
        both, post = ["GET", "POST"], ["POST"]
        self._application = Starlette(
            routes=[
                Route("/", _home),
                Route("/_/style.css", _style),
                Route("/{view}", _list),
                Route("/{entity}/new", _add, methods=both),
                Route("/{entity}/{id:int}", _row),
                Route("/{entity}/{id:int}/edit", _edit, methods=both),
                Route("/{entity}/{id:int}/delete", _delete, methods=both),
                Route("/{entity}/{id:int}/do/{step}", _take_step, methods=post),
            ],
            exception_handlers={HTTPException: _refuse},
        )

    def open(self, world: World, database: bytes, token: str) -> None:
        """Begin a visit of a world that requests name by `token`, with a copy of the world's database."""
        self._visits[token] = _Visit(world, open_database(database), Pages(world))

    def close(self, token: str) -> None:
        """End a visit; what it held is gone."""
        self._visits.pop(token).database.close()

    def state(self, token: str) -> JsonValue:
        """Return what a visit holds: all rows by entity."""
        visit = self._visits[token]
        return read_tables(visit.database, visit.world)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        visit = self._visits.get(Request(scope).cookies.get(self._cookie, ""))
        if visit is None:
            refusal = PlainTextResponse("this session has no visit here", HTTPStatus.FORBIDDEN)
            await refusal(scope, receive, send)
            return
        await self._application({**scope, "visit": visit}, receive, send)


def _visit(request: Request) -> _Visit:
    visit: _Visit = request.scope["visit"]
    return visit


def _answer(page: str, status: int = HTTPStatus.OK) -> Response:
    return HTMLResponse(page, status, headers=_HEADERS)


def _go_to(address: str) -> Response:
    return RedirectResponse(address, HTTPStatus.SEE_OTHER, headers=_HEADERS)


async def _refuse(request: Request, error: Exception) -> Response:
    """Answer what cannot be served, with the navigation; an address that is no page is told in plain words."""
    if not isinstance(error, HTTPException):
        raise TypeError("only what was refused is answered here") from error
    status = HTTPStatus(error.status_code)
    message = (
        "There is no page at this address." if status is HTTPStatus.NOT_FOUND else error.detail
    )
    response = _answer(_visit(request).pages.notice(status.phrase, message), status)
    response.headers.update(error.headers or {})
    return response


async def _home(request: Request) -> Response:
    return _answer(_visit(request).pages.home())


async def _style(request: Request) -> Response:
    return Response(_visit(request).pages.style(), media_type="text/css", headers=_HEADERS)


async def _list(request: Request) -> Response:
    visit = _visit(request)
    asked = request.path_params["view"]
    view = next((one for one in visit.world.views if one.name == asked), None)
    if view is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    entity = visit.world.entity(view.entity)
    choices = visit.choices(entity)
    chosen = _chosen(view, request.query_params, choices)
    listed = list_rows(visit.database, visit.world, view, chosen=chosen)
    return _answer(
        visit.pages.listing(
            view, listed, chosen=chosen, choices=choices, titles=visit.titles(entity)
        )
    )


def _chosen(view: View, query: Mapping[str, str], choices: Choices) -> Chosen:
    """Return what a view's address asks for; what the view does not offer counts as not asked."""
    sort = query.get("sort", "")
    page = query.get("page", "")
    offered = sort.removeprefix("-") in view.sorts
    return Chosen(
        search=query.get("q", "").strip() if view.searched else "",
        filters={
            name: query[name]
            for name in view.filters
            if name in query and query[name] in choices[name]
        },
        sort=sort.removeprefix("-") if offered else "",
        descending=offered and sort.startswith("-"),
        page=int(page) if page.isascii() and page.isdigit() and len(page) <= _PAGE_DIGITS else 1,
    )


def _find_entity(request: Request) -> Entity:
    try:
        return _visit(request).world.entity(request.path_params["entity"])
    except KeyError:
        raise HTTPException(HTTPStatus.NOT_FOUND) from None


def _find(request: Request) -> tuple[Entity, Row]:
    """Return the row that an address names, and whose it is."""
    entity, row_id = _find_entity(request), request.path_params["id"]
    row = find_row(_visit(request).database, entity, row_id) if row_id < _ID_BOUND else None
    if row is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return entity, row


async def _row(request: Request) -> Response:
    return _show_row(_visit(request), *_find(request))


def _show_row(
    visit: _Visit, entity: Entity, row: Row, *, message: str = "", status: int = HTTPStatus.OK
) -> Response:
    return _answer(
        visit.pages.row(
            entity,
            row,
            titles=visit.titles(entity),
            steps=visit.steps(entity, row),
            linked=linked_rows(visit.database, visit.world, entity, int(row["id"] or 0)),
            message=message,
        ),
        status,
    )


async def _add(request: Request) -> Response:
    visit, entity = _visit(request), _find_entity(request)
    if not entity.can_add:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if request.method != "POST":
        return _show_form(visit, entity, None, texts={})
    given = await _read_body(request)
    filled = _fill(visit, entity, None, given)
    if filled.messages:
        return _show_form(visit, entity, None, texts=given, messages=filled.messages)
    made = add_row(visit.database, entity, new_row(visit.world, entity) | filled.values)
    return _go_to(f"/{entity.name}/{made}")


async def _edit(request: Request) -> Response:
    visit = _visit(request)
    entity, row = _find(request)
    if not entity.can_edit:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if request.method != "POST":
        return _show_form(visit, entity, row, texts=form_texts(entity, row))
    given = await _read_body(request)
    filled = _fill(visit, entity, row, given)
    if filled.messages:
        return _show_form(visit, entity, row, texts=given, messages=filled.messages)
    change_row(visit.database, entity, int(row["id"] or 0), filled.values)
    return _go_to(f"/{entity.name}/{row['id']}")


def _fill(visit: _Visit, entity: Entity, row: Row | None, given: Mapping[str, str]) -> Filled:
    """Return what a form was read as; no two rows may have one title."""
    choices = visit.choices(entity)
    filled = read_form(visit.world, entity, given, choices=choices, before=row)
    title = entity.title
    if title.name in filled.values:
        other = find_title(visit.database, entity, filled.values[title.name])
        if other is not None and (row is None or other != row["id"]):
            message = f"Another {entity.one} has this {title.label}."
            return filled._replace(messages={**filled.messages, title.name: message})
    return filled


def _show_form(
    visit: _Visit,
    entity: Entity,
    row: Row | None,
    *,
    texts: Mapping[str, str],
    messages: Mapping[str, str] | None = None,
) -> Response:
    choices = visit.choices(entity)
    page = visit.pages.form(entity, row, texts=texts, choices=choices, messages=messages or {})
    return _answer(page, HTTPStatus.UNPROCESSABLE_ENTITY if messages else HTTPStatus.OK)


async def _delete(request: Request) -> Response:
    visit = _visit(request)
    entity, row = _find(request)
    if not entity.can_delete:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if request.method != "POST":
        return _answer(visit.pages.delete(entity, row))
    linked = linked_rows(visit.database, visit.world, entity, int(row["id"] or 0))
    if linked:
        others = ", ".join(other.many for other, _ in linked)
        message = f"This cannot be deleted, because others refer to it: {others}."
        return _answer(visit.pages.delete(entity, row, message=message), HTTPStatus.CONFLICT)
    delete_row(visit.database, entity, int(row["id"] or 0))
    return _go_to(visit.pages.list_address(entity))


async def _take_step(request: Request) -> Response:
    visit = _visit(request)
    entity, row = _find(request)
    flow = visit.world.workflow(entity.name)
    asked = request.path_params["step"]
    step = next((one for one in flow.transitions if one.name == asked), None) if flow else None
    if flow is None or step is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if row[flow.field] not in step.before:
        message = f"{step.label}: this cannot be done now."
        return _show_row(visit, entity, row, message=message, status=HTTPStatus.CONFLICT)
    change_row(visit.database, entity, int(row["id"] or 0), {flow.field: step.after})
    return _go_to(f"/{entity.name}/{row['id']}")


async def _read_body(request: Request) -> dict[str, str]:
    """Return the fields of a form; of a field that is there twice the last.

    Raises:
        HTTPException: it is too large, or no form.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, errors="strict"))
    except ValueError:
        raise HTTPException(HTTPStatus.BAD_REQUEST) from None
