"""The site of an application that one file describes.

A visit leases a server, alone or beside others that tell themselves apart, and puts it into the state of the
task's seed. A task ends with the policy's answer: then, once what the page still had to save is saved, the
server's state is read and judged, with the answer, by what the task expects. What a page says counts for
nothing.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Self
from urllib.parse import urlsplit

from aiohttp import web

from generators.browser.protocol import ClockSpec, Cookie, Session, SignIn
from generators.sites.application.lease import Lease
from generators.sites.application.proxy import COOKIE, forward, visit_of
from generators.sites.application.server import Server
from generators.sites.gateway import Gateway
from generators.sites.protocol import Judge, Outcome, Problem, Threshold, Visit
from generators.sites.state import ServerState, judge_states
from schemas.action import Wait
from schemas.application import Application
from schemas.errors import BadConfig, FailureKind, RolloutFailure, boundary
from schemas.masks import Masks
from schemas.task import Task
from schemas.truncation import GOAL_BYTES, truncate

SAVE_MS = 1_000
"""Time that pages get after the answer to save what they have not saved yet, ms of their clock."""

QUIET_SECONDS = 10.0
"""How long their requests may take then."""

_NOT_FOUND = 400


class ApplicationSite:
    """The site. Its owner enters it, which starts a first server, and leaves it, which stops all."""

    repeatable = True
    judge = Judge.SERVER

    def __init__(self, name: str, application: Application, gateway: Gateway) -> None:
        self.name = name
        self._application = application
        self._leases: dict[str, Lease] = {}
        self._free: list[Server] = []
        self._all: list[Server] = []
        self._alone = asyncio.Lock()
        gateway.mount(urlsplit(application.origin).hostname or "", self._serve)

    async def __aenter__(self) -> Self:
        """Start the first server, so that what cannot start is known before any work.

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

    def has_template(self, template_id: str) -> bool:
        """Return whether tasks may be of this template: any name will do."""
        return bool(template_id)

    def threshold(self, template_id: str) -> Threshold | None:
        """Return None: a task is done or it is not."""
        del template_id
        return None

    def area(self, template_id: str) -> tuple[int, int] | None:
        """Return None: pages fill any viewport."""
        del template_id
        return None

    @contextlib.asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        """Lease a server for a visit of `task`, in the state of its seed, and log in."""
        if task.expect is None:
            raise RolloutFailure(
                FailureKind.SITE, f"{self.name}: the task expects nothing, so nothing can be judged"
            )
        async with self._server() as server:
            session, token = secrets.token_hex(16), secrets.token_hex(16)
            values = server.values.with_task(task, session=session)
            await server.reset(values)
            lease = Lease(
                task=task,
                server=server,
                session=session,
                values=values,
                start_path=urlsplit(task.start_url).path or "/",
            )
            sign_in = await self._sign_in(lease, token)
            self._leases[token] = lease
            try:
                yield self._visit(task, token, sign_in)
            finally:
                del self._leases[token]

    def _visit(self, task: Task, token: str, sign_in: SignIn) -> Visit:
        application = self._application
        clock = ClockSpec()
        if application.clock is not None:
            clock = ClockSpec(start_ms=round(application.clock.at.timestamp() * 1_000))
        return Visit(
            start_url=task.start_url,
            allowed_origins=(application.origin,),
            clock=clock,
            seed=str(task.seed),
            parameters=task.parameters,
            masks=None if application.masks == Masks() else application.masks,
            sign_in=sign_in,
            lease=token,
        )

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Return the task's instruction as the problem, once its start page was served."""
        del session
        lease = self._lease(visit.lease)
        if lease.server.broken:
            raise RolloutFailure(FailureKind.SITE, lease.server.broken)
        if lease.start_status is not None and lease.start_status >= _NOT_FOUND:
            raise RolloutFailure(
                FailureKind.SITE,
                f"{self.name}: the start page {lease.start_path} answered {lease.start_status}",
            )
        problem = Problem(goal=truncate(lease.task.instruction, GOAL_BYTES), nonce=visit.lease)
        lease.before = await self.state(problem)
        return problem

    async def state(self, problem: Problem) -> ServerState:
        """Return what the visit's server holds, read again if its pages have asked for something since."""
        lease = self._lease(problem.nonce)
        if lease.read is None or lease.read[0] != lease.requests or lease.pending:
            if lease.server.broken:
                raise RolloutFailure(FailureKind.SITE, lease.server.broken)
            asked = lease.requests
            lease.read = asked, await lease.server.read_state(lease.values)
        return lease.read[1]

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return that the task goes on, or, with its answer, how the server's state was judged."""
        lease = self._lease(problem.nonce)
        if lease.server.broken:
            raise RolloutFailure(FailureKind.SITE, lease.server.broken)
        if lease.outcome is not None:
            return lease.outcome
        if answer is None:
            return Outcome(reward=0.0, done=False)
        await session.act(Wait(ms=SAVE_MS))
        await self._await_quiet(lease)
        if lease.before is None:
            raise AssertionError("a visit was judged that has not begun")
        after = await self.state(problem)
        with boundary(FailureKind.SITE, f"{self.name}: judging"):
            judgement = await judge_states(
                lease.task, before=lease.before, after=after, answer=answer
            )
        lease.outcome = Outcome(
            reward=judgement.reward, done=True, because="; ".join(judgement.reasons)
        )
        return lease.outcome

    async def _await_quiet(self, lease: Lease) -> None:
        """Wait until the server has answered all that the pages have asked."""
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                await lease.quiet.wait()
        except TimeoutError:
            raise RolloutFailure(
                FailureKind.SITE,
                f"{self.name}: requests of the page are not answered after {QUIET_SECONDS:g} s",
            ) from None

    def _lease(self, token: str) -> Lease:
        lease = self._leases.get(token)
        if lease is None:
            raise RolloutFailure(FailureKind.SITE, f"{self.name}: the visit has ended")
        return lease

    @contextlib.asynccontextmanager
    async def _server(self) -> AsyncIterator[Server]:
        """Lease a server that works, and replace one that does not."""
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

    async def _sign_in(self, lease: Lease, token: str) -> SignIn:
        """Log in as the application's file says, and name the visit."""
        origin, login = self._application.origin, self._application.login
        cookies: dict[str, str] = {}
        storage: Mapping[str, str] = {}
        if login is not None:
            if login.request is not None:
                _, stated = await lease.server.ask(login.request, lease.values, "login")
                cookies |= _read_cookies(stated)
            cookies |= lease.values.fill_all(login.cookies)
            storage = lease.values.fill_all(login.storage)
        cookies[COOKIE] = token
        return SignIn(
            cookies=tuple(
                Cookie(url=origin, name=name, value=value) for name, value in cookies.items()
            ),
            storage={origin: storage} if storage else {},
        )

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        lease = self._leases.get(visit_of(request))
        if lease is None:
            return web.Response(status=403, text="this session has no visit here")
        return await forward(request, lease, self._application)


def _read_cookies(headers: list[str]) -> dict[str, str]:
    """Return the cookies that `Set-Cookie` fields set."""
    out: dict[str, str] = {}
    for header in headers:
        with contextlib.suppress(CookieError):
            jar = SimpleCookie(header)
            out |= {name: morsel.value for name, morsel in jar.items()}
    return out
