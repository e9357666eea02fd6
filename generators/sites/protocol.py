"""The protocol of a site: it leases visits of tasks, seeds them, and judges the attempts.

A site is the only source of reward; a policy's claim never is. If a server keeps the state that a task is
about, the site reads and judges that state and ignores the page's claims. The page is the judge only on
sites without such a server.
"""

from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from generators.browser.protocol import ClockSpec, Session, SessionSpec, SignIn
from generators.sites.state import ServerState
from schemas.base import JsonObject, Record
from schemas.configuration.masks import Masks
from schemas.episodes.state_delta import Delta
from schemas.page_facts import NO_FACTS, PageFacts, says_nothing
from schemas.tasks.task import Task


class Judge(StrEnum):
    """The judge of whether a task was done."""

    PAGE = "page"
    """The page in the browser, by the report of its own code."""
    SERVER = "server"
    """The server's state, which pages cannot forge."""


class Visit(Record):
    """How to visit one task: everything that a session needs before its first observation."""

    start_url: str
    """The page to open, on the site's stable origin."""
    allowed_origins: tuple[str, ...] = Field(min_length=1)
    """The only origins that the session may reach."""
    allowed_paths: tuple[str, ...] = ()
    """The only paths that an action may open there; a path that ends with `/` includes everything below it.
    Empty: any."""
    clock: ClockSpec | None
    """Virtual time; None: real time."""
    seed: str
    """The seed as the page gets it: a string, so that no bit is lost in a float."""
    parameters: JsonObject = Field(default_factory=dict)
    """The template's other parameters, beside the seed."""
    bare: bool = False
    """Whether the site hides its own panels and covers, so that pictures show the task alone, up to and
    after its end. False: the page is shown as served, as in episodes without this field."""

    page: PageFacts = Field(default=NO_FACTS, exclude_if=says_nothing)
    """What its pages find out about their user; not recorded where nothing is set."""
    masks: Masks | None = Field(default=None, exclude_if=lambda masks: masks is None)
    """Parts that may differ between equal visits, left out of hashes and comparisons; None, and then not
    recorded: there are none."""
    sign_in: SignIn | None = Field(default=None, exclude=True, repr=False)
    """The cookies and storage that log the session in; never recorded. None: no login."""
    lease: str = Field(default="", exclude=True, repr=False)
    """Identifies the visit to its site while it is open; never recorded. Empty: the site needs none."""

    def session_spec(
        self,
        *,
        viewport_width: int,
        viewport_height: int,
        device_scale_factor: float = 1.0,
        task: Task | None = None,
    ) -> SessionSpec:
        """Return the settings of a session for this visit; sizes in CSS px.

        `task` has files and facts of its own; None: there are none.
        """
        own = task.page if task is not None else None
        return SessionSpec(
            viewport_width=viewport_width,
            viewport_height=viewport_height,
            device_scale_factor=device_scale_factor,
            allowed_origins=self.allowed_origins,
            allowed_paths=self.allowed_paths,
            clock=self.clock,
            chance=None if self.clock is None else self.seed,
            masks=self.masks,
            sign_in=self.sign_in,
            files=tuple((task.files if task is not None else None) or ()),
            page=self.page if own is None else own.over(self.page),
        )


class Problem(Record):
    """The one problem of a visit, which the outcome of its session is about."""

    goal: str
    """The goal in words, as the page states it."""
    nonce: str
    """Identifies this visit's problem. Other visits and pages that the session loads later do not have it;
    an outcome without this nonce does not count."""


class Outcome(Record):
    """The site's report on an attempt."""

    reward: float | None
    """The raw, undiscounted reward, a finite number; None: the site reports none."""
    done: bool
    """Whether the task is over, won or lost."""
    because: str = ""
    """Expected and found values, for authors of tasks; never recorded. Empty: the site gives none."""
    delta: Delta | None = None
    """What changed in the server's state since the report before; None: the page is the judge, or the change is
    too large for a row."""


class Threshold(Record):
    """A template's own minimum reward, for continuous scores that give a perfect answer less than 1."""

    reward: float
    """The lowest raw reward that counts as success."""
    reason: str
    """Why it differs from the run's, in a sentence for readers of the data."""


class Site(Protocol):
    """Serves a task's pages; its owner starts and stops it."""

    @property
    def name(self) -> str:
        """The site's name in tasks."""
        ...

    @property
    def version(self) -> str | None:
        """The version of the pages that it serves; None if unknown."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether equal tasks and actions give equal DOMs, byte for byte except for masked parts."""
        ...

    @property
    def judge(self) -> Judge:
        """The judge of whether a task was done."""
        ...

    def has_template(self, template_id: str) -> bool:
        """Return whether the site has this template."""
        ...

    def threshold(self, template_id: str) -> Threshold | None:
        """Return the template's own threshold; None: the run's `accept.min_reward` applies."""
        ...

    def area(self, template_id: str) -> tuple[int, int] | None:
        """Return width and height that a template's page needs, CSS px; None: it fits any viewport.

        A `UsualArea` is what a page gets that fits others too, where a run lists no viewports.
        """
        ...

    def open(self, task: Task) -> AbstractAsyncContextManager[Visit]:
        """Lease a visit of `task`, with a state of its own, and end it with the context.

        Raises:
            RolloutFailure: the site cannot serve the task.
        """
        ...

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Put the loaded page into the visit's seeded state and return its problem.

        The site does so once a visit; no later action draws another problem that the session could be
        rewarded for. A goal from the page is truncated (see `schemas/truncation.py`).

        Raises:
            RolloutFailure: the page throws or does not answer.
        """
        ...

    async def state(self, problem: Problem) -> ServerState | None:
        """Return the server's state for the problem's visit; None if the page is the judge.

        Raises:
            RolloutFailure: the server does not answer, or its state is invalid.
        """
        ...

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return the problem's outcome so far; `answer` is the policy's latest answer, if it gave one.

        The first end counts; later events, even within the same action, change nothing. If the page is the
        judge, a session that has left the problem's page has lost.

        Raises:
            RolloutFailure: the page or the server does not answer.
        """
        ...
