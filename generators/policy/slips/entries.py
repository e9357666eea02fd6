"""Slips in a form: a wrong letter, a value that the form refuses, a field left out, a text in the wrong field."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from generators.browser.protocol import Node
from generators.policy.course import Course, Screen
from generators.policy.element_names import is_field, words
from generators.policy.mistakes import mistype
from generators.policy.protocol import Decision
from generators.policy.reference_actions import decide
from generators.policy.sentences.vary import sentence
from generators.policy.sight import Sight
from generators.policy.thoughts.visible import may_be_cut
from schemas.episodes.action import Key, TypeText
from schemas.episodes.mistake import InjectedMistake
from schemas.tasks.reference import Do, ReferenceStep

_PLAIN_TYPES = {"text", ""}
_NUMERIC = {"numeric", "decimal"}
_UNDONE_AT_MOST = 2
"""How often Control+z is pressed for a text that it does not take back."""
_ISO_DAY = re.compile(r"(\w)\1{3}-(\w)\2-(\w)\3")
"""What an empty field says that takes days as 2026-03-09, by letters of any language: YYYY-MM-DD."""


class _Entry:
    """A slip at a field into which a text is typed."""

    def __init__(self) -> None:
        self._step: ReferenceStep | None = None
        self._wrong = ""

    def may_come(self, to_come: Sequence[ReferenceStep]) -> bool:
        """Return whether a text is typed, and not into a search."""
        return any(
            one.do is Do.TYPE
            and one.on is not None
            and bool(one.text)
            and not any(later.do in (Do.FIND, Do.READ) for later in to_come[place : place + 3])
            for place, one in enumerate(to_come)
        )

    def _field(self, course: Course, sight: Sight) -> Node | None:
        """Return the plain field in which the next step types; None: it is no such step."""
        step = course.next
        if step is None or step.do is not Do.TYPE or not step.text or step.on is None:
            return None
        aim = sight.page.find(step)
        is_plain = aim is not None and aim.tag in ("input", "textarea") and _is_in_form(aim, sight)
        return aim if is_plain and aim is not None and _is_plain(aim) else None


class TypingError(_Entry):
    """A wrong letter is typed, seen in the field and typed again."""

    kind = InjectedMistake.WRONG_LETTER

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Return the text with a wrong letter."""
        aim, step = self._field(course, sight), course.next
        if aim is None or step is None:
            return None
        spoilt = mistype(_type(step, aim, step.text or ""), random)
        if spoilt is None or not isinstance(spoilt.action, TypeText):
            return None
        self._wrong = spoilt.action.text
        return spoilt.model_copy(update={"thought": sentence("slips.types", text=self._wrong)})

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Type it again as the field shows the wrong letter."""
        step = course.next
        aim = sight.page.find(step) if step is not None else None
        if step is None or aim is None or aim.value != self._wrong or not sight.holds(aim):
            return step is None
        course.set_back()
        course.reword(sentence("slips.misspelt", wrong=self._wrong, text=step.text))
        return True


class _Refused(_Entry):
    """Something that a form refuses when it is sent; its message says so, and it is entered again."""

    def __init__(self) -> None:
        super().__init__()
        self._screen: Screen | None = None

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Look for the message after the form was sent, enter the right value and send it again."""
        if self._step is None or not course.taken or not course.taken[-1].sends:
            return False
        if sight.screen.heading != (self._screen and self._screen.heading):
            return True
        told = next(_messages(self._step, sight), None)
        if told is None:
            return sight.look_on(sentence("slips.looks_for_message")) or True
        step, saves = self._step, course.presses()[-1]
        why = sentence("slips.refused", on=step.on, told=told, text=step.text)
        again = sentence("slips.saves_again", on=saves.on)
        course.put_in(
            *(one.model_copy(update={"why": w}) for one, w in ((step, why), (saves, again)))
        )
        course.set_back()
        return True


class RefusedEntry(_Refused):
    """A number or day is typed as the form does not take it."""

    kind = InjectedMistake.REFUSED_ENTRY

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Return the value with a letter in place of a digit, or with its day and month exchanged."""
        aim, step = self._field(course, sight), course.next
        if aim is None or step is None:
            return None
        wrong = _as_refused(step.text or "", aim, random)
        if wrong is None:
            return None
        self._step, self._screen, self._wrong = step, sight.screen, wrong
        why = sentence("slips.types_into", text=wrong, on=step.on)
        decision = _type(step.model_copy(update={"why": why}), aim, wrong)
        course.take(sight.screen)
        return decision


class LeftOut(_Refused):
    """A field that has to be filled is left out."""

    kind = InjectedMistake.LEFT_OUT

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Go on without the step, where the field is empty and marked as needed."""
        del random
        aim, step = self._field(course, sight), course.next
        if aim is None or step is None or aim.value or not _is_needed(aim, sight):
            return None
        self._step, self._screen = step, sight.screen
        course.take(sight.screen)
        return None


