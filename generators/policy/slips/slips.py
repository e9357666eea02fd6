"""Draws which slip an episode has, by its seed, and makes and mends it."""

from collections.abc import Sequence
from random import Random

from generators.policy.course import Course
from generators.policy.protocol import Decision
from generators.policy.sentences.vary import sentence
from generators.policy.sight import Sight
from generators.policy.slips.entries import LeftOut, RefusedEntry, TypingError, WrongField
from generators.policy.slips.lists import EmptySearch, WrongFilter, WrongOption
from generators.policy.slips.rows import LookAlike, OtherTab, WrongView
from generators.policy.slips.slip import Slip
from schemas.episodes.mistake import InjectedMistake
from schemas.tasks.reference import Purpose, ReferenceStep

SHARE = 0.6
"""The share of episodes for which a slip is drawn; about half of them come to a place for one."""

_LAST_CHANCE = 0.2
"""How often a slip is made at its last chance, while others that were drawn before it may still come."""

_NARROWS = {Purpose.APPLY, Purpose.ORDER}
"""The purposes of steps by which a list takes over what was entered."""

_KINDS: dict[type[Slip], float] = {
    LookAlike: 2.0,
    OtherTab: 1.0,
    WrongView: 1.5,
    EmptySearch: 0.5,
    WrongFilter: 2.0,
    WrongOption: 6.0,
    RefusedEntry: 12.0,
    LeftOut: 6.0,
    TypingError: 1.0,
    WrongField: 5.0,
}
"""The kinds of slips, and how much more often than others each is drawn where all are possible."""


class Slips:
    """The slip of one episode, if it has one."""

    def __init__(self, steps: Sequence[ReferenceStep], *, seed: str, share: float) -> None:
        """`share` is the share of episodes that have one; the seed decides which, and of which kind."""
        self._random = Random(f"slips {seed}")
        has_one = self._random.random() < share
        self._possible = self._draw(steps) if has_one else []
        self._made: Slip | None = None
        self._unmarked: InjectedMistake | None = None
        self._taken = 0

    def _draw(self, steps: Sequence[ReferenceStep]) -> list[Slip]:
        """Return the slips for which a plan has room, in the order in which they are tried."""
        kinds = {kind: weight for kind, weight in _KINDS.items() if kind().may_come(steps)}
        order = sorted(kinds, key=lambda kind: self._random.random() ** (1 / kinds[kind]))
        return [kind() for kind in reversed(order)]

    def make(self, course: Course, sight: Sight) -> Decision | None:
        """Return a mistake instead of the next step of the course; None: none is made here.

        The next step's element is in sight. The first of the drawn slips is made where it is possible, and another
        only at its last chance. Where the mistake is that something is left out, the course has gone on.
        """
        count = len(course.taken)
        steps = [*(one.step for one in course.taken[-1:]), *course.to_come]
        self._possible = [one for one in self._possible if one.may_come(steps)]
        for place, slip in enumerate(self._possible):
            later = [one for one in self._possible if one.may_come(steps[1:])]
            if place and (slip in later or (later and self._random.random() > _LAST_CHANCE)):
                continue  # one that was drawn before may still come
            decision = slip.make(course, sight, self._random)
            if decision is not None or len(course.taken) != count:
                self._made, self._possible = slip, []
                if decision is None:
                    self._unmarked = slip.kind
                    return None
                return decision.model_copy(update={"injected_mistake": slip.kind})
        return None

    def mark(self, course: Course, decision: Decision) -> Decision:
        """Return a decision with the mistake that it completes.

        A form is sent from which something was left out or in which something is wrong, or a list is narrowed by it.
        """
        is_new, self._taken = len(course.taken) > self._taken, len(course.taken)
        mistake = self._unmarked or (self._made and self._made.kind)
        if mistake is None or not is_new or decision.injected_mistake is not None:
            return decision
        last = course.taken[-1]
        if not (last.sends or last.step.purpose in _NARROWS):
            return decision
        self._unmarked = None
        why = "slips.applies" if last.step.purpose in _NARROWS else "slips.presses"
        told = decision.thought and sentence(why, on=last.step.on)
        return decision.model_copy(update={"injected_mistake": mistake, "thought": told})

    def mend(self, course: Course, sight: Sight) -> Decision | None:
        """Return what is done about the mistake that was made; None: nothing is now, or the course says it."""
        if self._made is None:
            return None
        found = self._made.mend(course, sight)
        if isinstance(found, Decision):
            return found
        if found:
            self._made = None
        return None
