"""What a slip is: a mistake that is made at a step of a plan, and mended when it is seen."""

from collections.abc import Sequence
from random import Random
from typing import Protocol

from generators.policy.course import Course
from generators.policy.protocol import Decision
from generators.policy.sight import Sight
from schemas.episodes.mistake import InjectedMistake
from schemas.tasks.reference import ReferenceStep


class Slip(Protocol):
    """A mistake of one kind, made once in an episode."""

    kind: InjectedMistake
    """What it is called in records."""

    def may_come(self, to_come: Sequence[ReferenceStep]) -> bool:
        """Return whether it is possible at one of these steps but the first, as far as the plan tells."""
        ...

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Return the mistake instead of the next step, whose element is in sight; None: it is not possible here.

        It takes the step of the course where the mistake is made in its place.
        """
        ...

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Return what is done about it as it is seen: an action, or True where the course says it; False: it is not seen yet."""
        ...
