"""Endings: what in the last picture proves that a task is done, or its answer: a saved value, a row that is gone, what was noted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from generators.policy.course import Taken
from generators.policy.element_names import names, words
from generators.policy.listed_rows import row_of, says
from generators.policy.reference_actions import FILLS
from generators.policy.sight import Sight
from generators.policy.thoughts import visible
from generators.policy.thoughts.remarks import Remark
from schemas.episodes.action import Action, Answer
from schemas.tasks.reference import Do, Fact, Purpose

_SAVES = {Purpose.SAVE, Purpose.SURE}
_CELLS = {
    *(Purpose.FILL_CELL, Purpose.ENTER_CELL),
    *(Purpose.CHOOSE_CELL, Purpose.CHOOSE_CELL_AT_ONCE),
}
_STEPS = {Purpose.STEP, Purpose.CARD_STEP, Purpose.MOVE_CARD}
_SHORTEST = 3
"""Shorter values, as "No", may stand in a goal for something else, in characters."""

_FEWEST = 2
"""So many noted rows are told by the first and the last."""


class Written(Protocol):
    """What an episode has written down."""

    written: list[Fact]
    """All of it, in order."""
    told: list[Fact]
    """Those of them whose label may be named."""
    seen_last: list[Fact]
    """What the last picture shows that was not written down any more."""


class Past(NamedTuple):
    """What was done and seen in an episode."""

    goal: str
    """The task's goal, in small letters."""
    done: Sequence[Taken]
    """The steps that were taken."""
    notes: Written
    """What was written down."""
    before: Mapping[str, str]
    """The values by labels that the page in sight has shown first."""


def proofs(action: Action, sight: Sight, past: Past) -> Iterator[Remark]:
    """Yield what can be said at an episode's end; nothing before it."""
    if not isinstance(action, Answer):
        return
    if action.text:
        yield from _of_answer(action.text, sight, past.notes)
        return
    saved = dict(_find_saved(past.done))
    for label, value in visible.facts(sight):
        if past.before.get(label, value) != value:
            yield Remark("changed", label, value, past.before[label])
        elif saved.get(label) == value:
            yield Remark("proof", label, value)
        elif _is_wanted_state(value, sight, past):
            yield Remark("fact", label, value)
    yield from _in_cell(past.done, sight)
    for label, text in saved.items():  # as on a page of settings, which is a form
        if visible.holds_text(label, text, sight):
            yield Remark("entered", label, text)
    name = _find_deleted(past.done)
    if name and visible.rows(sight).names and not sight.shows(name):
        yield Remark("gone", name)


def _is_wanted_state(value: str, sight: Sight, past: Past) -> bool:
    """Return whether a value is in the goal of a task that takes a row to another state, and is no row's name."""
    is_taken_on = any(one.step.purpose in _STEPS for one in past.done)
    links = (words(one.text) for one in sight.elements() if one.tag == "a")
    is_name = value == words(sight.screen.heading) or value in links
    return (
        is_taken_on
        and not is_name
        and len(value) >= _SHORTEST
        and names(past.goal, value.casefold())
    )


def _of_answer(text: str, sight: Sight, notes: Written) -> Iterator[Remark]:
    """Yield under which label a picture shows an answer, and how many rows were noted or are in sight where that is it."""
    for label, value in visible.facts(sight):
        if value == words(text):
            yield Remark("fact", label, value)
    noted = [one.of for one in notes.written if one.label is None]
    seen = [one.of for one in notes.seen_last if one.label is None]
    if text != str(len(noted) + len(seen)):
        return
    if noted and seen:
        yield Remark("noted_and_seen", str(len(noted)), seen[0], str(len(seen)))
    elif len(noted) >= _FEWEST:
        yield Remark("all_noted", noted[0], noted[-1], text)
    elif len(seen) >= _FEWEST:
        yield Remark("all_seen", seen[0], seen[-1], text)


def _find_saved(done: Sequence[Taken]) -> Iterator[tuple[str, str]]:
    """Yield what was entered into the form that was saved last, by the labels of its fields."""
    saves = [at for at, one in enumerate(done) if one.sends or one.step.purpose in _SAVES]
    last = saves[-1] if saves else 0
    asked = {at for at in saves if at >= last - 1}  # the form, and what asks whether it is right
    screens = {done[at].screen for at in asked}
    for one in done[:last]:
        step = one.step
        if one.screen not in screens:
            continue
        if step.purpose is Purpose.OPTION and step.within and step.on:
            yield step.within, step.on
        elif step.do in FILLS and step.on and step.text:
            yield step.on, step.text


def _in_cell(done: Sequence[Taken], sight: Sight) -> Iterator[Remark]:
    """Yield what was put into a cell of a table last, where its row says it."""
    text = next((one.step.text for one in reversed(done) if one.step.purpose in _CELLS), None)
    name = next((one.step.on for one in reversed(done) if one.step.do is Do.FIND), None)
    links = (one for one in sight.elements() if name and words(one.text) == name)
    fact = Fact(of=name, label="cell", value=text) if name and text else None
    if fact is not None and any(says(row_of(one, sight), fact) for one in links):
        yield Remark("cell", name or "", text or "")


def _find_deleted(done: Sequence[Taken]) -> str:
    """Return the name of the row that was deleted last; empty: none was, or its page was opened otherwise."""
    last = done[-1] if done else None
    if last is None or last.step.purpose is not Purpose.CONFIRM:
        return ""
    opened = (
        one.step.on for one in reversed(done) if one.step.purpose in (Purpose.ROW, Purpose.TWICE)
    )
    return next(opened, None) or ""
