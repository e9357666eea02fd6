"""The common part of sites whose tasks are judged by a server's state.

A task ends with the policy's answer. The pages get time to save; then the server's state is read and
judged, with the answer, by the task's expectation. Claims of a page do not count. The session's browser has
a cookie that identifies its visit, and from then on its entrance does; pages cannot read it.
"""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from aiohttp import web

from generators.browser.protocol import Session
from generators.sites.gateway import ENTRANCE
from generators.sites.protocol import Judge, Outcome, Problem, Threshold, Visit
from generators.sites.state import ServerState, changes_between, judge_states
from schemas.episodes.action import Wait
from schemas.episodes.state_delta import Delta
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.tasks.task import Task
from schemas.truncation import GOAL_BYTES, truncate

COOKIE = "stepmill-visit"
"""The cookie that identifies a session's visit."""

SAVE_MS = 1_000
"""Time for pages to save after the answer, ms of their clock."""

QUIET_SECONDS = 10.0
"""Time limit for the requests that are open then and may save something, seconds."""

READ_SECONDS = 2.0
"""Time limit for the other requests that are open then, seconds."""

_NOT_FOUND = 400
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


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
    saving: int = 0
    """Number of those by methods that may save something, as POST."""
    saves: int = 0
    """Number of requests by these methods, answered or not."""
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no request is unanswered."""
    saved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no request that may save something is unanswered."""
    before: ServerState | None = None
    """The state when the problem began; None before that."""
    outcome: Outcome | None = None
    """The problem's outcome; None until it ends."""
    read: tuple[int, ServerState] | None = None
    """The last read state, and the number of requests before it; None before the first read."""
    told: tuple[int, ServerState] | None = None
    """The state at the last report, and the number of requests that may have saved something by then; None before
    the first report."""

    def __post_init__(self) -> None:
        self.quiet.set()
        self.saved.set()

    @property
    def start_path(self) -> str:
        """The path of the task's start."""
        return urlsplit(self.task.start_url).path or "/"

    @contextlib.contextmanager
    def request(self, method: str) -> Iterator["PendingRequest"]:
        """Count a request as pending until it is answered."""
        pending = PendingRequest(self, may_save=method not in _SAFE_METHODS)
        try:
            yield pending
        finally:
            pending.end()

    def note_answer(self, path: str, status: int) -> None:
        """Note the status of the first answer to a request for the start page."""
        if path == self.start_path and self.start_status is None:
            self.start_status = status


class PendingRequest:
    """An unanswered request of a visit."""

    def __init__(self, visit: OpenVisit, *, may_save: bool) -> None:
        self._visit, self._may_save = visit, may_save
        self._is_open = True
        visit.requests += 1
        visit.pending += 1
        visit.saving += may_save
        visit.saves += may_save
        visit.quiet.clear()
        if may_save:
            visit.saved.clear()

    def end(self) -> None:
        """Count it as answered: its answer is here, or is a stream that goes on."""
        if not self._is_open:
            return
        visit, self._is_open = self._visit, False
        visit.pending -= 1
        visit.saving -= self._may_save
        if not visit.pending:
            visit.quiet.set()
        if not visit.saving:
            visit.saved.set()


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
            return Outcome(reward=0.0, done=False, delta=await self._changes(problem, visit))
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
            reward=judgement.reward,
            done=True,
            because="; ".join(judgement.reasons),
            delta=await self._changes(problem, visit, ends=True),
        )
        return visit.outcome

    async def _changes(self, problem: Problem, visit: V, *, ends: bool = False) -> Delta | None:
        """Return what changed in the server's state since the last report; None: it is too large for a row.

        Until the end the state is read only after a request that may have saved something.
        """
        if visit.before is None:
            return None
        asked, before = visit.told or (0, visit.before)
        if visit.saves == asked and not visit.saving and not ends:
            return Delta()
        asked, after = visit.saves, await self.state(problem)
        visit.told = asked, after
        return await changes_between(before, after)

    async def _await_quiet(self, visit: V) -> None:
        """Wait until the server has answered the pages' requests; not long for those that only read, as a long poll.

        Raises:
            RolloutFailure: one that may save something is not answered.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READ_SECONDS):
                await visit.quiet.wait()
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                await visit.saved.wait()
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
        """Answer a request for the visit of its entrance, which its first cookie identified; refuse it without one.

        Requests between origins have no cookies.
        """
        entrance = request.get(ENTRANCE)
        token = request.cookies.get(COOKIE, "")
        if entrance is not None:
            token = (
                entrance.visits.setdefault(self.name, token)
                if token in self._visits
                else (entrance.visits.get(self.name, ""))
            )
        visit = self._visits.get(token)
        if visit is None:
            return web.Response(status=403, text="this session has no visit here")
        with visit.request(request.method) as pending:
            return await self._answer(request, visit, pending)

    @abstractmethod
    async def _answer(
        self, request: web.BaseRequest, visit: V, pending: PendingRequest
    ) -> web.StreamResponse:
        """Get the reply of a visit's server to a request, which is `pending` until then or until it is a stream."""
