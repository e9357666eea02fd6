"""What a policy has before it at one turn: the page as it was read, and what of it is in sight."""

from collections.abc import Sequence
from dataclasses import dataclass

from generators.browser.protocol import Node
from generators.policy.course import Screen
from generators.policy.element_names import words
from generators.policy.memory import Memory, Place, unseen_part
from generators.policy.named_elements import Page
from generators.policy.protocol import Decision
from generators.policy.reference_actions import decide
from generators.policy.window import is_within


@dataclass(frozen=True, slots=True)
class Sight:
    """What a policy has before it."""

    page: Page
    """The page as it was read."""
    places: Sequence[Place]
    """Where its sheets stand."""
    memory: Memory
    """What was in sight so far."""
    screen: Screen
    """Which form or list it is."""

    def holds(self, thing: Node) -> bool:
        """Return whether the whole of an element is in sight, all of its text can be read, and nothing lies over it."""
        is_there = thing.shown and thing.point is not None and not thing.is_cut
        return is_there and is_within(thing, self.page.window.view(thing))

    def elements(self) -> list[Node]:
        """Return the elements that are wholly in sight, in front."""
        return [one for one in self.page.front.walk() if self.holds(one)]

    def shows(self, text: str) -> bool:
        """Return whether an element with exactly these words is in sight."""
        wanted = words(text)
        return any(words(one.text) == wanted for one in self.elements())

    def look_on(self, why: str) -> Decision | None:
        """Return a scroll to what was not in sight yet, with its thought; None: all was."""
        on = unseen_part(self.places)
        return None if on is None else decide(self.memory.scroll(*on), why)