class WrongField(_Entry):
    """A text is typed into the field beside, and taken back."""

    kind = InjectedMistake.WRONG_FIELD

    def __init__(self) -> None:
        super().__init__()
        self._held = self._said = ""
        self._undone, self._is_restored = 0, False

    def make(self, course: Course, sight: Sight, random: Random) -> Decision | None:
        """Return the text in another field."""
        aim, step = self._field(course, sight), course.next
        if aim is None or step is None or aim.tag != "input":
            return None
        others = [
            one
            for one in sight.elements()
            if one is not aim
            and one.tag == "input"
            and _is_plain(one)
            and _is_in_form(one, sight)
            and not may_be_cut(one.value or "", one)
        ]
        if not others:
            return None
        other = random.choice(others)
        self._wrong, self._said, self._held = (
            step.text or "",
            other.attrs.get("id", ""),
            other.value or "",
        )
        why = sentence("slips.types", text=step.text)
        return _type(step.model_copy(update={"why": why}), other, step.text or "")

    def mend(self, course: Course, sight: Sight) -> Decision | bool:
        """Take the text back as it stands in the wrong field; what that has not brought back is typed again."""
        other = next((one for one in sight.elements() if one.attrs.get("id") == self._said), None)
        if other is None:
            return True
        if other.value != self._wrong or self._undone == _UNDONE_AT_MOST:
            return self._restore(other) if self._undone else True
        self._undone += 1
        course.set_back()
        return decide(Key(key="Control+z"), sentence("slips.wrong_field", text=self._wrong))

    def _restore(self, other: Node) -> Decision | bool:
        """Return the entry that makes a field as it was, once, where it is not and held something; True: no more is to be done."""
        if (other.value or "") == self._held or not self._held or self._is_restored:
            return True
        self._is_restored = True
        again = ReferenceStep(
            do=Do.TYPE, text=self._held, why=sentence("slips.restores", text=self._held)
        )
        return _type(again, other, self._held)


def _type(step: ReferenceStep, aim: Node, text: str) -> Decision:
    x, y = aim.point or (0.0, 0.0)
    return decide(TypeText(x=x, y=y, text=text, overwrite=True), step.why)


def _is_plain(field: Node) -> bool:
    """Return whether a field is written into as it is, and nothing helps with it."""
    kind, more = field.attrs.get("type", ""), field.attrs.keys() & {"data-picker", "role", "list"}
    return kind in _PLAIN_TYPES and not more and "readonly" not in field.attrs


def _is_in_form(field: Node, sight: Sight) -> bool:
    """Return whether a field is one of several of a form that changes something."""
    forms = (one for one in sight.page.front.walk() if one.tag == "form")
    for form in (one for one in forms if one.attrs.get("method", "get").casefold() == "post"):
        held = list(form.walk())
        if any(one is field for one in held):
            return sum(is_field(one) and one.shown for one in held) > 1
    return False


def _is_needed(field: Node, sight: Sight) -> bool:
    """Return whether a field is marked as one that has to be filled."""
    return any(
        "needed" in one.attrs.get("class", "").split() and any(each is field for each in one.walk())
        for one in sight.page.front.walk()
        if one.tag in ("div", "fieldset")
    )


def _as_refused(text: str, field: Node, random: Random) -> str | None:
    """Return a value as a form refuses it; None: it would take it."""
    if field.attrs.get("inputmode") in _NUMERIC:
        return text.replace("0", "o", 1) if "0" in text else f"{text}{random.choice('qwe')}"
    if not _ISO_DAY.fullmatch(field.attrs.get("placeholder", "")):
        return None
    day = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text)
    return f"{day[1]}-{day[3]}-{day[2]}" if day is not None and int(day[3]) > 12 else None  # noqa: PLR2004


def _messages(step: ReferenceStep, sight: Sight) -> Iterator[str]:
    """Yield what stands in sight as the message at a step's field."""
    aim = sight.page.find(step)
    told = aim.attrs.get("aria-describedby", "") if aim is not None else ""
    for one in sight.elements():
        if told and one.attrs.get("id") == told and one.text:
            yield words(one.text)
