"""The mistakes in the steps of a failed episode, as far as stored states and screenshots show them.

The goal is the measure. A typed text must have been in sight. A choice must be the one that the goal names,
if the goal names any of its kind. A field that held a value from the goal must keep it, and the parts of
the goal before "then" come first. Three kinds of step had no use: a press beside all usable elements, a
drag that only marks text, and a second press that restores the page.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from generators.verify.changes import (
    Edit,
    acts_on,
    aimed_at,
    is_beside,
    is_just_beside,
    looks_alike,
    marks_text,
)
from generators.verify.seen import find_text
from generators.verify.shifts import texts_of
from generators.verify.shown import Picture, Shown, Words, split_words
from generators.verify.thoughts import quotes
from schemas.episodes.action import Button, Click, Drag, TypeText, target_point
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Element, Sight

MIN_WORD = 3
"""Least number of letters of a visible word by which the goal can mean an unnamed element."""

_ALIKE = 0.8
"""Share of letters in common, from which on a text is taken for another that is misspelt."""

_CHOICES = ("label", "li", "option")
_ROWS = ("div", "tr")
_TICKS = ("true", "false")
_TEXT_FIELDS = ("textbox", "searchbox")
_MARKING = ("highlight",)
_MARKS = ".,;:!?\"'()[]"
_DIGIT = re.compile(r"\d")
_NUMBERED = re.compile(r"\d\D+\d")


class Faults:
    """The mistakes in the steps of an episode."""

    def __init__(
        self, episode: Episode, *, visible: Sequence[bool | None], edits: Sequence[Sequence[Edit]]
    ) -> None:
        """`visible` has, by step, whether a change is visible; `edits` the changed fields."""
        self._episode = episode
        self._visible = visible
        self._steps = episode.steps
        self._edits = edits
        self._goal = Words(None, [(episode.instruction, None)])
        parts = re.split(r"\bthen\b", episode.instruction)
        self._parts = [Words(None, [(part, None)]) for part in parts]
        self._shown: Shown | None = None
        self.spoilt = {
            number for number, own in enumerate(edits) if any(self._spoils(number, e) for e in own)
        }
        """The steps after which a field lost the goal's value for good."""

    def of(self, step: Step) -> str | None:
        """Return the mistake in a step of a failed episode, as a sentence; None if there is no sign of one."""
        after, clicked = self._steps[step.step + 1], isinstance(step.action, Click)
        pointed = isinstance(step.action, Click | Drag)
        button = getattr(step.action, "button", Button.LEFT)
        if button is Button.RIGHT and texts_of(after) - texts_of(step):  # a menu opened
            clicked = pointed = False
        marked = isinstance(step.action, Drag) and marks_text(step, after)
        marked = marked and not any(self._goal.find([word]) for word in _MARKING)
        faults = (
            (self.is_invented(step), "the text that it typed had been nowhere in sight"),
            (step.step in self.spoilt, "it changed a field that held what the goal names"),
            (self._is_other_value(step), "the goal names another value of this form"),
            (marked, "it marked text, and moved nothing"),
            (pointed and is_just_beside(step), "it pressed just beside what can be used"),
            (clicked and is_beside(step, after), "it pressed beside all, and took the focus away"),
            (clicked and self._takes_back(step), "it took back what it had done before"),
            (clicked and self._is_wrong_choice(step), "the goal names another choice in sight"),
            (clicked and self.is_early(step), "the goal names another before it"),
        )
        return next((because for holds, because in faults if holds), None)

    def is_named(self, aim: Element) -> bool:
        """Return whether the goal names an element."""
        return _is_named(self._goal, aim)

    def names(self, value: str) -> bool:
        """Return whether the goal has a value."""
        return bool(split_words(value)) and self._goal.find(split_words(value)) is not None

    def is_invented(self, step: Step) -> bool:
        """Return whether a typed text has no basis in what the policy had seen."""
        action = step.action
        if not isinstance(action, TypeText) or not action.text.strip() or step.sights is None:
            return False
        return find_text(action.text, step.thought or "", self._shown_at(step.step)) is None

    def is_misspelt(self, step: Step) -> bool:
        """Return whether a typed text without a basis is all but a text that the goal has, quoted or not."""
        if not isinstance(step.action, TypeText):
            return False
        text, goal = step.action.text.casefold(), self._episode.instruction.casefold()
        count, words = len(text.split()), [word.strip(_MARKS) for word in goal.split()]
        runs = (" ".join(words[at : at + count]) for at in range(len(words) - count + 1))
        near = (
            abs(len(name) - len(text)) <= 1
            and SequenceMatcher(None, name, text, autojunk=False).ratio() >= _ALIKE
            for name in (*map(str.casefold, quotes(goal)), *runs)
            if len(name) >= MIN_WORD and name != text
        )
        return any(near) and self.is_invented(step)

    def is_typed_again(self, step: Step) -> bool:
        """Return whether a text without a basis was replaced later by another at the same point."""
        later = (one.action for one in self._steps[step.step + 1 :])
        places = {target_point(one) for one in later if isinstance(one, TypeText)}
        return target_point(step.action) in places - {None} and self.is_invented(step)

    def _is_other_value(self, step: Step) -> bool:
        """Return whether a field got a number, date or time other than those that the goal has in this form."""
        words = [word.strip(_MARKS) for word in self._episode.instruction.split()]
        forms = {_form(word) for word in words if _NUMBERED.search(word)}
        return any(
            acts_on(step, one) and _form(one.after) in forms and one.after not in words
            for one in self._edits[step.step]
        )

    def _spoils(self, number: int, edit: Edit) -> bool:
        """Return whether this step replaced a field's value from the goal, and no later step restored it."""
        kept = [n for n, value in self._values(edit) if self._is_wanted(edit.element, value)]
        grown = edit.after not in _TICKS and edit.before in edit.after
        own = acts_on(self._steps[number], edit) and not grown
        return own and bool(kept) and max(kept) < number

    def _values(self, edit: Edit) -> Iterator[tuple[int, str]]:
        """Yield the number of each step that edited this field, with the field's value after it."""
        for number, own in enumerate(self._edits):
            for one in own:
                if one.field == edit.field:
                    yield number, one.after

    def _is_wanted(self, field: Element, value: str) -> bool:
        if value in _TICKS:
            return value == "true" and self.is_named(field)
        return self._goal.find(split_words(value)) is not None

    def _is_wrong_choice(self, step: Step) -> bool:
        """Return whether the goal names another choice of the same kind instead of this one."""
        aim = aimed_at(step)
        if aim is None or self._is_meant(aim, step):
            return False
        row = aim.tag in _ROWS and any(_within(aim, step.sights or ()))
        if aim.value == "true" or not (row or aim.value == "false" or aim.tag in _CHOICES):
            return False
        return any(
            self._is_meant(other, step) and (not row or other.bbox[2:] == aim.bbox[2:])
            for other in _alike(aim, step)
        )

    def _is_meant(self, aim: Element, step: Step) -> bool:
        """Return whether the goal names an element or visible words on it."""
        return self.is_named(aim) or any(
            self._goal.find(split_words(one.text)) is not None
            for one in _within(aim, step.sights or ())
        )

    def is_early(self, step: Step) -> bool:
        """Return whether the goal requires something before this press: a text, or another element of the kind."""
        aim = aimed_at(step)
        if aim is None or aim.value is not None:
            return False
        if self._lacks_text(aim, step):
            return True
        first = next((n for n, part in enumerate(self._parts) if _is_named(part, aim)), 0)
        used = [aimed_at(one) for one in self._steps[: step.step]]
        return any(
            other not in used and any(_is_named(part, other) for part in self._parts[:first])
            for other in _alike(aim, step)
        )

    def _lacks_text(self, aim: Element, step: Step) -> bool:
        """Return whether the goal quotes a text before it names this button, and a field is still empty."""
        goal = self._episode.instruction
        button = aim.name and "button" in (aim.role, aim.tag)
        named = re.search(rf"(?<!\w){re.escape(aim.name)}(?!\w)", goal) if button else None
        at = named.start() if named else -1
        fields = [
            one.value for one in step.elements if one.role in _TEXT_FIELDS and one.visible > 0
        ]
        before = quotes(goal[: max(at - 1, 0)])
        return "" in fields and bool(before) and not {*before} & {*fields}

    def _takes_back(self, step: Step) -> bool:
        """Return whether a press restored the state before an earlier press on the same target."""
        after, aim = self._steps[step.step + 1], aimed_at(step)
        if (
            aim is not None and aim.role in _TEXT_FIELDS and aim.value is not None
        ):  # a field that is made active again
            return False
        return aim is not None and any(
            isinstance(one.action, Click)
            and aimed_at(one) == aim
            and self._visible[one.step]
            and looks_alike(one, after)
            for one in self._steps[: step.step]
        )

    def _shown_at(self, number: int) -> Shown:
        """Return the goal, dialogs and screenshots that the policy had seen up to a step."""
        if self._shown is None:
            scale = self._episode.device_scale_factor
            pictures = tuple(Picture(step, scale=scale) for step in self._steps)
            self._shown = Shown((self._goal,), pictures)
        said = [step.result_text for step in self._steps[:number] if step.result_text]
        texts = tuple(Words(None, [(text, None)]) for text in said)
        return Shown((*self._shown.texts, *texts), self._shown.pictures[: number + 1])


def _is_named(goal: Words, aim: Element) -> bool:
    return any(
        goal.find(words) is not None
        for words in (split_words(aim.name), split_words(aim.text))
        if words
    )


def _form(value: str) -> str:
    return _DIGIT.sub("0", value)


def _alike(aim: Element, step: Step) -> Iterator[Element]:
    """Yield the visible elements with the role and tag of an element."""
    for other in step.elements:
        same = (other.role, other.tag) == (aim.role, aim.tag)
        if same and other.visible > 0 and not other.covered:
            yield other


def _within(aim: Element, sights: Sequence[Sight]) -> Iterator[Sight]:
    """Yield the visible words on an element."""
    left, top, width, height = aim.bbox
    for one in sights:
        x, y = one.bbox[0] + one.bbox[2] / 2, one.bbox[1] + one.bbox[3] / 2
        long = len(one.text) >= MIN_WORD
        if long and left <= x <= left + width and top <= y <= top + height:
            yield one
