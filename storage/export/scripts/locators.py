"""How a script names an element: by role and name, else by its label or its words, else not at all.

What a recording holds of an element is what a person sees of it. Its role is as its tag or its page says; its name is that
by which assistive technology calls it in all but rare cases. An element has a number only if the recorded page
showed several that are called the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from schemas.episodes.observation import Box, Element
from storage.export.scripts.statements import PAGE, Call, Chain

NAMED_ROLES = frozenset(
    {
        *("button", "link", "checkbox", "radio", "switch", "textbox", "searchbox", "combobox"),
        *("listbox", "spinbutton", "slider", "tab", "menuitem", "menuitemcheckbox"),
        *("menuitemradio", "option", "treeitem", "gridcell", "cell", "columnheader", "rowheader"),
        *("heading", "img"),
    }
)
"""Roles of elements that have a name of their own."""

_FIELDS = {"input", "textarea", "select"}
_BOXES = {"button", "checkbox", "radio", "switch"}
"""Roles of fields whose label follows them."""

_MAX_NAME = 190
"""The longest name that is used, in characters: recordings cut those that are a little longer."""

_NEAR_PX = 0.5


class By(StrEnum):
    """By what a script names an element."""

    ROLE = "role"
    """By its role and name."""
    LABEL = "label"
    """By the label beside it."""
    TEXT = "text"
    """By its own words."""


@dataclass(frozen=True, slots=True)
class Named:
    """An element as a script names it."""

    by: By
    """By what."""
    chain: Chain
    """The calls that find it on the page in sight."""


def name_of(element: Element, elements: Sequence[Element] = ()) -> str:
    """Return the name of an element as its page writes it, whatever case a style shows it in."""
    inner = (one.text for one in elements if _is_within(one.bbox, element.bbox))
    for written in (element.text, *inner):
        if written and written.casefold() == element.name.casefold():
            return written
    return element.name


def find_name(element: Element, elements: Sequence[Element]) -> Named | None:
    """Return how a script finds an element among those of its page; None: it has no name that would do."""
    name = name_of(element, elements)
    if element.frame is not None or not name or len(name) > _MAX_NAME:
        return None
    if element.tag == "label":
        control = _control_of(element, elements)
        if control is not None:
            return find_name(control, elements)
    if element.role in NAMED_ROLES and not _has_label(element, elements):
        call = Call("get_by_role", (element.role,), {"name": name, "exact": True})
        return Named(By.ROLE, (*PAGE, call, *_number(element, elements, by_role=True)))
    if element.tag in _FIELDS:
        call = Call("get_by_label", (name,), {"exact": True})
        return Named(By.LABEL, (*PAGE, call, *_number(element, elements, by_role=False)))
    if element.text:
        call = Call("get_by_text", (element.text,), {"exact": True})
        same = [one for one in elements if one.text == element.text and one.frame is None]
        visible = Call("filter", (), {"visible": True})
        return Named(By.TEXT, (*PAGE, call, visible, *_place(element, same)))
    return None


def find_again(element: Element, elements: Sequence[Element]) -> Element | None:
    """Return the same element on a later page: of its role and name, and the nearest to where it was; None: it is gone."""
    same = [one for one in elements if _is_called_as(one, element, by_role=True)]
    return min(same, key=lambda one: _distance(one.bbox, element.bbox), default=None)


def _has_label(element: Element, elements: Sequence[Element]) -> bool:
    """Return whether a field has a label with its name: a mark that a style adds to it would be a part of the name."""
    is_box = element.role in _BOXES
    is_field = element.tag in _FIELDS and not is_box
    return is_field and any(one.tag == "label" and one.name == element.name for one in elements)


def _control_of(label: Element, elements: Sequence[Element]) -> Element | None:
    """Return the control that a label is of, where the page shows it."""
    same = (one for one in elements if one.tag in _FIELDS and one.name == label.name)
    return min(same, key=lambda one: _distance(one.bbox, label.bbox), default=None)


def _number(element: Element, elements: Sequence[Element], *, by_role: bool) -> Iterator[Call]:
    same = [one for one in elements if _is_called_as(one, element, by_role=by_role)]
    return _place(element, same)


def _place(element: Element, same: Sequence[Element]) -> Iterator[Call]:
    """Yield the call that tells an element from others that are called the same; nothing if it is alone."""
    if len(same) > 1:
        place = next(n for n, one in enumerate(same) if one is element)
        yield Call("nth", (place,))


def _is_called_as(one: Element, other: Element, *, by_role: bool) -> bool:
    is_alike = one.role == other.role if by_role else one.tag in _FIELDS
    return is_alike and one.name == other.name and one.frame is None


def _is_within(inner: Box, outer: Box) -> bool:
    left, top, width, height = inner
    return (
        left >= outer[0] - _NEAR_PX
        and top >= outer[1] - _NEAR_PX
        and left + width <= outer[0] + outer[2] + _NEAR_PX
        and top + height <= outer[1] + outer[3] + _NEAR_PX
    )


def _distance(one: Box, other: Box) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])
