"""The site of an application that one file describes.

A visit leases a server and puts it into the state of the task's seed. Other visits may share a server that
tells visits apart.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Self
from urllib.parse import urlsplit

from aiohttp import web
from typing_extensions import override

from generators.browser.protocol import ClockSpec, Cookie, SignIn
from generators.sites.application.lease import Lease
from generators.sites.application.login import log_in, user_of
from generators.sites.application.proxy import forward
from generators.sites.application.server_handle import Server
from generators.sites.gateway import Gateway
from generators.sites.judged_site import COOKIE, JudgedSite, PendingRequest
from generators.sites.protocol import Visit
from generators.sites.state import ServerState
from schemas.configuration.application import Application
from schemas.configuration.masks import Masks
from schemas.errors import BadConfig, RolloutFailure
from schemas.tasks.task import Task


class ApplicationSite(JudgedSite[Lease]):
    """The site. Its owner enters it, which starts a first server, and leaves it, which stops all."""

    def __init__(self, name: str, application: Application, gateway: Gateway) -> None:
        super().__init__(name)
        self._application = application
        self._free: list[Server] = []
        self._all: list[Server] = []
        self._alone = asyncio.Lock()
        for origin in application.all_origins:
            gateway.mount(urlsplit(origin).hostname or "", self._serve)

    async def __aenter__(self) -> Self:
        """Start the first server, so that a faulty application is found before any work.

        Raises:
            BadConfig: it does not start or answer.
        """
        try:
            self._free.append(await self._add())
        except RolloutFailure as failure:
            await self._stop_all()
            message = failure.message.removeprefix(f"{self.name}: ")
            raise BadConfig(f"sites.{self.name}: {message}") from failure
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop every server."""
        await self._stop_all()

    @property
    def version(self) -> str | None:
        """The version that the file states."""
        return self._application.version

    @contextlib.asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        """Lease a server for a visit of `task`, in the state of its seed, and log in."""
        self._check_task(task)
        async with self._server() as server:
            session, token = secrets.token_hex(16), secrets.token_hex(16)
            with self._name_failures():
                values = server.values.with_task(task, session=session)
                values = user_of(self._application, task, values)
                await server.reset(values)
                signed_in = await log_in(self._application, server, values)
            lease = Lease(task=task, server=server, session=session, values=values)
            sign_in = self._identify(signed_in, token)
            self._visits[token] = lease
            try:
                yield self._describe(task, token, sign_in)
            finally:
                del self._visits[token]

    @contextlib.contextmanager
    def _name_failures(self) -> Iterator[None]:
        """Have a failure begin with the site's name."""
        try:
            yield
        except RolloutFailure as failure:
            if failure.message.startswith(f"{self.name}: "):
                raise
            raise RolloutFailure(failure.kind, f"{self.name}: {failure.message}") from failure

    def _identify(self, signed_in: SignIn, token: str) -> SignIn:
        """Add the cookie that identifies the visit, at each of the application's origins."""
        own = [
            Cookie(url=origin, name=COOKIE, value=token) for origin in self._application.all_origins
        ]
        return signed_in.model_copy(update={"cookies": (*signed_in.cookies, *own)})

    def _describe(self, task: Task, token: str, sign_in: SignIn) -> Visit:
        application = self._application
        clock = ClockSpec()
        if application.clock is not None:
            clock = ClockSpec(start_ms=round(application.clock.at.timestamp() * 1_000))
        return Visit(
            start_url=task.start_url,
            allowed_origins=application.all_origins,
            clock=clock,
            seed=str(task.seed),
            parameters=task.parameters,
            page=application.page,
            masks=None if application.masks == Masks() else application.masks,
            sign_in=sign_in,
            lease=token,
        )

    @override
    async def _read_state(self, visit: Lease) -> ServerState:
        return await visit.server.read_state(visit.values)

    @override
    def _why_broken(self, visit: Lease) -> str:
        return visit.server.broken

    @override
    async def _answer(
        self, request: web.BaseRequest, visit: Lease, pending: PendingRequest
    ) -> web.StreamResponse:
        return await forward(request, visit, self._application, pending)

    @contextlib.asynccontextmanager
    async def _server(self) -> AsyncIterator[Server]:
        """Lease a usable server; replace a broken one."""
        application = self._application
        alone = application.visits == "one"
        async with contextlib.AsyncExitStack() as stack:
            if alone and application.start.url is not None:
                await stack.enter_async_context(self._alone)
            if alone:
                server = self._free.pop() if self._free else await self._add()
            else:
                async with self._alone:
                    server = next((one for one in self._all if not one.broken), None) or (
                        await self._add()
                    )
            try:
                yield server
            finally:
                if alone and application.reset is not None and not server.broken:
                    self._free.append(server)
                elif alone or server.broken:
                    await self._drop(server)

    async def _add(self) -> Server:
        server = Server(self.name, self._application)
        self._all.append(server)
        try:
            await server.start()
        except BaseException:
            await asyncio.shield(self._drop(server))
            raise
        return server

    async def _drop(self, server: Server) -> None:
        if server in self._all:
            self._all.remove(server)
        if server in self._free:
            self._free.remove(server)
        await server.stop()

    async def _stop_all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for server in list(self._all):
                group.create_task(self._drop(server))
