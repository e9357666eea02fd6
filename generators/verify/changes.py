"""Differences between a step and the next: visible ones, and those in form fields.

A field is identified by its frame, its tag and its index among the fields of that tag, so it keeps its
identity when the page scrolls. An edit is undone if a later step overwrites the text or restores the
earlier value. If the page itself empties a field after Enter or a button press, nothing is undone; a text
that is replaced after a button press counts as used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from generators.verify.pictures import differ
from schemas.episodes.action import (
    Answer,
    Click,
    Drag,
    Hover,
    Key,
    NoAction,
    Scroll,
    Select,
    TypeText,
    Wait,
    target_point,
)
from schemas.episodes.episode import Step
from schemas.episodes.observation import Element, element_at, holds

NEAR_PX = 8
"""A press within this distance of an element was meant for it, CSS px."""

MAX_LOOP = 4
"""Largest number of actions in a loop."""

LOOKING = (Wait, Hover, Scroll)
"""The actions that only look at the page."""

_CHECKED = ("true", "false")
_DRAWINGS = ("canvas", "svg", "circle", "rect", "ellipse", "line", "path", "polygon", "g", "image")


@dataclass(frozen=True, slots=True)
class Edit:
    """The change of one field's value."""

    field: tuple[str | None, str, int]
    """Frame, tag, and index among the fields of that tag in that frame."""
    before: str
    """Its value before the step."""
    after: str
    """Its value after the step."""
    element: Element
    """The field, before the step."""


def edits(before: Step, after: Step) -> tuple[Edit, ...]:
    """Return the fields whose values differ after a step; empty if the page then has another URL or other fields.

    Those of a page and of a dialog over it are others.
    """
    if (before.page.dialog is None) != (after.page.dialog is None):
        return ()
    old, new = _values(before), _values(after)
    if before.page.url != after.page.url or old.keys() != new.keys():
        return ()
    return tuple(
        Edit(key, str(old[key].value), str(new[key].value), old[key])
        for key in old
        if old[key].value != new[key].value
    )


def _values(step: Step) -> dict[tuple[str | None, str, int], Element]:
    places: dict[tuple[str | None, str], int] = {}
    out: dict[tuple[str | None, str, int], Element] = {}
    for one in step.elements:
        if one.value is None:
            continue
        place = places.get((one.frame, one.tag), 0)
        places[one.frame, one.tag] = place + 1
        out[one.frame, one.tag, place] = one
    return out


def taken_back(
    step: Step, own: Sequence[Edit], later: Sequence[tuple[Step, Sequence[Edit]]]
) -> bool:
    """Return whether later steps undid all of a step's edits."""
    if not own or not isinstance(step.action, Click | Drag | Key | Select | TypeText):
        return False
    return all(_is_taken_back(edit, later) for edit in own)


def _is_taken_back(own: Edit, later: Sequence[tuple[Step, Sequence[Edit]]]) -> bool:
    value = own.after
    for step, changes in later:
        for change in changes:
            if change.field != own.field:
                continue
            if change.after == own.before and acts_on(step, change):
                return True
            if isinstance(step.action, TypeText | Select) and not change.after.startswith(value):
                return change.before.startswith(value)
            if not change.after.startswith(value) and own.after not in _CHECKED:
                return False
        if step.target is not None and "button" in (step.target.tag, step.target.role):
            return False
    return False


def acts_on(step: Step, change: Edit) -> bool:
    """Return whether the step itself made an edit; false if the page may have made it, as after Enter."""
    match step.action:
        case Key(key=key):
            return key not in ("Enter", "NumpadEnter")
        case TypeText(enter=enter):
            return not enter
        case Click() | Drag():
            return change.after != ""
    return isinstance(step.action, Select)


def is_visible(before: Step, after: Step) -> bool | None:
    """Return whether a visible difference exists between a step and the next.

    None: nothing else differs, and a screenshot is missing or does not decode.
    """
    seen = before.sights is not None and after.sights is not None
    if (
        before.result_text is not None
        or before.page.url != after.page.url
        or before.elements != after.elements
        or (seen and before.sights != after.sights)
    ):
        return True
    return differ(before.screenshot.bytes, after.screenshot.bytes)


def looks_alike(before: Step, after: Step) -> bool:
    """Return whether elements, sights, form state and URL are equal after a step."""
    return (before.elements, before.sights, before.page.form_sha256, before.page.url) == (
        after.elements,
        after.sights,
        after.page.form_sha256,
        after.page.url,
    )


def loops(steps: Sequence[Step]) -> frozenset[int]:
    """Return the steps of loops: repeated actions that led back to the state in which they began.

    A loop has at most `MAX_LOOP` actions, and each is among the `MAX_LOOP` actions before the loop.
    """
    out = set[int]()
    for start in range(1, len(steps)):
        before = [one.action for one in steps[max(0, start - MAX_LOOP) : start]]
        for end in range(start + 1, min(start + MAX_LOOP, len(steps) - 1) + 1):
            last = steps[end - 1].action
            if last not in before or isinstance(last, (*LOOKING, Answer, NoAction)):
                break
            if not is_visible(steps[end - 1], steps[end]):
                break
            one, other = steps[start], steps[end]
            same = differ(one.screenshot.bytes, other.screenshot.bytes) is False
            if same and looks_alike(one, other):
                out |= {*range(start, end)}
                break
    return frozenset(out)


def marks_text(before: Step, after: Step) -> bool:
    """Return whether a step changed the screenshot alone and its target is not a drawing."""
    drawn = before.target is not None and before.target.tag in _DRAWINGS
    return (
        not drawn
        and looks_alike(before, after)
        and (before.page.dom_sha256 == after.page.dom_sha256)
    )


def is_beside(before: Step, after: Step) -> bool:
    """Return whether a step pointed at no usable element and the focus was lost."""
    left = before.page.focus is not None and after.page.focus is None
    return left and aimed_at(before) is None


def is_just_beside(step: Step) -> bool:
    """Return whether a step pointed at no usable element, but within `NEAR_PX` of one."""
    point = target_point(step.action)
    drawn = step.target is not None and step.target.tag in _DRAWINGS
    if point is None or drawn or aimed_at(step) is not None:
        return False
    boxes = [one.bbox for one in step.elements if one.interactive and not one.covered]
    return any(
        holds((x - NEAR_PX, y - NEAR_PX, width + 2 * NEAR_PX, height + 2 * NEAR_PX), point)
        for x, y, width, height in boxes
    )


def aimed_at(step: Step) -> Element | None:
    """Return the smallest usable element at an action's point, or None."""
    return element_at(step.elements, target_point(step.action))


def presses_next(steps: Sequence[Step]) -> bool:
    """Return whether the next action of another kind than the first step's presses a button."""
    then = next((one for one in steps if one.action != steps[0].action), None)
    pressed = None if then is None else aimed_at(then)
    return pressed is not None and pressed.role == "button"
