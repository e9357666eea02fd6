"""The protocol of a site: it opens a task's page, seeds it, and reports the outcome.

A site is the only source of reward; a policy's claim is never one.
"""

from typing import Protocol

from pydantic import Field

from generators.browser.protocol import ClockSpec, Session, SessionSpec
from schemas.base import JsonObject, Record
from schemas.task import Task


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
        """Whether the same task and actions give the same DOM, byte for byte."""
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

    async def visit(self, task: Task) -> Visit:
        """Return how to visit `task`.

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

    async def outcome(self, problem: Problem, session: Session) -> Outcome:
        """Return the problem's outcome so far.

        The first end counts: whatever follows it, even within the same action, changes nothing. A
        session that has left the problem's page has lost.

        Raises:
            RolloutFailure: the page does not answer.
        """
        ...
