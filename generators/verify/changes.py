"""What changed between a step and the next, in what can be seen and in the fields of the page.

A field is known by its frame, its tag and its place among the fields of that tag, so that it is the same
one on a page that scrolled. A change is taken back if a later step writes over the text, or gives the
field the value again that it had before. A page that empties a field after Enter or a press of a button
took nothing back, and a text that was replaced after a button was pressed had been tried.
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
"""From how far beside a thing a press was meant for it, CSS px."""

MAX_LOOP = 4
"""Actions of a loop."""

LOOKING = (Wait, Hover, Scroll)
"""The actions that only look."""

_CHECKED = ("true", "false")
_DRAWINGS = ("canvas", "svg", "circle", "rect", "ellipse", "line", "path", "polygon", "g", "image")


@dataclass(frozen=True, slots=True)
class Edit:
    """The change of one field's value."""

    field: tuple[str | None, str, int]
    """Its frame, its tag, and its place among the fields of these."""
    before: str
    """Its value before the step."""
    after: str
    """Its value after the step."""
    element: Element
    """The field, before the step."""


def edits(before: Step, after: Step) -> tuple[Edit, ...]:
    """Return the fields that differ between a step and the next; none if the page has others then."""
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
    """Return whether a later step took back all that a step changed in fields."""
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
    """Return whether a step itself changed a field, rather than the page that it was sent from."""
    match step.action:
        case Key(key=key):
            return key not in ("Enter", "NumpadEnter")
        case TypeText(enter=enter):
            return not enter
        case Click() | Drag():
            return change.after != ""
    return isinstance(step.action, Select)


def is_visible(before: Step, after: Step) -> bool | None:
    """Return whether something can be seen to differ between a step and the next.

    None: nothing else differs, and a picture is missing or does not decode.
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
    """Return whether elements, what is in sight, fields and address are the same after a step."""
    return (before.elements, before.sights, before.page.form_sha256, before.page.url) == (
        after.elements,
        after.sights,
        after.page.form_sha256,
        after.page.url,
    )


def loops(steps: Sequence[Step]) -> frozenset[int]:
    """Return the steps that did again what had been done and led back to where they began.

    Such a loop has at most `MAX_LOOP` actions, each of which is one of the `MAX_LOOP` before it.
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
    """Return whether the picture alone differs after a step, and its target is no drawing."""
    drawn = before.target is not None and before.target.tag in _DRAWINGS
    return (
        not drawn
        and looks_alike(before, after)
        and (before.page.dom_sha256 == after.page.dom_sha256)
    )


def is_beside(before: Step, after: Step) -> bool:
    """Return whether a step pointed at nothing that can be used, and took the focus away."""
    left = before.page.focus is not None and after.page.focus is None
    return left and aimed_at(before) is None


def is_just_beside(step: Step) -> bool:
    """Return whether a step pointed at nothing that can be used, but a few pixels beside it."""
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
    """Return the smallest usable element where an action points; None if there is none."""
    return element_at(step.elements, target_point(step.action))
