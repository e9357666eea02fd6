"""What a step changed in the fields of a page, and whether a later step took it back.

A field is known by its frame, its tag and its place among the fields of that tag, so that it is the same
one on a page that scrolled. A change is taken back if a later step writes over the text, or gives the
field the value again that it had before. A page that empties a field after Enter or a press of a button
took nothing back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.action import Click, Drag, Key, Select, TypeText
from schemas.episode import Step

_CHECKED = ("true", "false")


@dataclass(frozen=True, slots=True)
class Edit:
    """The change of one field's value."""

    field: tuple[str | None, str, int]
    """Its frame, its tag, and its place among the fields of these."""
    before: str
    """Its value before the step."""
    after: str
    """Its value after the step."""


def edits(before: Step, after: Step) -> tuple[Edit, ...]:
    """Return the fields that differ between a step and the next; none if the page has others then."""
    old, new = _values(before), _values(after)
    if before.page.url != after.page.url or old.keys() != new.keys():
        return ()
    return tuple(Edit(key, old[key], new[key]) for key in old if old[key] != new[key])


def _values(step: Step) -> dict[tuple[str | None, str, int], str]:
    places: dict[tuple[str | None, str], int] = {}
    out: dict[tuple[str | None, str, int], str] = {}
    for one in step.elements:
        if one.value is None:
            continue
        place = places.get((one.frame, one.tag), 0)
        places[one.frame, one.tag] = place + 1
        out[one.frame, one.tag, place] = one.value
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
            if change.after == own.before and _acts_on(step, change):
                return True
            if isinstance(step.action, TypeText | Select) and not change.after.startswith(value):
                return change.before.startswith(value)
            if not change.after.startswith(value) and own.after not in _CHECKED:
                return False
    return False


def _acts_on(step: Step, change: Edit) -> bool:
    """Return whether a step itself changed a field, rather than the page that it was sent from."""
    match step.action:
        case Key(key=key):
            return key not in ("Enter", "NumpadEnter")
        case TypeText(enter=enter):
            return not enter
        case Click() | Drag():
            return change.after != ""
    return isinstance(step.action, Select)
