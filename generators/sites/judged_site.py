"""The common part of sites whose tasks are judged by a server's state.

A task ends with the policy's answer. The pages get time to save; then the server's state is read and
judged, with the answer, by the task's expectation. Claims of a page do not count. The session's browser has
a cookie that identifies its visit; pages cannot read it.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from aiohttp import web

from generators.browser.protocol import Session
from generators.sites.protocol import Judge, Outcome, Problem, Threshold, Visit
from generators.sites.state import ServerState, judge_states
from schemas.episodes.action import Wait
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.tasks.task import Task
from schemas.truncation import GOAL_BYTES, truncate

COOKIE = "stepmill-visit"
"""The cookie that identifies a session's visit."""

SAVE_MS = 1_000
"""Time for pages to save after the answer, ms of their clock."""

QUIET_SECONDS = 10.0
"""Time limit for the requests that are open then, seconds."""

_NOT_FOUND = 400


@dataclass(slots=True, kw_only=True)
class OpenVisit:
    """An open visit: its task and progress."""

    task: Task
    """The task."""
    start_status: int | None = None
    """The HTTP status of the start page; None before its request."""
    requests: int = 0
    """Number of requests from the session's pages."""
    pending: int = 0
    """Number of unanswered requests."""
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no request is unanswered."""
    before: ServerState | None = None
    """The state when the problem began; None before that."""
    outcome: Outcome | None = None
    """The problem's outcome; None until it ends."""
    read: tuple[int, ServerState] | None = None
    """The last read state, and the number of requests before it; None before the first read."""

    def __post_init__(self) -> None:
        self.quiet.set()

    @property
    def start_path(self) -> str:
        """The path of the task's start."""
        return urlsplit(self.task.start_url).path or "/"

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request as pending until it is answered."""
        self.requests, self.pending = self.requests + 1, self.pending + 1
        self.quiet.clear()
        try:
            yield
        finally:
            self.pending -= 1
            if not self.pending:
                self.quiet.set()

    def note_answer(self, path: str, status: int) -> None:
        """Note the status of the first answer to a request for the start page."""
        if path == self.start_path and self.start_status is None:
            self.start_status = status


V = TypeVar("V", bound=OpenVisit)


class JudgedSite(ABC, Generic[V]):
    """A site whose tasks its server's state judges; subclasses open visits and read their state."""

    repeatable = True
    judge = Judge.SERVER

    def __init__(self, name: str) -> None:
        self.name = name
        self._visits: dict[str, V] = {}

    @abstractmethod
    async def _read_state(self, visit: V) -> ServerState:
        """Return the state of a visit's server."""

    @abstractmethod
    def _why_broken(self, visit: V) -> str:
        """Return why a visit's server cannot be used, to follow the site's name; empty if it can."""

    def has_template(self, template_id: str) -> bool:
        """Return whether the site has this template: it accepts any name."""
        return bool(template_id)

    def threshold(self, template_id: str) -> Threshold | None:
        """Return None: a task is done or not, without a threshold."""
        del template_id
        return None

    def area(self, template_id: str) -> tuple[int, int] | None:
        """Return None: pages fill any viewport."""
        del template_id
        return None

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Return the task's instruction as the problem, after its start page was served."""
        del session
        found = self._visit(visit.lease)
        self._check(found)
        if found.start_status is not None and found.start_status >= _NOT_FOUND:
            raise RolloutFailure(
                FailureKind.SITE,
                f"{self.name}: the start page {found.start_path} answered {found.start_status}",
            )
        problem = Problem(goal=truncate(found.task.instruction, GOAL_BYTES), nonce=visit.lease)
        found.before = await self.state(problem)
        return problem

    async def state(self, problem: Problem) -> ServerState:
        """Return the state of the visit's server, read again if its pages have sent requests since."""
        visit = self._visit(problem.nonce)
        if visit.read is None or visit.read[0] != visit.requests or visit.pending:
            self._check(visit)
            asked = visit.requests
            visit.read = asked, await self._read_state(visit)
        return visit.read[1]

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return that the task goes on or, once there is an answer, the judgement of the server's state."""
        visit = self._visit(problem.nonce)
        self._check(visit)
        if visit.outcome is not None:
            return visit.outcome
        if answer is None:
            return Outcome(reward=0.0, done=False)
        await session.act(Wait(ms=SAVE_MS))
        await self._await_quiet(visit)
        if visit.before is None:
            raise AssertionError("a visit was judged that has not begun")
        after = await self.state(problem)
        with boundary(FailureKind.SITE, f"{self.name}: judging"):
            judgement = await judge_states(
                visit.task,
                before=visit.before,
                after=after,
                answer=answer,
                downloads=session.downloads,
            )
        visit.outcome = Outcome(
            reward=judgement.reward, done=True, because="; ".join(judgement.reasons)
        )
        return visit.outcome

    async def _await_quiet(self, visit: V) -> None:
        """Wait until the server has answered all requests of the pages."""
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                await visit.quiet.wait()
        except TimeoutError:
            raise RolloutFailure(
                FailureKind.SITE,
                f"{self.name}: requests of the page are not answered after {QUIET_SECONDS:g} s",
            ) from None

    def _check(self, visit: V) -> None:
        if broken := self._why_broken(visit):
            raise RolloutFailure(FailureKind.SITE, broken)

    def _check_task(self, task: Task) -> None:
        """Check that a task can be judged.

        Raises:
            RolloutFailure: it has no expectation.
        """
        if task.expect is None:
            raise RolloutFailure(
                FailureKind.SITE, f"{self.name}: the task expects nothing, so nothing can be judged"
            )

    def _visit(self, token: str) -> V:
        visit = self._visits.get(token)
        if visit is None:
            raise RolloutFailure(FailureKind.SITE, f"{self.name}: the visit has ended")
        return visit

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request for the visit that its cookie identifies; refuse it without one."""
        visit = self._visits.get(request.cookies.get(COOKIE, ""))
        if visit is None:
            return web.Response(status=403, text="this session has no visit here")
        with visit.request():
            return await self._answer(request, visit)

    @abstractmethod
    async def _answer(self, request: web.BaseRequest, visit: V) -> web.StreamResponse:
        """Get the reply of a visit's server to a request."""
