"""The course of a plan: what of it was done, what is to be done next, and how it goes back where something went wrong.

Steps can be put in before the next one, and steps that were done can be taken again. What was put in is not taken again.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from generators.policy.element_names import names
from generators.policy.named_elements import Page
from schemas.episodes.observation import PageState
from schemas.tasks.reference import Do, Fact, ReferenceStep

_HEADINGS = {"h1", "h2"}


@dataclass(frozen=True, slots=True)
class Screen:
    """What a page shows, as far as it tells whether two steps were taken on the same form or list."""

    url: str
    """Its address."""
    heading: str
    """The first heading of what lies in front; empty if there is none."""
    tabs: int = 1
    """The number of tabs that are open."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken."""

    step: ReferenceStep
    """The step."""
    is_planned: bool
    """Whether it is of the plan, and was not put in."""
    screen: Screen | None = None
    """Where it was taken; None: it was taken without a look at the page."""
    sends: bool = False
    """Whether it pressed a button that sends a form."""
    opens_menu: bool = False
    """Whether it opened a menu."""


class Course:
    """The steps of a plan."""

    def __init__(self, steps: Sequence[ReferenceStep]) -> None:
        self._to_do = deque((step, True) for step in steps)
        self.taken: list[Taken] = []
        """The steps that were taken, in order."""
        self._kept = list[Fact]()
        self.setbacks = 0
        """How often something went wrong, as was seen, so that what is left is another course than before."""

    @property
    def next(self) -> ReferenceStep | None:
        """The step that is to be taken; None: all were."""
        return self._to_do[0][0] if self._to_do else None

    @property
    def number(self) -> int:
        """The number of the next step in the plan, from 1."""
        return 1 + sum(one.is_planned for one in self.taken)

    @property
    def to_come(self) -> list[ReferenceStep]:
        """The steps that are to be taken, in order."""
        return [step for step, _ in self._to_do]

    @property
    def facts(self) -> list[Fact]:
        """What the steps up to the next one bring into sight and a later one needs, in order."""
        ahead = () if self.next is None else self.next.keep
        return list(dict.fromkeys((*self._kept, *ahead)))

    def take(
        self, screen: Screen | None = None, *, sends: bool = False, opens_menu: bool = False
    ) -> None:
        """Note that the next step was taken; the arguments are those of `Taken`."""
        step, is_planned = self._to_do.popleft()
        self._kept += step.keep
        self.taken.append(Taken(step, is_planned, screen, sends, opens_menu))

    def leave_out(self, count: int) -> None:
        """Leave out the next steps, so many of them."""
        for _ in range(count):
            step, _ = self._to_do.popleft()
            self._kept += step.keep

    def put_in(self, *steps: ReferenceStep) -> None:
        """Put steps before the next one."""
        self._to_do.extendleft((step, False) for step in reversed(steps))

    def set_back(self) -> None:
        """Note that something is seen to have gone wrong."""
        self.setbacks += 1

    def go_back(self, count: int, why: str | None = None) -> None:
        """Take the steps again that followed the first `count`, because something is seen to have gone wrong.

        `why` is the thought of the first; None: its own.
        """
        self.set_back()
        self.take_again(count, why)

    def take_again(self, count: int, why: str | None = None) -> None:
        """Take the steps again that followed the first `count`; `why` is as in `go_back`."""
        again = [(one.step, True) for one in self.taken[count:] if one.is_planned]
        if again and why is not None:
            again[0] = (_with_thought(again[0][0], why), True)
        del self.taken[count:]
        self._to_do.extendleft(reversed(again))

    def reword(self, why: str, *, ahead: int = 0) -> None:
        """Give the next step another thought, or the one that is so many steps ahead of it."""
        step, is_planned = self._to_do[ahead]
        self._to_do[ahead] = _with_thought(step, why), is_planned

    def begin_of_form(self) -> int:
        """Return the number of steps before those that were taken on the same form as the last one."""
        count = len(self.taken)
        while count and self.taken[count - 1].screen == self.taken[-1].screen:
            count -= 1
        return count

    def presses(self) -> list[ReferenceStep]:
        """Return the last presses that sent a form or opened the menu for it, in order."""
        pressed = list[ReferenceStep]()
        for one in reversed(self.taken):
            if one.screen != self.taken[-1].screen or not (one.sends or one.opens_menu):
                break
            pressed.insert(0, one.step)
        return pressed


def _with_thought(step: ReferenceStep, why: str) -> ReferenceStep:
    """Return a step with another thought, which tells itself why it is this row."""
    return step.model_copy(update={"why": why, "by": ()})


def is_known(name: str, course: Course, goal: str) -> bool:
    """Return whether the goal or a step that was taken names something, or a list was read, and so its rows are known."""
    taken = [one.step for one in course.taken]
    return names(goal, name) or any(one.on == name or one.do is Do.READ for one in taken)


def screen_of(page: Page, state: PageState) -> Screen:
    """Return where a policy is, by what a page shows and by its browser's tabs."""
    headings = (one for one in page.modal.walk() if one.tag in _HEADINGS and one.shown and one.text)
    heading = next((one.text for one in headings), "")
    return Screen(state.url, heading, max(1, len(state.tabs or ())))
