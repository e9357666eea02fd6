"""Slips on the way to a row or a list: another row of a similar name, and another list of the navigation."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from generators.browser.protocol import Node
from generators.policy.course import Course
from generators.policy.element_names import words
from generators.policy.protocol import Decision
from generators.policy.reference_actions import click, decide
from generators.policy.sentences.vary import sentence
from generators.policy.sight import Sight
from schemas.episodes.action import Action, Back, Button, Click, Tab, TabOperation
from schemas.episodes.mistake import InjectedMistake
from schemas.tasks.reference import Do, ReferenceStep

_LONG = 4
"""The least number of letters of a word by which two names are alike."""

_DIGIT = re.compile(r"\d")

_SAME_LINE = 4.0
"""The largest distance between the left edges of links that stand under each other, px."""


class LookAlike:
    """A row of a similar name is opened, seen to be another by its page's heading, and left."""

    kind = InjectedMistake.LOOK_ALIKE

    def __init__(self) -> None:
        self._other = self._title = self._url = ""
        self._tabs = 1

    def may_come(self, to_come: Sequence[ReferenceStep]) -> bool:
        """Return whether a row is looked for, and then opened."""
        return any(_finds(one) and _opens(other, one) for one, other in pairwise(to_come))

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Return a click on the other row's title."""
        step = course.next
        last = course.taken[-1].step if course.taken else None
        if step is None or last is None or not _finds(last) or not _opens(step, last):
            return None
        aim = sight.page.find(step)
        alike = list(_alike(aim, sight)) if aim is not None else []
        if not alike:
            return None
        other = random.choice(alike)
        self._other, self._title, self._url = other.text, step.on or "", sight.screen.url
        self._tabs = sight.screen.tabs
        course.take_again(len(course.taken) - 1)
        x, y = other.point or (0.0, 0.0)
        return decide(self._open(x, y), self._belief(other.text))

    def _open(self, x: float, y: float) -> Action:
        return Click(x=x, y=y)

    def _belief(self, title: str) -> str:
        return sentence("slips.believes", other=title)

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Go back from the other row's page; beside a list, the right one is opened next."""
        if self._url == "":
            return True
        is_elsewhere, is_named = sight.screen.url != self._url, self._is_named(sight)
        if not is_elsewhere and not is_named:
            return False
        self._url = ""
        course.set_back()
        if sight.screen.tabs > self._tabs:
            why = self._was_in_sight("tab", is_named=is_named)
            return decide(Tab(operation=TabOperation.CLOSE), why)
        if is_elsewhere:
            return decide(Back(), self._was_in_sight("row", is_named=is_named))
        course.reword(self._was_in_sight("beside", is_named=is_named), ahead=1)
        return True

    def _was_in_sight(self, where: str, *, is_named: bool) -> str:
        """Return what is said of the other row: `where` is `tab`, `row` or `beside`."""
        key = f"slips.{'other' if is_named else 'unnamed'}_{where}"
        return sentence(key, other=self._other, title=self._title)

    def _is_named(self, sight: Sight) -> bool:
        """Return whether something other than a link says which row it is."""
        wanted = words(self._other)
        return any(one.tag != "a" and words(one.text) == wanted for one in sight.elements())


class OtherTab(LookAlike):
    """A row of a similar name is opened in a new tab, seen to be another, and its tab is closed."""

    kind = InjectedMistake.OTHER_TAB

    def _open(self, x: float, y: float) -> Action:
        return Click(x=x, y=y, button=Button.MIDDLE)

    def _belief(self, title: str) -> str:
        return sentence("slips.believes_in_tab", other=title)


class WrongView:
    """Another entry of the navigation is opened, whose name shares a word, or another of its menus."""

    kind = InjectedMistake.WRONG_VIEW

    def __init__(self) -> None:
        self._other = ""

    def may_come(self, to_come: Sequence[ReferenceStep]) -> bool:
        """Return whether something is clicked."""
        return any(one.do is Do.CLICK for one in to_come)

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Return a click on the other entry."""
        step = course.next
        aim = sight.page.find(step) if step is not None and step.do is Do.CLICK else None
        if aim is None:
            return None
        is_menu = aim.tag == "summary" and sight.page.is_in_navigation(aim)
        others = [
            one for one in sight.elements() if _is_other_entry(one, aim, sight, is_menu=is_menu)
        ]
        if not others:
            return None
        other = random.choice(others)
        self._other = other.text
        return click(other, sentence("slips.believes_under", other=other.text))

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Open the right entry, because the other one does not hold what is needed."""
        del sight
        step = course.next
        if step is not None:
            course.set_back()
            course.reword(sentence("slips.not_under", other=self._other, on=step.on))
        return True


def _finds(step: ReferenceStep) -> bool:
    return step.do is Do.FIND


def _opens(step: ReferenceStep, found: ReferenceStep) -> bool:
    return step.do is Do.CLICK and words(step.on or "") == words(found.on or "")


def _alike(aim: Node, sight: Sight) -> Iterator[Node]:
    """Yield the links in sight that stand in line with another and share half of its long words, but are not it."""
    wanted = _long_words(aim.text)
    for one in sight.elements():
        if any(_DIGIT.search(word) for word in wanted - _long_words(one.text)):
            continue  # a number tells them apart at a glance
        in_line = one.tag == aim.tag == "a" and abs(one.box[0] - aim.box[0]) <= _SAME_LINE
        shared = wanted & _long_words(one.text)
        if in_line and words(one.text) != words(aim.text) and 2 * len(shared) >= len(wanted) > 0:
            yield one


def _long_words(text: str) -> set[str]:
    return {one for one in words(text).casefold().split() if len(one) >= _LONG}


def _is_other_entry(one: Node, aim: Node, sight: Sight, *, is_menu: bool) -> bool:
    """Return whether an element is another entry of the navigation that may be taken for the right one."""
    if one is aim or one.tag != aim.tag or words(one.text) == words(aim.text):
        return False
    if is_menu:
        return sight.page.is_in_navigation(one)
    is_entry = aim.tag == "a" and sight.page.is_in_navigation(aim)
    return (
        is_entry
        and sight.page.is_in_navigation(one)
        and bool(_long_words(one.text) & _long_words(aim.text))
    )
