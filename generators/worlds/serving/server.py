"""The server of all worlds: one ASGI application, in which each visit has its own database.

A cookie names the visit of a request, and requests read and change only their own visit. A change is answered with a
redirect, so that reloading the page changes nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus

from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from generators.worlds.drawing.look import sign_packages
from generators.worlds.rendering.overlays import (
    ANSWERS,
    Memory,
    frame_of,
    is_part,
    remember,
    take_answer,
    tell,
    way_back,
)
from generators.worlds.rendering.pages import Pages
from generators.worlds.rendering.script_words import PATH as WORDS
from generators.worlds.rendering.script_words import script_words
from generators.worlds.serving.assets import KEPT, own_file, package_file
from generators.worlds.serving.cart import change_cart, count_things
from generators.worlds.serving.faults import SLOW_MS, Trouble, fails_to_load
from generators.worlds.serving.grid_cells import CELLS, edit_cell
from generators.worlds.serving.patterns import SHAPES, add_by_wizard, bulk_actions, do_to_all, reply
from generators.worlds.serving.reserved_acts import ask, may_not
from generators.worlds.serving.visit import (
    UNAVAILABLE,
    WorldVisit,
    answer,
    fill,
    find,
    find_entity,
    go_to,
    hinder,
    is_sure,
    read_body,
    show_form,
    show_row,
    visit_of,
)
from generators.worlds.state.database import (
    Chosen,
    add_row,
    change_row,
    delete_row,
    linked_rows,
    list_rows,
    open_database,
    read_tables,
)
from generators.worlds.state.form_fields import Choices, form_texts, new_row
from schemas.worlds.fault import Fault
from schemas.worlds.permissions import Act
from schemas.worlds.world import Entity, View, World

_PAGE_DIGITS = 9

_HINT_AFTER = 2
"""The number of pages after which the window of a fault opens."""


class WorldServer:
    """The ASGI application. The caller that opens a visit closes it."""

    def __init__(self, cookie: str) -> None:
        """`cookie` is the name of the cookie that holds the visit's token."""
        self._cookie = cookie
        self._visits: dict[str, WorldVisit] = {}
        both, post = ["GET", "POST"], ["POST"]
        self._application = Starlette(
            routes=[
                Route("/", _home),
                Route("/_/style.css", _style),
                Route(WORDS, _words),
                Route("/_/packages/{path:path}", _package),
                Route("/_/own/{name}", _own),
                Route(ANSWERS + "{name}", _take_answer, methods=post),
                Route("/{view}", _view, methods=both),
                Route(CELLS + "{view}/{id:int}/{field}", edit_cell, methods=both),
                Route("/{entity}/new", _add, methods=both),
                Route("/{entity}/{id:int}", _row),
                Route("/{entity}/{id:int}/sheet", _sheet),
                Route("/{entity}/{id:int}/edit", _edit, methods=both),
                Route("/{entity}/{id:int}/delete", _delete, methods=both),
                Route("/{entity}/{id:int}/reply", reply, methods=post),
                Route("/{entity}/{id:int}/do/{step}", _take_step, methods=post),
                Route("/{entity}/{id:int}/ask/{act}", ask, methods=post),
                Route("/{entity}/{id:int}/cart/{act}", change_cart, methods=post),
            ],
            exception_handlers={HTTPException: _refuse},
        )

    def open(
        self, world: World, database: bytes, token: str, trouble: Trouble | None = None
    ) -> None:
        """Open a visit of a world, with a copy of its database.

        Requests name the visit by `token`; `trouble` is what goes wrong on it, None: nothing.
        """
        trouble = trouble or Trouble()
        memory = Memory(hint_after=_HINT_AFTER if trouble.fault is Fault.DIALOG else None)
        pages = Pages(world)
        self._visits[token] = WorldVisit(world, open_database(database), pages, memory, trouble)

    def close(self, token: str) -> None:
        """Close a visit and discard its data."""
        self._visits.pop(token).database.close()

    def state(self, token: str) -> JsonValue:
        """Return the state of a visit: all rows by entity."""
        visit = self._visits[token]
        return read_tables(visit.database, visit.world)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope)
        visit = self._visits.get(request.cookies.get(self._cookie, ""))
        if visit is None:
            refusal = PlainTextResponse("this session has no visit here", HTTPStatus.FORBIDDEN)
            await refusal(scope, receive, send)
            return
        frame = frame_of(visit.world, visit.memory, request)._replace(in_cart=count_things(visit))
        if fails_to_load(visit.trouble, visit.world, request):
            await _fail(replace(visit, pages=visit.pages.with_frame(frame)))(scope, receive, send)
            return
        framed = replace(visit, pages=visit.pages.with_frame(frame))

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                remember(visit.memory, visit.world.behaviour, request, message["status"])
            await send(message)

        await self._application({**scope, "visit": framed}, receive, tell)


