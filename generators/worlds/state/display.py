"""Formatting and parsing of values, the same in pages, forms and instructions."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import NamedTuple

from schemas.worlds.field import DataField, Kind
from schemas.worlds.look import Amounts, Days
from schemas.worlds.world import World

Titles = Mapping[str, Mapping[int, str]]
"""The titles of rows by entity and id."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
"""The months in English."""

EXAMPLE_DAY = date(2026, 3, 9)
"""The day in examples of date formats."""

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
"""The templates of days, with the names of months if used."""

_SUNDAY_FIRST = {"en_US", "ja_JP"}
"""The locales whose weeks begin on Sunday."""

_AMOUNTS = {
    Amounts.POINT: (",", "."),
    Amounts.COMMA: (".", ","),
    Amounts.SPACE: (" ", ","),
    Amounts.WHOLE: (",", ""),
}
"""The thousands separator and the decimal separator; an empty one: no hundredths."""


def show(world: World, entity: str, field: str, value: str | int | None, titles: Titles) -> str:
    """Return a field's value as displayed: `$1,234.50`, `9 March 2026`, the title of a linked row.

    `value` is None if the field is empty; `titles` has the titles of linked rows.

    Raises:
        KeyError: the entity, the field or the linked row does not exist.
        TypeError: the value does not fit the field's kind.
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
    """Return the value of a field other than a link as displayed.

    Raises:
        TypeError: the value does not fit the field's kind.
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
    """Return a day as displayed."""
    template, months = _DAYS[world.days]
    name = months[day.month - 1] if months else ""
    return template.format(y=day.year, m=day.month, d=day.day, name=name)


def has_padded_numbers(days: Days) -> bool:
    """Return whether a format of days pads numbers to two digits."""
    return "{m:02}" in _DAYS[days][0]


class DayWriting(NamedTuple):
    """A world's format of days, for scripts."""

    template: str
    """With `{y}`, `{m}`, `{d}`, and `{name}` of the month; `:02` marks optional leading zeros: `{d} {name} {y}`."""
    months: tuple[str, ...]
    """The names of months; empty: months are numbers."""
    first: int
    """The first day of the week: 0 is Sunday, 1 Monday."""


def day_writing(world: World) -> DayWriting:
    """Return a world's format of days."""
    template, months = _DAYS[world.days]
    return DayWriting(template, months, 0 if world.locale in _SUNDAY_FIRST else 1)


def read_day(world: World, text: str) -> date | None:
    """Parse a day in the world's format or as `2026-03-09`; None: invalid."""
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
    """Return a pattern for days in a format, with optional leading zeros."""
    pattern = re.escape(_DAYS[days][0]).replace(":02", "")
    shapes = {"y": r"\d{4}", "m": r"\d{1,2}", "d": r"\d{1,2}", "name": r"[^\W\d]+"}
    for part, shape in shapes.items():
        pattern = pattern.replace(rf"\{{{part}\}}", f"(?P<{part}>{shape})")
    return re.compile(pattern.replace(r"\ ", r"\s+"))


def read_amount(world: World, text: str) -> int | None:
    """Parse an amount in the world's format or as `1234.50`, in hundredths; None: invalid."""
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
    """Return the name of a cell of a grid: column and row title."""
    return f"{label}, {title}"
