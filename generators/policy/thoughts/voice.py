"""How a policy says what it does: the reason for an action in varied words, a plan at the start, and a new one after a setback."""

from random import Random

from generators.policy.course import Course
from generators.policy.element_names import words
from generators.policy.protocol import Decision
from generators.policy.reference_actions import FILLS
from generators.policy.sight import Sight
from generators.policy.thoughts.plan import plan
from generators.policy.thoughts.remarks import is_on_field, remark
from generators.policy.thoughts.vary import vary

_REMARKS = 0.65
"""The share of thoughts with a remark on the picture, where there is something to say."""


class Voice:
    """The words of one episode."""

    def __init__(self, course: Course, seed: str) -> None:
        """The seed draws the words."""
        self._course = course
        self._random = Random(f"voice {seed}")
        self._steps = course.to_come
        self._goal = self._url = ""
        self._has_planned = False
        self._setbacks = 0

    def say(self, decision: Decision, sight: Sight | None, goal: str) -> Decision:
        """Return a decision with its thought in words.

        `sight` is what was looked at for it; None: nothing was, so that nothing is said of a picture.
        """
        self._goal = words(goal).casefold()
        if decision.thought is None:
            return decision
        thought = vary(decision.thought, self._random)
        if sight is not None:
            told = self._with_plan(decision, thought, sight)
            thought = told or self._with_remark(decision, thought, sight)
            self._url = sight.screen.url
        return decision.model_copy(update={"thought": thought})

    def _with_plan(self, decision: Decision, thought: str, sight: Sight) -> str | None:
        """Return a thought with a plan: the first one before it, what is left behind it; None: neither is due."""
        setbacks = self._course.setbacks
        is_first, is_set_back = not self._has_planned, setbacks > self._setbacks
        self._has_planned, self._setbacks = True, setbacks
        if not (is_first or is_set_back):
            return None

        names_all = not is_on_field(decision.action, sight)

        def is_known(name: str) -> bool:
            return names_all and (words(name).casefold() in self._goal or sight.shows(name))

        if is_first:
            told = plan(self._steps, is_known, self._random)
            return told and f"{told} {thought}"
        told = plan(self._course.to_come, is_known, self._random, key="again")
        return told and f"{thought} {told}"

    def _with_remark(self, decision: Decision, thought: str, sight: Sight) -> str:
        if self._random.random() > _REMARKS:
            return thought
        last = self._course.taken[-1].step if self._course.taken else None
        fills = last is not None and last.do in FILLS
        return remark(
            decision.action,
            thought,
            sight,
            self._random,
            is_new_page=sight.screen.url != self._url,
            label=(last.on or "") if last is not None and fills else "",
        )