def _fail(visit: WorldVisit) -> Response:
    """Return the answer with which a page fails to load."""
    return _error(visit, HTTPStatus.SERVICE_UNAVAILABLE, "errors.not_loaded")


_ERRORS = {
    HTTPStatus.BAD_REQUEST: "bad_request",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.SERVICE_UNAVAILABLE: "unavailable",
}
"""The names of the errors that pages answer, in the words of the catalogue."""


def _error(visit: WorldVisit, status: HTTPStatus, key: str) -> Response:
    """Return the page of an error, headed by its number and name; `key` is what it says."""
    heading = f"{status.value} {visit.say(f'errors.{_ERRORS[status]}')}"
    return answer(visit.pages.notice(heading, visit.say(key)), status)


async def _refuse(request: Request, error: Exception) -> Response:
    """Answer an error with a page that has the navigation; a 404 has its own message."""
    if not isinstance(error, HTTPException):
        raise TypeError("this handler answers HTTPException only") from error
    status = HTTPStatus(error.status_code)
    name = _ERRORS[status]
    key = "errors.no_page" if status is HTTPStatus.NOT_FOUND else f"errors.{name}"
    response = _error(visit_of(request), status, key)
    response.headers.update(error.headers or {})
    return response


async def _home(request: Request) -> Response:
    return answer(visit_of(request).pages.home())


async def _style(request: Request) -> Response:
    return Response(visit_of(request).pages.style(), media_type="text/css", headers=KEPT)


async def _words(request: Request) -> Response:
    script = script_words(visit_of(request).world.language)
    return Response(script, media_type="text/javascript", headers=KEPT)


async def _package(request: Request) -> Response:
    pinned = (*visit_of(request).world.packages, *sign_packages())
    return package_file(request.path_params["path"], pinned)


async def _own(request: Request) -> Response:
    return own_file(request.path_params["name"])


async def _take_answer(request: Request) -> Response:
    visit = visit_of(request)
    take_answer(visit.world, visit.memory, request.path_params["name"], await read_body(request))
    return go_to(way_back(request))


async def _view(request: Request) -> Response:
    visit = visit_of(request)
    asked = request.path_params["view"]
    view = next((one for one in visit.world.views if one.name == asked), None)
    if view is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if view.shape in SHAPES:
        return await SHAPES[view.shape](request, visit, view)
    if request.method == "POST" and view.bulk:
        return await do_to_all(request, visit, view)
    if request.method == "POST":
        raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD"})
    entity = visit.world.entity(view.entity)
    choices = visit.choices(entity)
    chosen = _choice(view, request.query_params, choices)
    listed = list_rows(visit.database, visit.world, view, chosen=chosen)
    frame = visit.pages.frame
    is_whole = not is_part(request) and not frame.bare
    slow = is_whole and visit.trouble.strikes(Fault.SLOW_PAGE)
    pages = visit.pages.with_frame(frame._replace(late_ms=SLOW_MS)) if slow else visit.pages
    return answer(
        pages.listing(
            view,
            listed,
            chosen=chosen,
            choices=choices,
            titles=visit.titles(entity),
            actions=bulk_actions(visit.world, entity) if view.bulk else None,
        )
    )


def _choice(view: View, query: Mapping[str, str], choices: Choices) -> Chosen:
    """Return the search, filters, sorting and page in a view's URL, ignoring options that the view lacks."""
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


async def _row(request: Request) -> Response:
    return show_row(visit_of(request), *find(request))


async def _sheet(request: Request) -> Response:
    visit = visit_of(request)
    entity, row = find(request)
    page = visit.pages.sheet(entity, row, titles=visit.titles(entity))
    if page is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return answer(page)


