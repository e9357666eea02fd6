"""What a site is: it opens a task's page, puts it into its seeded state, and reports the outcome.

A site is the only source of reward; no policy's claim ever becomes one.
"""

from typing import Protocol

from pydantic import Field

from generators.browser.protocol import ClockSpec, Session
from schemas.base import JsonObject, Record
from schemas.task import Task


class Visit(Record):
    """How one task is visited: everything a session needs before the first look."""

    start_url: str
    """On the site's stable origin."""
    allowed_origins: tuple[str, ...] = Field(min_length=1)
    """The only origins the session may reach."""
    clock: ClockSpec | None
    """Virtual time; None where time is real."""
    seed: str
    """As the page is given it: a string, so that no bit is lost in a float."""
    parameters: JsonObject = Field(default_factory=dict)
    """What the template was filled with, beside the seed."""


class Outcome(Record):
    """What the site reports of an attempt."""

    reward: float | None
    """Raw and undiscounted; None: the site reports none."""
    done: bool
    """The task is over, won or lost."""


class Threshold(Record):
    """A template's own least reward, where its score is continuous and a perfect answer's is not 1."""

    reward: float
    """The least raw reward that counts as success."""
    reason: str
    """Why it is not the run's, in a sentence for readers of the data."""


class Site(Protocol):
    """Serves a task's pages. Its owner starts and stops it."""

    @property
    def name(self) -> str:
        """What tasks call it."""
        ...

    @property
    def version(self) -> str | None:
        """Of the pages served; None if unknown."""
        ...

    @property
    def repeatable(self) -> bool:
        """The same task and actions give the same DOM, byte for byte."""
        ...

    def has_template(self, template_id: str) -> bool:
        """Say whether the site has this template."""
        ...

    def threshold(self, template_id: str) -> Threshold | None:
        """Return the template's own threshold; None: the run's `accept.min_reward` holds."""
        ...

    async def visit(self, task: Task) -> Visit:
        """Return how `task` is visited.

        Raises:
            RolloutFailure: the site cannot serve it.
        """
        ...

    async def begin(self, visit: Visit, session: Session) -> str:
        """Put the loaded page into the visit's seeded state and return the goal in words.

        Where it is the page that states it, it is cut (see `schemas/truncation.py`).

        Raises:
            RolloutFailure: the page throws or does not answer.
        """
        ...

    async def outcome(self, session: Session) -> Outcome:
        """Return what has happened so far.

        Raises:
            RolloutFailure: the page does not answer.
        """
        ...
