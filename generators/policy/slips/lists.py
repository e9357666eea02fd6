"""Slips in what a list shows, and in what a list offers: a search that finds nothing, a wrong filter, a wrong option."""

from collections.abc import Sequence
from random import Random

from generators.browser.protocol import Node
from generators.policy.course import Course
from generators.policy.element_names import words
from generators.policy.mistakes import mistype
from generators.policy.protocol import Decision
from generators.policy.reference_actions import click, decide
from generators.policy.sentences.vary import sentence
from generators.policy.sight import Sight
from schemas.episodes.action import TypeText
from schemas.episodes.mistake import InjectedMistake
from schemas.tasks.reference import Do, ReferenceStep

_NOTHING = ("Nothing was found.", "No results", "No results found", "No matches")
"""What lists say that show nothing."""


class EmptySearch:
    """Words are searched for with a wrong letter; the list shows nothing, and they are typed again."""

    kind = InjectedMistake.EMPTY_SEARCH

    def __init__(self) -> None:
        self._count = -1
        self._wrong = ""

    def may_come(self, to_come: Sequence[ReferenceStep]) -> bool:
        """Return whether something is typed before something is looked for."""
        typed = [place for place, one in enumerate(to_come) if one.do in (Do.TYPE, Do.ENTER)]
        return any(
            one.do in (Do.FIND, Do.READ) for place in typed for one in to_come[place : place + 3]
        )

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Return the words with a wrong letter."""
        step = course.next
        is_typed = step is not None and step.do in (Do.TYPE, Do.ENTER)
        aim = sight.page.find(step) if step is not None and is_typed else None
        if step is None or aim is None or aim.attrs.get("type") != "search" or aim.point is None:
            return None
        (x, y), sends = aim.point, step.do is Do.ENTER
        meant = TypeText(x=x, y=y, text=step.text or "", overwrite=True, enter=sends)
        spoilt = mistype(decide(meant, step.why), random)
        if spoilt is None or not isinstance(spoilt.action, TypeText):
            return None
        self._wrong, self._count = spoilt.action.text, len(course.taken)
        course.take(sight.screen)
        return spoilt.model_copy(update={"thought": sentence("slips.searches", text=self._wrong)})

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Search again once the list has answered."""
        step = course.next
        if step is None or not _has_answered(step, sight):
            return False
        right = course.taken[self._count].step.text
        found = next((one for one in (*_NOTHING, *_messages(sight)) if sight.shows(one)), None)
        key = "slips.mistyped_search" if found is None else "slips.found_nothing"
        course.go_back(self._count, sentence(key, told=found, wrong=self._wrong, text=right))
        return True


def _messages(sight: Sight) -> list[str]:
    """Return what a page says about what it shows, in any language."""
    return [
        words(one.text)
        for one in sight.elements()
        if one.attrs.get("role") == "status" and one.text and "aria-busy" not in one.attrs
    ]


def _has_answered(step: ReferenceStep, sight: Sight) -> bool:
    """Return whether a list is looked through next, and is no longer waited for."""
    if step.do is Do.WAIT:
        return not sight.shows(step.on or "")
    return step.do in (Do.FIND, Do.READ)


class _WrongChoice:
    """Another option of an open list is clicked."""

    kind: InjectedMistake

    def __init__(self) -> None:
        self._count = -1
        self._other = ""

    def may_come(self, to_come: Sequence[ReferenceStep]) -> bool:
        """Return whether an option of a list is chosen."""
        return any(one.do is Do.SELECT for one in to_come)

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Return a click on an option beside the right one."""
        step, chosen = course.next, course.taken[-1].step if course.taken else None
        if (
            step is None
            or chosen is None
            or chosen.do is not Do.SELECT
            or not sight.page.has_open_list
        ):
            return None
        aim = sight.page.find(step)
        named = ReferenceStep(do=Do.SELECT, on=chosen.on, within=chosen.within, text=chosen.text)
        if aim is None or self._is_filter(named, sight) is not self._filters:
            return None
        now = {words(one.selected) for one in sight.page.root.walk() if one.selected}
        others = [
            one
            for one in sight.elements()
            if _is_other_option(one, aim) and words(one.text) not in now
        ]
        if not others:
            return None
        other = random.choice(others)
        self._other, self._count = other.text, len(course.taken) - 1
        course.take(sight.screen)
        return click(other, sentence("slips.clicks_option", on=chosen.on, text=other.text))

    _filters = False

    def _is_filter(self, step: ReferenceStep, sight: Sight) -> bool:
        """Return whether a list narrows what a page lists, and is not a part of a row's form."""
        wanted = words(step.on or "")
        for form in (one for one in sight.page.root.walk() if one.tag == "form"):
            if form.attrs.get("method", "get") == "get" and any(
                words(one.text) == wanted for one in form.walk() if one.tag == "label"
            ):
                return True
        return False

    def _again(self, course: Course) -> str:
        chosen = course.taken[self._count].step
        return sentence("slips.wrong_choice", on=chosen.on, wrong=self._other, text=chosen.text)


class WrongFilter(_WrongChoice):
    """A list is narrowed by another option; what it shows is not what is needed."""

    kind = InjectedMistake.WRONG_FILTER
    _filters = True

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Choose again once the list has answered."""
        del sight
        step = course.next
        if step is None or step.do in (Do.CLICK, Do.SELECT):
            return step is None
        course.go_back(self._count, self._again(course))
        return True


class WrongOption(_WrongChoice):
    """A field gets the option beside the right one, and is set again."""

    kind = InjectedMistake.WRONG_OPTION

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Choose again as the field shows the other option."""
        del sight
        course.go_back(self._count, self._again(course))
        return True


def _is_other_option(one: Node, aim: Node) -> bool:
    """Return whether an element is another option of the same list, with words."""
    same = one.tag == aim.tag and one.attrs.get("role") == aim.attrs.get("role")
    near = abs(one.box[0] - aim.box[0]) < 1 and abs(one.box[3] - aim.box[3]) < 1
    return same and near and bool(one.text) and words(one.text) != words(aim.text)
