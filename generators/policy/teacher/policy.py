"""The teacher as a policy: it reads the page, lets the family's skill decide, and says why.

It is privileged: it is handed a reader of the rendered document. It acts by pixels and keys alone,
as any model would, so that what it does can be learned from pictures. Where it is at a loss it
says so and ends the episode, which is then a failed one like any other.
"""

from urllib.parse import urlsplit

from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import Plan
from generators.policy.teacher.skills import IMPOSSIBLE, SKILLS
from generators.sites.miniwob import template_paths
from schemas.action import Answer
from schemas.episode import PolicyKind, ThoughtSource
from schemas.errors import FailureKind, RolloutFailure

NAME = "teacher"
"""What runs call it."""


class TeacherPolicy:
    """A `Policy` for one episode of MiniWoB++."""

    def __init__(self) -> None:
        self._plan: Plan | None = None

    @property
    def card(self) -> PolicyCard:
        """Who it is."""
        return PolicyCard(name=NAME, kind=PolicyKind.TEACHER, privileged=True)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return what the family's skill does next; an empty answer when it is through."""
        if turn.reader is None:
            raise RolloutFailure(FailureKind.POLICY, "the teacher was handed no page reader")
        page = Page(
            goal=turn.instruction,
            url=turn.observation.page.url,
            root=await turn.reader.read(),
            picture=turn.observation.screenshot.bytes,
        )
        if page.over:
            return _stop("The page says that the task is over.")
        try:
            return self._next(page)
        except StopIteration:
            return _stop("I have done what the goal asks for.")
        except Lost as lost:
            return _stop(f"I stop here: {lost}.")

    def _next(self, page: Page) -> Decision:
        if self._plan is None:
            self._plan = _begin(page)
            return next(self._plan)
        return self._plan.send(page)


def template_of(url: str) -> str | None:
    """Return the family that a page's address belongs to; None if it is no family's."""
    path = urlsplit(url).path
    return next((name for name, own in template_paths().items() if own == path), None)


def _begin(page: Page) -> Plan:
    family = template_of(page.url)
    if family in SKILLS:
        return SKILLS[family](page)
    raise Lost(IMPOSSIBLE.get(family or "", f"I know nothing of {page.url}"))


def _stop(why: str) -> Decision:
    return Decision(action=Answer(), thought=why, thought_source=ThoughtSource.TEMPLATE)
