"""Which steps only moved what is shown: scrolls, and turns of a list's page; and what pictures show in words.

A shift brings more of the same into sight. Another step that shows something new opens it: a page, a menu, a section.
A list's page is turned where one number of the address differs, where the label says no more than "next" or a number, or
where further rows stand in line with those that were there. A calendar's sheet that is turned is no shift.
"""

import re
from collections import Counter
from urllib.parse import parse_qsl, urlsplit

from generators.verify.changes import aimed_at
from schemas.episodes.action import Click, Key, Scroll, target_point
from schemas.episodes.episode import Step
from schemas.episodes.observation import Element, holds

_MOVING_KEYS = ("Home", "End", "PageUp", "PageDown", "Control+Home", "Control+End", "Space")
_TURNING = frozenset(
    [
        *("next", "previous", "prev", "more", "older", "newer", "earlier", "later", "show", "load"),
        *("results", "rows", "entries", "ones", "the"),
        *("page", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "»", ">", "→", "▸", "▶"),
        *("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "«", "<", "←", "◂", "◀"),
    ]
)
"""Words of which the label of a control that turns the pages of a list consists, beside numbers."""

_MIN_ROWS = 3
"""Things of one form that make a list."""

_DAYS = {str(day) for day in range(1, 29)}
"""What every sheet of a calendar shows."""


def is_shift(step: Step, after: Step) -> bool:
    """Return whether a step only moved what is shown: it scrolled, or turned a page of a list."""
    match step.action:
        case Scroll():
            return True
        case Key(key=key) if key in _MOVING_KEYS:
            return step.page.url == after.page.url and step.page.scroll_y != after.page.scroll_y
        case Click():
            return _turns_page(step, after)
    return False


def _turns_page(step: Step, after: Step) -> bool:
    """Return whether a click turned a page of a list, by its address, its label or the rows; a calendar's is none."""
    here, there = urlsplit(step.page.url), urlsplit(after.page.url)
    if here.path != there.path or here.netloc != there.netloc:
        return False
    old, new = dict(parse_qsl(here.query)), dict(parse_qsl(there.query))
    differ = [name for name in {*old, *new} if old.get(name) != new.get(name)]
    aim, label = aimed_at(step), ""
    if aim is not None:
        label = aim.name or aim.text
    words = re.findall(r"[^\W\d_]+|[^\w\s]", label.casefold())
    if len(differ) == 1 and new.get(differ[0], "1").isdigit() and old.get(differ[0], "1").isdigit():
        return bool(new) or set(words) <= _TURNING  # a link to the list itself opens it anew
    fields = [one for one in after.elements if one.role in ("textbox", "searchbox", "combobox")]
    known = {one.name for one in step.elements}
    if differ or any(one.name not in known for one in fields):
        return False
    if shows_days(after):
        return False
    return (bool(words) and set(words) <= _TURNING) or _lists_more(step, after)


def shows_days(step: Step) -> bool:
    """Return whether a picture shows the sheet of a calendar."""
    return {one.text for one in step.sights or ()} >= _DAYS


def _lists_more(step: Step, after: Step) -> bool:
    """Return whether a list shows further rows: things that look like those that were there and are still there."""
    usable = [
        {(one.role, one.name): one for one in look.elements if one.interactive and one.name}
        for look in (step, after)
    ]
    edges = Counter(edge for one in usable[0].values() for edge in _edges(one))
    new = [one for key, one in usable[1].items() if key not in usable[0]]
    more = [one for one in new if any(edges[edge] >= _MIN_ROWS for edge in _edges(one))]
    lost = usable[0].keys() - usable[1].keys()
    return len(more) >= _MIN_ROWS and 4 * len(lost) <= len(usable[0])


def _edges(element: Element) -> tuple[tuple[str, str, int], ...]:
    """Return what things in a column have in common: their kind, and where they begin or end."""
    left, right = element.bbox[0], element.bbox[0] + element.bbox[2]
    return (element.tag, "left", round(left)), (element.tag, "right", round(right))


def texts_of(step: Step) -> frozenset[str]:
    """Return the texts that a picture shows."""
    return frozenset(" ".join(one.text.split()) for one in step.sights or () if one.text.strip())


def at_point(step: Step) -> frozenset[str]:
    """Return the words of what an action pointed at: texts in the picture there, and the element's name."""
    point = target_point(step.action)
    if point is None:
        return frozenset()
    aim = aimed_at(step)
    box = None if aim is None else aim.bbox
    own = {
        " ".join(one.text.split())
        for one in step.sights or ()
        if one.text.strip() and (holds(one.bbox, point) or (box and _is_inside(one.bbox, box)))
    }
    names = {aim.name, aim.text} if aim is not None else set[str]()
    return frozenset(own | {" ".join(name.split()) for name in names if name.strip()})


def _is_inside(box: tuple[float, ...], outer: tuple[float, ...]) -> bool:
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    return outer[0] <= x <= outer[0] + outer[2] and outer[1] <= y <= outer[1] + outer[3]
