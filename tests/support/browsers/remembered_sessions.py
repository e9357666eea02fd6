"""Sessions that remember: what follows from the same start and the same acts is carried out once.

A replay asks no policy, so what it is shown follows from the visit, the viewport and the actions alone.
Most lies alter something else. A session begins without a browser and gives what another one was shown
after the same acts; with the first act that nobody has carried out yet it opens a real session, does all
that was done so far, and goes on there.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from generators.browser.protocol import Session, Sessions, SessionSpec
from generators.sites.protocol import Outcome, Problem, Site, Visit
from schemas.episodes.action import Action
from schemas.episodes.observation import Effect, Observation

T = TypeVar("T")

Acts = tuple[str, ...]
"""A session's specification and all that was done in it, in words."""


@dataclass(frozen=True)
class RememberedSessions:
    """`Sessions` of a browser, and what they have shown."""

    browser: Sessions
    read: bool = True
    """What is known is not carried out again."""
    known: dict[Acts, asyncio.Future[Any]] = field(default_factory=dict)
    """What came of the last act of each; pending while a session is at it."""

    @property
    def version(self) -> str:
        return self.browser.version

    def carried_out(self) -> Self:
        """Return sessions that are all real, and whose memory is this one."""
        return replace(self, read=False)

    def session(self, spec: SessionSpec) -> AbstractAsyncContextManager[Session]:
        return self._session(spec)

    @asynccontextmanager
    async def _session(self, spec: SessionSpec) -> AsyncIterator[Session]:
        async with AsyncExitStack() as stack:
            yield RememberedSession(self, stack, spec)  # type: ignore[misc]  # what a replay needs


@dataclass
class RememberedSession:
    """As much of a `Session` as a replay uses."""

    _sessions: RememberedSessions
    _stack: AsyncExitStack
    _spec: SessionSpec
    _acts: list[tuple[str, Callable[[Session], Awaitable[Any]]]] = field(default_factory=list)
    _real: Session | None = None
    problem: Problem | None = None
    """The problem of the real session; None: there is none."""

    async def open(self, url: str) -> None:
        await self.give(f"open {url}", lambda session: session.open(url))

    async def observe(self) -> Observation:
        return await self.give("observe", lambda session: session.observe())

    async def act(self, action: Action) -> Effect:
        return await self.give(action.model_dump_json(), lambda session: session.act(action))

    async def give(self, words: str, act: Callable[[Session], Awaitable[T]]) -> T:
        """Return what comes of an act, which is carried out if nobody knows."""
        self._acts.append((words, act))
        acts = (self._spec.model_dump_json(), *(done for done, _ in self._acts))
        known = self._sessions.known
        while self._sessions.read and self._real is None and acts in known:
            coming = known[acts]
            await asyncio.wait([coming])
            if not coming.cancelled():
                found: T = coming.result()
                return found
        own = asyncio.get_running_loop().create_future()
        known.setdefault(acts, own)
        try:
            result = await self._carry_out(act)
        except BaseException:
            if known[acts] is own:
                del known[acts]
            own.cancel()
            raise
        own.set_result(result)
        return result

    async def _carry_out(self, act: Callable[[Session], Awaitable[T]]) -> T:
        if self._real is None:
            self._real = await self._stack.enter_async_context(
                self._sessions.browser.session(self._spec)
            )
            for _, before in self._acts[:-1]:
                await before(self._real)
        return await act(self._real)


@dataclass(frozen=True)
class RememberedSite:
    """A `Site` whose sessions remember."""

    site: Site

    def __getattr__(self, name: str) -> object:
        return getattr(self.site, name)

    async def begin(self, visit: Visit, session: RememberedSession) -> Problem:
        async def begin(real: Session) -> Problem:
            session.problem = await self.site.begin(visit, real)
            return session.problem

        return await session.give(f"begin {visit.model_dump_json()}", begin)

    async def outcome(
        self, _: Problem, session: RememberedSession, *, answer: str | None = None
    ) -> Outcome:
        del answer

        async def outcome(real: Session) -> Outcome:
            assert session.problem is not None
            return await self.site.outcome(session.problem, real)

        return await session.give("outcome", outcome)
