"""The protocol of a site: it leases visits of tasks, seeds them, and judges what came of them.

A site is the only source of reward; a policy's claim is never one. Where a server keeps the state that a
task is about, the site reads and judges that state, and nothing that a page says; only of a site whose
pages are all there is, is the page the judge.
"""

from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from generators.browser.protocol import ClockSpec, Session, SessionSpec, SignIn
from generators.sites.state import ServerState
from schemas.base import JsonObject, Record
from schemas.configuration.masks import Masks
from schemas.tasks.task import Task


class Judge(StrEnum):
    """Who says whether a task was done."""

    PAGE = "page"
    """The page in the browser, by what its own code reports."""
    SERVER = "server"
    """The state on the server's side, which no page can claim."""


class Visit(Record):
    """How to visit one task: everything that a session needs before its first observation."""

    start_url: str
    """The page to open, on the site's stable origin."""
    allowed_origins: tuple[str, ...] = Field(min_length=1)
    """The only origins that the session may reach."""
    allowed_paths: tuple[str, ...] = ()
    """The only paths that an action may open there: one that ends with `/` stands for all below it.
    Empty: any."""
    clock: ClockSpec | None
    """Virtual time; None: real time."""
    seed: str
    """The seed as the page gets it: a string, so that no bit is lost in a float."""
    parameters: JsonObject = Field(default_factory=dict)
    """The template's other parameters, beside the seed."""
    bare: bool = False
    """Whether the site takes its own panels and covers off the page, so that pictures show the task alone,
    up to and after its end. False: the page as it is served; so it was before this field was recorded."""

    masks: Masks | None = Field(default=None, exclude_if=lambda masks: masks is None)
    """What may differ between equal visits, and is left out of hashes and comparisons; None, and then not
    recorded: nothing."""
    sign_in: SignIn | None = Field(default=None, exclude=True, repr=False)
    """What logs the session in; no record holds it. None: nobody is logged in."""
    lease: str = Field(default="", exclude=True, repr=False)
    """Identifies the visit to its site while it is open; no record holds it. Empty: the site needs none."""

    def session_spec(
        self, *, viewport_width: int, viewport_height: int, device_scale_factor: float = 1.0
    ) -> SessionSpec:
        """Return what a session of this visit is made from; sizes in CSS px."""
        return SessionSpec(
            viewport_width=viewport_width,
            viewport_height=viewport_height,
            device_scale_factor=device_scale_factor,
            allowed_origins=self.allowed_origins,
            allowed_paths=self.allowed_paths,
            clock=self.clock,
            masks=self.masks,
            sign_in=self.sign_in,
        )


class Problem(Record):
    """The one problem of a visit: what the outcome of its session is about."""

    goal: str
    """The goal in words, as the page states it."""
    nonce: str
    """Identifies this visit's problem. Neither another visit nor a page that the session loads later
    has it; the outcome is read for this nonce, or there is none."""


class Outcome(Record):
    """What the site reports about an attempt."""

    reward: float | None
    """The raw, undiscounted reward, a finite number; None: the site reports none."""
    done: bool
    """Whether the task is over, won or lost."""
    because: str = ""
    """What was expected and what was found, for people who write tasks; no record holds it. Empty: the site
    does not say."""


class Threshold(Record):
    """A template's own minimum reward, where its score is continuous and a perfect answer gets less than 1."""

    reward: float
    """The lowest raw reward that counts as success."""
    reason: str
    """Why it differs from the run's, in a sentence for readers of the data."""


class Site(Protocol):
    """Serves a task's pages; its owner starts and stops it."""

    @property
    def name(self) -> str:
        """Its name in tasks."""
        ...

    @property
    def version(self) -> str | None:
        """The version of the pages that it serves; None if unknown."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether the same task and actions give the same DOM, byte for byte but for what visits mask."""
        ...

    @property
    def judge(self) -> Judge:
        """Who says whether a task was done."""
        ...

    def has_template(self, template_id: str) -> bool:
        """Return whether the site has this template."""
        ...

    def threshold(self, template_id: str) -> Threshold | None:
        """Return the template's own threshold; None: the run's `accept.min_reward` applies."""
        ...

    def area(self, template_id: str) -> tuple[int, int] | None:
        """Return width and height that a template's page needs, CSS px; None: it fills any viewport."""
        ...

    def open(self, task: Task) -> AbstractAsyncContextManager[Visit]:
        """Lease a visit of `task`, with a state of its own, and end it with the context.

        Raises:
            RolloutFailure: the site cannot serve the task.
        """
        ...

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Put the loaded page into the visit's seeded state and return its problem.

        The site does so once a visit; nothing that a policy does later draws a problem that the
        session could be rewarded for. A goal that the page states is truncated (see
        `schemas/truncation.py`).

        Raises:
            RolloutFailure: the page throws or does not answer.
        """
        ...

    async def state(self, problem: Problem) -> ServerState | None:
        """Return what the server holds for the problem's visit; None where the page is the judge.

        Raises:
            RolloutFailure: the server does not answer, or what it holds is no state.
        """
        ...

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return the problem's outcome so far; `answer` is what the policy has just answered, if it did.

        The first end counts: whatever follows it, even within the same action, changes nothing. A
        session that has left the problem's page has lost, where the page is the judge.

        Raises:
            RolloutFailure: the page or the server does not answer.
        """
        ...