async def _add(request: Request) -> Response:
    visit, entity = visit_of(request), find_entity(request)
    if not entity.can_add:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if entity.wizard:
        return await add_by_wizard(request, visit, entity)
    if request.method != "POST":
        return show_form(visit, entity, None, texts=_linked_texts(request, visit, entity))
    given = await read_body(request)
    filled = fill(visit, entity, None, given)
    if filled.messages:
        return show_form(visit, entity, None, texts=given, messages=filled.messages)
    if not is_sure(visit, given):
        return show_form(visit, entity, None, texts=given, asks_again=True)
    if (hindered := hinder(request, visit, entity, None, given)) is not None:
        return hindered
    made = add_row(visit.database, entity, new_row(visit.world, entity) | filled.values)
    return go_to(f"/{entity.name}/{made}")


def _linked_texts(request: Request, visit: WorldVisit, entity: Entity) -> dict[str, str]:
    """Return the prefilled field of a form: the day of the calendar from which the form was opened.

    All other fields start empty: users type their values.
    """
    days = {view.day for view in visit.world.views if view.entity == entity.name and view.day}
    return {name: text for name, text in request.query_params.items() if name in days}


async def _edit(request: Request) -> Response:
    visit = visit_of(request)
    entity, row = find(request)
    if not entity.can_edit:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if (held := visit.find_reserved(entity, row, Act.EDIT)) is not None:
        return may_not(request, entity, row, held)
    if request.method != "POST":
        return show_form(visit, entity, row, texts=form_texts(visit.world, entity, row))
    given = await read_body(request)
    filled = fill(visit, entity, row, given)
    if filled.messages:
        return show_form(visit, entity, row, texts=given, messages=filled.messages)
    if not is_sure(visit, given):
        return show_form(visit, entity, row, texts=given, asks_again=True)
    if (hindered := hinder(request, visit, entity, row, given)) is not None:
        return hindered
    change_row(visit.database, entity, int(row["id"] or 0), filled.values)
    return go_to(f"/{entity.name}/{row['id']}")


async def _delete(request: Request) -> Response:
    visit = visit_of(request)
    entity, row = find(request)
    if not entity.can_delete:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if (held := visit.find_reserved(entity, row, Act.DELETE)) is not None:
        return may_not(request, entity, row, held)
    if request.method != "POST":
        return answer(visit.pages.delete(entity, row))
    linked = linked_rows(visit.database, visit.world, entity, int(row["id"] or 0))
    if linked:
        others = visit.say("rows.between").join(other.many for other, _ in linked)
        message = visit.say("rows.others_refer", many=others)
        return answer(visit.pages.delete(entity, row, message=message), HTTPStatus.CONFLICT)
    if visit.trouble.strikes(Fault.SAVE_FAILS):
        page = visit.pages.delete(entity, row, message=visit.say("rows.not_done", code=UNAVAILABLE))
        return answer(page, HTTPStatus.SERVICE_UNAVAILABLE)
    delete_row(visit.database, entity, int(row["id"] or 0))
    tell(visit.world, visit.memory, "rows.deleted", [str(row[entity.title.name])])
    return go_to(visit.pages.list_address(entity))


async def _take_step(request: Request) -> Response:
    visit = visit_of(request)
    entity, row = find(request)
    flow = visit.world.workflow(entity.name)
    asked = request.path_params["step"]
    step = next((one for one in flow.transitions if one.name == asked), None) if flow else None
    if flow is None or step is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if row[flow.field] not in step.before:
        message = visit.say("rows.not_now", step=step.label)
        return show_row(visit, entity, row, message=message, status=HTTPStatus.CONFLICT)
    if (held := visit.find_reserved(entity, row, f"do-{step.name}")) is not None:
        return may_not(request, entity, row, held)
    if visit.trouble.strikes(Fault.SAVE_FAILS):
        unavailable = HTTPStatus.SERVICE_UNAVAILABLE
        return show_row(
            visit,
            entity,
            row,
            message=visit.say("rows.not_done", code=UNAVAILABLE),
            status=unavailable,
        )
    change_row(visit.database, entity, int(row["id"] or 0), {flow.field: step.after})
    came_from = request.query_params.get("from")
    if any(view.name == came_from for view in visit.world.views):
        return go_to(f"/{came_from}")
    return go_to(f"/{entity.name}/{row['id']}")
