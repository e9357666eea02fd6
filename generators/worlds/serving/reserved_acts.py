"""Answers to reserved acts: a page that refuses the act, and a new request for it."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from generators.worlds.rendering.overlays import tell
from generators.worlds.serving.visit import answer, find, go_to, show_row, visit_of
from generators.worlds.state.database import Row, add_row, next_id
from generators.worlds.state.permissions import Withheld, new_request
from schemas.worlds.world import Entity


def may_not(request: Request, entity: Entity, row: Row, held: Withheld) -> Response:
    """Answer that the signed-in user's role may not perform an act on a row."""
    page = visit_of(request).pages.reserved_page(entity, row, held)
    return answer(page, HTTPStatus.FORBIDDEN if request.method == "POST" else HTTPStatus.OK)


async def ask(request: Request) -> Response:
    """Add a request for a reserved act on a row."""
    visit = visit_of(request)
    entity, row = find(request)
    permissions, held = (
        visit.world.permissions,
        visit.find_reserved(entity, row, request.path_params["act"]),
    )
    if permissions is None or permissions.requests is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if held is None:
        message = visit.say("roles.nobody")
        return show_row(visit, entity, row, message=message, status=HTTPStatus.CONFLICT)
    asked, number = visit.world.entity(permissions.requests.entity), int(row["id"] or 0)
    made = next_id(visit.database, asked)
    added = new_request(visit.world, permissions.requests, number, made, held.label)
    add_row(visit.database, asked, added)
    tell(visit.world, visit.memory, "roles.sent", [str(added[asked.title.name])])
    return go_to(f"/{entity.name}/{number}")
