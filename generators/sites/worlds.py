"""The site of all worlds: websites made from specifications, each with an origin of its own.

One application serves all worlds; the gateway calls it in the same process. A world's host is mounted at
the first visit of a task there. The cookie that identifies a visit selects the world and the state.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web
from multidict import CIMultiDict
from starlette.types import ASGIApp, Message, Scope
from typing_extensions import override

from generators.browser.protocol import ClockSpec, Cookie, SignIn
from generators.sites.gateway import Gateway
from generators.sites.judged_site import COOKIE, JudgedSite, OpenVisit, PendingRequest
from generators.sites.protocol import Visit
from generators.sites.state import ServerState
from generators.worlds.drawing.draw import draw_whole
from generators.worlds.packages.lock import check_packages
from generators.worlds.serving.faults import OtherChange, Trouble
from generators.worlds.serving.server import WorldServer
from generators.worlds.state.database import Rows, make_database
from schemas.base import canonical_json
from schemas.episodes.viewport import UsualArea
from schemas.errors import BadTasks, FailureKind, Refusal, RolloutFailure, boundary
from schemas.page_facts import PageFacts
from schemas.tasks.selector import rows_asked
from schemas.tasks.task import Task
from schemas.worlds.fault import Fault
from schemas.worlds.world import SITE, World

NAME = SITE
"""The site's name in tasks."""

AREA = UsualArea(1_024, 768)
"""The window that pages have where a run lists no viewports, CSS px; they are laid out for widths from 390 to 2,560."""

WorldOf = Callable[[Task], tuple[World, Rows]]
"""Returns a task's world and its rows."""


def draw_world_of(task: Task) -> tuple[World, Rows]:
    """Return the world that a task's parameters name, and its rows.

    Raises:
        BadTasks: they name none.
    """
    match task.parameters:
        case {"family": str() as family, "world": int() as seed}:
            return draw_whole(family, seed, rows_asked(task.parameters))
        case _:
            raise BadTasks(
                f"parameters = {canonical_json(task.parameters)}: expected a family of worlds and the seed of a "
                'world, as {"family": "shop", "world": 7}'
            )


def _trouble_of(task: Task) -> Trouble:
    """Return what goes wrong on a task's visits.

    Raises:
        RolloutFailure: the task names no fault that there is.
    """
    match task.parameters:
        case {"fault": str() as name}:
            if name not in set(Fault):
                raise RolloutFailure(
                    FailureKind.SITE,
                    f"{NAME}: there is no fault '{name}'; there are {', '.join(Fault)}",
                )
        case _:
            return Trouble()
    match task.parameters.get("meanwhile"):
        case {"entity": str() as entity, "row": int() as row, "field": str() as column, **more}:
            value = more.get("value")
            said = value if isinstance(value, int | str) else None
            return Trouble(Fault(name), OtherChange(entity, row, column, said))
        case _:
            return Trouble(Fault(name))


@dataclass(slots=True, kw_only=True)
class _WorldVisit(OpenVisit):
    """A visit with its name in the server."""

    token: str


class WorldsSite(JudgedSite[_WorldVisit]):
    """The site of all worlds. Between visits it keeps only the mounted hosts."""

    version = None

    def __init__(self, gateway: Gateway, world_of: WorldOf | None = None) -> None:
        """`world_of` returns a task's world; None: it is drawn from the family and seed of its parameters."""
        super().__init__(NAME)
        self._gateway = gateway
        self._world_of = world_of or draw_world_of
        self._server = WorldServer(COOKIE)
        self._hosts = set[str]()

    @override
    def area(self, template_id: str) -> UsualArea:
        """Return the usual window of every world's pages, which fit others too."""
        del template_id
        return AREA

    @contextlib.asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        """Make the task's world and a visit of it."""
        self._check_task(task)
        world, database = await asyncio.to_thread(self._make, task)
        start = urlsplit(task.start_url)
        if f"{start.scheme}://{start.netloc}" != world.origin:
            raise RolloutFailure(
                FailureKind.SITE,
                f"{self.name}: the task starts at {task.start_url}, and its world is at {world.origin}",
            )
        self._mount(world.host)
        token = secrets.token_hex(16)
        self._server.open(world, database, token, _trouble_of(task))
        self._visits[token] = _WorldVisit(task=task, token=token)
        try:
            yield Visit(
                start_url=task.start_url,
                allowed_origins=(world.origin,),
                clock=ClockSpec(start_ms=round(world.at.timestamp() * 1_000)),
                seed=str(task.seed),
                parameters=task.parameters,
                page=PageFacts(locale=world.locale.replace("_", "-")),
                sign_in=SignIn(cookies=(Cookie(url=world.origin, name=COOKIE, value=token),)),
                lease=token,
            )
        finally:
            del self._visits[token]
            self._server.close(token)

    def _make(self, task: Task) -> tuple[World, bytes]:
        try:
            with boundary(FailureKind.SITE, f"{self.name}: making the world"):
                world, rows = self._world_of(task)
                check_packages(world.packages)
                return world, make_database(world, rows)
        except Refusal as error:
            raise RolloutFailure(FailureKind.SITE, f"{self.name}: {error}") from error

    def _mount(self, host: str) -> None:
        """Mount this site for a host, unless another site has it."""
        if host in self._hosts:
            return
        if self._gateway.serves(host):
            raise RolloutFailure(
                FailureKind.SITE, f"{self.name}: another site has the host {host} already"
            )
        self._gateway.mount(host, self._serve)
        self._hosts.add(host)

    @override
    async def _read_state(self, visit: _WorldVisit) -> ServerState:
        tables = self._server.state(visit.token)
        keys = dict.fromkeys(tables, "id") if isinstance(tables, dict) else {}
        return ServerState(tables, keys=keys)

    @override
    def _why_broken(self, visit: _WorldVisit) -> str:
        return ""

    @override
    async def _answer(
        self, request: web.BaseRequest, visit: _WorldVisit, pending: PendingRequest
    ) -> web.StreamResponse:
        del pending
        response = await call(self._server, request)
        visit.note_answer(request.path, response.status)
        return response


async def call(
    application: ASGIApp, request: web.BaseRequest, *, cookie: str | None = None
) -> web.Response:
    """Forward a request to an ASGI application, and return its whole response.

    `cookie` replaces the request's own; None: its own is sent.
    """
    response = web.Response()
    body = bytearray()

    async def receive() -> Message:
        chunk = await request.content.readany()
        return {
            "type": "http.request",
            "body": chunk,
            "more_body": not request.content.at_eof(),
        }

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            response.set_status(message["status"])
            response.headers.extend(_header(message["headers"]))
        else:
            body.extend(message.get("body", b""))

    scope = _scope(request)
    if cookie is not None:
        others = [pair for pair in scope["headers"] if pair[0] != b"cookie"]
        scope["headers"] = [*others, (b"cookie", cookie.encode())]
    await application(scope, receive, send)
    response.body = bytes(body)
    return response


def _scope(request: web.BaseRequest) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.rel_url.raw_path.encode(),
        "query_string": request.rel_url.raw_query_string.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in request.headers.items()
        ],
        "server": (request.host, 80),
    }


def _header(pairs: list[tuple[bytes, bytes]]) -> CIMultiDict[str]:
    out = CIMultiDict[str]()
    for name, value in pairs:
        if name.lower() != b"content-length":
            out.add(name.decode("latin-1"), value.decode("latin-1"))
    return out
