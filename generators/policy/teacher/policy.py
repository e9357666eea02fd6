"""The teacher as a policy: it reads the page, lets the template's skill decide, and says why.

If a task has a reference, the teacher carries that out and needs no skill.

It is privileged: it gets a reader of the rendered document. It acts by pixels and keys alone, as any model
would, so that its actions can be learned from pictures. If a skill cannot continue, the teacher says so and
ends the episode, which then fails like any other.
"""

from urllib.parse import urlsplit

from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.seen_document import SeenDocument
from generators.policy.teacher.last_thought import last_thought
from generators.policy.teacher.page import Page, SkillError, say
from generators.policy.teacher.scrolling import (
    Plan,
)
from generators.policy.teacher.skill_table import IMPOSSIBLE, SKILLS
from generators.sites.miniwob import template_paths
from schemas.episodes.action import Answer
from schemas.episodes.episode import PolicyKind, ThoughtSource
from schemas.errors import FailureKind, RolloutFailure

NAME = "teacher"
"""The policy's name in runs."""


class TeacherPolicy:
    """A `Policy` for one episode of MiniWoB++, or of a task with a reference."""

    def __init__(self, reference: Policy | None = None) -> None:
        """`reference` carries out the task's; None: the task has none, so its template has a skill."""
        self._reference = reference
        self._plan: Plan | None = None
        self._seen = SeenDocument()

    @property
    def card(self) -> PolicyCard:
        """The teacher, privileged."""
        return PolicyCard(
            name=NAME, kind=PolicyKind.TEACHER, privileged=True, answers_after_done=True
        )

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the next action of the reference or the skill; an empty answer once it or the task has ended."""
        if turn.history and turn.history[-1].terminated:
            return _stop(last_thought(turn.history, turn.observation))
        try:
            if self._reference is not None:
                return await self._reference.act(turn)
        except RolloutFailure as error:
            return _stop(f"I stop here: {error}.")
        return await self._go_on(turn)

    async def _go_on(self, turn: PolicyInput) -> Decision:
        """Return the next action of the skill; an empty answer once it has ended."""
        if turn.reader is None:
            raise RolloutFailure(FailureKind.POLICY, "the teacher needs a page reader and got none")
        page = Page(
            goal=turn.instruction,
            url=turn.observation.page.url,
            root=self._seen.look(await turn.reader.read(), turn.observation),
            picture=turn.observation.screenshot.bytes,
        )
        try:
            if self._plan is None:
                self._plan = _start_skill(page)
                return next(self._plan)
            return self._plan.send(page)
        except StopIteration:
            return _stop(
                say(
                    page,
                    "I have done what the goal asks for.",
                    "Nothing of what the goal asks for is left to do, so I stop.",
                    "I have gone through all that the goal says, so this is the end.",
                )
            )
        except SkillError as error:
            return _stop(f"I stop here: {error}.")


def template_of(url: str) -> str | None:
    """Return the template that an address belongs to; None if it belongs to none."""
    path = urlsplit(url).path
    return next((name for name, own in template_paths().items() if own == path), None)


def _start_skill(page: Page) -> Plan:
    template = template_of(page.url)
    if template in SKILLS:
        return SKILLS[template](page)
    raise SkillError(IMPOSSIBLE.get(template or "", f"I know nothing of {page.url}"))


def _stop(why: str) -> Decision:
    return Decision(action=Answer(), thought=why, thought_source=ThoughtSource.TEMPLATE)
