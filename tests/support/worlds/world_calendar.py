"""What the browser and the script of calendars do to fields of dates, in the tree of a page that runs no script."""

from datetime import date

from generators.browser.protocol import Node
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.language import Language

_MONTHS = 12
_HELD = "data-calendar"
"""The attribute of a calendar's elements; its value is the name of the field that they belong to."""


def write_day(field: Node, text: str) -> bool:
    """Type into a native field of a date, part by part; return whether it is one."""
    if field.attrs.get("type") != "date":
        return False
    month, _, rest = text.partition("/")
    day, _, year = rest.partition("/")
    field.attrs["value"] = date(int(year), int(month), int(day)).isoformat() if text else ""
    return True


def click_calendar(root: Node, node: Node) -> bool:
    """Open a field's calendar, turn it, or choose its day; return whether it was one that was clicked."""
    if "data-picker" in node.attrs:
        held = node.attrs["value"] or node.attrs["data-today"]
        _show(root, node, date.fromisoformat(held).replace(day=1))
    elif _HELD in node.attrs:
        field = next(one for one in root.walk() if one.attrs.get("name") == node.attrs[_HELD])
        day = date.fromisoformat(node.attrs["data-day"])
        if node.text:
            field.attrs["value"] = day.isoformat()
            _close(root)
        else:
            _show(root, field, day)
    else:
        return False
    return True


def _show(root: Node, field: Node, month: date) -> None:
    _close(root)
    html = next((one for one in root.walk() if "lang" in one.attrs), root)
    words = catalogue(Language(html.attrs.get("lang", "en")))
    names = words.among("dates.months")
    count = month.year * _MONTHS + month.month - 1
    months = [date((count + by) // _MONTHS, (count + by) % _MONTHS + 1, 1) for by in (-1, 0, 1)]
    name = field.attrs["name"]
    root.children.append(_node(name, words.say("dates.previous_month"), months[0]))
    root.children.append(_node(name, words.say("dates.next_month"), months[2]))
    day_count = (months[2] - months[1]).days
    for day in (month.replace(day=number + 1) for number in range(day_count)):
        label = words.say(
            "dates.day_of_month", day=day.day, month=names[day.month - 1], year=day.year
        )
        root.children.append(_node(name, label, day, text=str(day.day)))


def _close(root: Node) -> None:
    root.children[:] = [one for one in root.children if _HELD not in one.attrs]


def _node(name: str, label: str, day: date, *, text: str = "") -> Node:
    return Node(
        tag="span",
        attrs={_HELD: name, "aria-label": label, "data-day": day.isoformat(), "type": "button"},
        text=text,
        own_text=text,
        box=(0.0, 0.0, 1.0, 1.0),
        point=(0.0, 0.0),
        shown=True,
        style={},
    )
