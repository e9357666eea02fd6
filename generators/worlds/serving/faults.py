"""What goes wrong on a visit whose task names a fault: once, at a place that the visit's requests decide.

A fault changes no row but the one that a stale form is about, and that change is a part of what the task expects.
"""

from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from generators.worlds.rendering.overlays import PART, Memory, is_part
from generators.worlds.serving.assets import HEADERS
from generators.worlds.state.database import Value
from schemas.worlds.fault import Fault
from schemas.worlds.world import World

SLOW_MS = 3_000
"""The page's time after which the rows of a slow list come, ms."""


@dataclass(frozen=True, slots=True)
class OtherChange:
    """The change of a row that somebody else makes while its form is open."""

    entity: str
    """The row's entity."""
    row: int
    """The row's id."""
    field: str
    """The field that changes."""
    value: Value
    """Its new value."""


@dataclass(slots=True)
class Trouble:
    """The fault of a visit, and whether it has happened."""

    fault: Fault | None = None
    """None: nothing goes wrong."""
    other: OtherChange | None = None
    """The change of a stale row; None for other faults."""
    is_over: bool = field(default=False)
    """Whether it has happened."""

    def strikes(self, *faults: Fault) -> bool:
        """Return whether one of these happens now; it does once."""
        if self.is_over or self.fault not in faults:
            return False
        self.is_over = True
        return True

    def is_stale(self, entity: str, row: int) -> bool:
        """Return whether a form of a row is stale now; it is once."""
        is_its = self.other is not None and (self.other.entity, self.other.row) == (entity, row)
        return is_its and self.strikes(Fault.STALE_ROW)


def fails_to_load(trouble: Trouble, world: World, request: Request) -> bool:
    """Return whether a request for a view is answered with an error."""
    views = {view.name for view in world.views}
    is_view = request.method == "GET" and request.url.path.removeprefix("/") in views
    is_shell = world.behaviour.delivery.value == "single_page" and PART not in request.headers
    return is_view and not is_part(request) and not is_shell and trouble.strikes(Fault.PAGE_FAILS)


def end_session(memory: Memory, request: Request) -> Response:
    """Sign the user out, and return the way back to the form's own page, which asks for the name."""
    memory.is_signed_out = True
    form, path = urlsplit(request.headers.get("Referer", "")), request.url.path
    query = f"?{form.query}" if form.query and form.path == path else ""
    return RedirectResponse(path + query, HTTPStatus.FOUND, headers=HEADERS)
