"""A site without pages: whatever the session's world answers is the outcome.

It goes with `ScriptedSession`, whose pages carry `[reward, done]` as their value.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from generators.browser.protocol import ClockSpec, Session
from generators.sites.protocol import Judge, Outcome, Problem, Threshold, Visit
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.task import Task

ORIGIN = "http://scripted.localhost"
"""Where its tasks start."""


class ScriptedSite:
    """A `Site` that reads its outcome from the page's value, up to the first end."""

    name = "scripted"
    version = "1"
    repeatable = True
    judge = Judge.PAGE

    def __init__(self) -> None:
        self._ended: dict[str, Outcome] = {}

    def has_template(self, template_id: str) -> bool:
        """Say that every template with a name is known."""
        return bool(template_id)

    def area(self, template_id: str) -> tuple[int, int] | None:
        """Return none: its pages fill any viewport."""
        del template_id
        return None

    def threshold(self, template_id: str) -> Threshold | None:
        """Return no threshold of its own."""
        del template_id
        return None

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        """Lease a visit in virtual time."""
        if not self.has_template(task.template_id):
            raise RolloutFailure(FailureKind.SITE, f"no template '{task.template_id}' here")
        yield Visit(
            start_url=task.start_url,
            allowed_origins=(ORIGIN,),
            clock=ClockSpec(),
            seed=str(task.seed),
            parameters=task.parameters,
        )

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Return a goal that names the seed."""
        if await session.evaluate("ready") is None:
            raise RolloutFailure(FailureKind.PAGE, "the page has no value")
        return Problem(goal=f"Do number {visit.seed}.", nonce=secrets.token_hex(16))

    async def state(self, problem: Problem) -> None:
        """Return None: the page is the judge."""
        del problem

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return the page's value as the outcome; that of the problem's first end, once it ended."""
        del answer
        match await session.evaluate("outcome"):
            case "left":
                return self._ended.setdefault(problem.nonce, Outcome(reward=0.0, done=True))
            case [int() | float() as reward, bool() as done] if not isinstance(reward, bool):
                outcome = Outcome(reward=float(reward), done=done)
                if done:
                    return self._ended.setdefault(problem.nonce, outcome)
                return self._ended.get(problem.nonce, outcome)
            case other:
                raise RolloutFailure(FailureKind.PAGE, f"no outcome: {other!r}")
