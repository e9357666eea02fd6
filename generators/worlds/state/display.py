"""The one way in which pages and instructions write a value of a world, and in which forms read it back."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import NamedTuple

from schemas.worlds.field import DataField, Kind
from schemas.worlds.look import Amounts, Days
from schemas.worlds.world import World

Titles = Mapping[str, Mapping[int, str]]
"""By entity, the titles of its rows by id."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
"""The months in English."""

EXAMPLE_DAY = date(2026, 3, 9)
"""The day by which pages show how dates are written."""

_GERMAN = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli"),
    *("August", "September", "Oktober", "November", "Dezember"),
)
_FRENCH = (
    *("janvier", "février", "mars", "avril", "mai", "juin", "juillet"),
    *("août", "septembre", "octobre", "novembre", "décembre"),
)
_SPANISH = (
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio"),
    *("agosto", "septiembre", "octubre", "noviembre", "diciembre"),
)
_DAYS: Mapping[Days, tuple[str, tuple[str, ...]]] = {
    Days.ISO: ("{y}-{m:02}-{d:02}", ()),
    Days.SLASHES: ("{d:02}/{m:02}/{y}", ()),
    Days.MONTH_FIRST: ("{m:02}/{d:02}/{y}", ()),
    Days.DOTS: ("{d:02}.{m:02}.{y}", ()),
    Days.ENGLISH: ("{d} {name} {y}", MONTHS),
    Days.AMERICAN: ("{name} {d}, {y}", tuple(month[:3] for month in MONTHS)),
    Days.GERMAN: ("{d}. {name} {y}", _GERMAN),
    Days.FRENCH: ("{d} {name} {y}", _FRENCH),
    Days.SPANISH: ("{d} de {name} de {y}", _SPANISH),
    Days.JAPANESE: ("{y}年{m}月{d}日", ()),
}
"""How days are written, and the months that have names there."""

_SUNDAY_FIRST = {"en_US", "ja_JP"}
"""The locales whose weeks begin with a Sunday."""

_AMOUNTS = {
    Amounts.POINT: (",", "."),
    Amounts.COMMA: (".", ","),
    Amounts.SPACE: (" ", ","),
    Amounts.WHOLE: (",", ""),
}
"""What parts thousands, and what stands before hundredths; empty: they are not written."""


def show(world: World, entity: str, field: str, value: str | int | None, titles: Titles) -> str:
    """Return the words of a field's value: `$1,234.50`, `9 March 2026`, the title of the row that a link leads to.

    Args:
        world: the specification.
        entity: the entity's name.
        field: the field's name.
        value: what a row holds there; None: nothing.
        titles: of the rows of all entities that links lead to.

    Raises:
        KeyError: there is no such entity, field or row.
        TypeError: the field's kind holds no such value.
    """
    held = world.entity(entity).field(field)
    if held.target is not None and value is not None:
        if not isinstance(value, int):
            raise TypeError(f"'{entity}.{field}' holds a whole number, got {value!r}")
        return titles[held.target][value]
    try:
        return show_value(world, held, value)
    except TypeError as error:
        raise TypeError(f"'{entity}.{field}' {error}") from None


def show_value(world: World, field: DataField, value: str | int | None) -> str:
    """Return the words of a value of a field that is no link.

    Raises:
        TypeError: the field's kind holds no such value.
    """
    if value is None:
        return world.words.none
    match field.kind:
        case Kind.MONEY:
            if not isinstance(value, int):
                raise TypeError(f"holds a whole number, got {value!r}")
            return f"{'-' if value < 0 else ''}{_show_amount(world, abs(value))}"
        case Kind.DATE:
            return show_day(world, date.fromisoformat(str(value)))
        case Kind.FLAG:
            return world.words.yes if value else world.words.no
        case _:
            return str(value)


def _show_amount(world: World, value: int) -> str:
    thousands, point = _AMOUNTS[world.amounts]
    whole, cents = divmod(value, 100)
    digits = f"{whole:,}".replace(",", thousands) + (f"{point}{cents:02}" if point else "")
    if world.amounts in {Amounts.COMMA, Amounts.SPACE}:
        return f"{digits} {world.currency}"
    return f"{world.currency}{digits}"


def show_day(world: World, day: date) -> str:
    """Return a day as pages write it."""
    template, months = _DAYS[world.days]
    name = months[day.month - 1] if months else ""
    return template.format(y=day.year, m=day.month, d=day.day, name=name)


def has_padded_numbers(days: Days) -> bool:
    """Return whether days are written in numbers of two digits at least."""
    return "{m:02}" in _DAYS[days][0]


class DayWriting(NamedTuple):
    """How a world writes days, as scripts are told it."""

    template: str
    """With `{y}`, `{m}`, `{d}` and `{name}` of the month, with `:02` where a zero may lead: `{d} {name} {y}`."""
    months: tuple[str, ...]
    """The names of months; empty: it writes their numbers."""
    first: int
    """The day that its weeks begin with, 0 Sunday, 1 Monday."""


def day_writing(world: World) -> DayWriting:
    """Return how a world writes days."""
    template, months = _DAYS[world.days]
    return DayWriting(template, months, 0 if world.locale in _SUNDAY_FIRST else 1)


def read_day(world: World, text: str) -> date | None:
    """Return the day that a text states, as pages write it or as `2026-03-09`; None: it states none."""
    for days in (world.days, Days.ISO):
        found = _day_pattern(days).fullmatch(text)
        if found is None:
            continue
        parts = found.groupdict()
        months = [month.casefold() for month in _DAYS[days][1]]
        name = parts.get("name", "").casefold()
        month = months.index(name) + 1 if name in months else int(parts.get("m", 0))
        try:
            return date(int(parts["y"]), month, int(parts["d"]))
        except ValueError:
            continue
    return None


@cache
def _day_pattern(days: Days) -> re.Pattern[str]:
    """Match a day that is written in a way, with the leading zeros or without."""
    pattern = re.escape(_DAYS[days][0]).replace(":02", "")
    shapes = {"y": r"\d{4}", "m": r"\d{1,2}", "d": r"\d{1,2}", "name": r"[^\W\d]+"}
    for part, shape in shapes.items():
        pattern = pattern.replace(rf"\{{{part}\}}", f"(?P<{part}>{shape})")
    return re.compile(pattern.replace(r"\ ", r"\s+"))


def read_amount(world: World, text: str) -> int | None:
    """Return the hundredths that a text states, as pages write them or as `1234.50`; None: it states none."""
    bare = "".join(text.replace(world.currency, "", 1).split())
    thousands, point = _AMOUNTS[world.amounts]
    for parting, mark in ((thousands.strip(), point), (",", ".")):
        part, cents = re.escape(parting), rf"(?:{re.escape(mark)}(\d{{1,2}}))?" if mark else "()"
        found = re.fullmatch(rf"(-?)(\d+|\d{{1,3}}(?:{part}\d{{3}})+){cents}", bare, re.ASCII)
        if found is not None:
            whole = int(re.sub(r"\D", "", found[2])) * 100
            value = whole + int((found[3] or "").ljust(2, "0"))
            return -value if found[1] else value
    return None


def cell_name(label: str, title: str) -> str:
    """Return what a cell of a grid is called: by its column and its row's title."""
    return f"{label}, {title}"
