"""Formatting and parsing of values, the same in pages, forms and instructions."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import NamedTuple

from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import DataField, Kind
from schemas.worlds.look import Amounts, Days
from schemas.worlds.world import World

Titles = Mapping[str, Mapping[int, str]]
"""The titles of rows by entity and id."""

EXAMPLE_DAY = date(2026, 3, 9)
"""The day in examples of date formats."""

_DAYS: Mapping[Days, tuple[str, str]] = {
    Days.ISO: ("{y}-{m:02}-{d:02}", ""),
    Days.SLASHES: ("{d:02}/{m:02}/{y}", ""),
    Days.MONTH_FIRST: ("{m:02}/{d:02}/{y}", ""),
    Days.DOTS: ("{d:02}.{m:02}.{y}", ""),
    Days.ENGLISH: ("{d} {name} {y}", "months"),
    Days.AMERICAN: ("{name} {d}, {y}", "months_short"),
    Days.GERMAN: ("{d}. {name} {y}", "months"),
    Days.FRENCH: ("{d} {name} {y}", "months"),
    Days.SPANISH: ("{d} de {name} de {y}", "months"),
    Days.PORTUGUESE: ("{d} de {name} de {y}", "months"),
    Days.JAPANESE: ("{y}年{m}月{d}日", ""),
    Days.ARABIC: ("{d} {name} {y}", "months"),
}
"""The templates of days, and which names of months they use, if any, in the world's language."""

_SUNDAY, _MONDAY, _SATURDAY = 0, 1, 6
_FIRST_DAYS = {"en_US": _SUNDAY, "pt_BR": _SUNDAY, "ja_JP": _SUNDAY, "ar_DZ": _SATURDAY}
"""The first day of the week of locales in which it is not Monday, by Unicode's CLDR."""

_AMOUNTS = {
    Amounts.POINT: (",", "."),
    Amounts.COMMA: (".", ","),
    Amounts.COMMA_LAST: (".", ","),
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
    gap = " " if world.amounts is Amounts.COMMA_LAST else ""
    return f"{world.currency}{gap}{digits}"


def show_day(world: World, day: date) -> str:
    """Return a day as displayed."""
    months = _months(world, world.days)
    name = months[day.month - 1] if months else ""
    return _DAYS[world.days][0].format(y=day.year, m=day.month, d=day.day, name=name)


def _months(world: World, days: Days) -> tuple[str, ...]:
    """Return the names of months in a format of days; empty: months are numbers."""
    name = _DAYS[days][1]
    return catalogue(world.language).among(f"dates.{name}") if name else ()


def show_month(world: World, month: int, year: int) -> str:
    """Return a month, from 1, of a year as calendars write it: March 2026."""
    words = catalogue(world.language)
    name = words.among("dates.months")[month - 1]
    return words.say("dates.month_of_year", month=name, year=year)


def name_day(world: World, day: date) -> str:
    """Return the name of a day in a picker's calendar: 9 March 2026."""
    words = catalogue(world.language)
    month = words.among("dates.months")[day.month - 1]
    return words.say("dates.day_of_month", day=day.day, month=month, year=day.year)


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
    """The first day of the week: 0 is Sunday, 6 Saturday."""


def day_writing(world: World) -> DayWriting:
    """Return a world's format of days."""
    template, months = _DAYS[world.days][0], _months(world, world.days)
    return DayWriting(template, months, first_day(world))


def first_day(world: World) -> int:
    """Return the first day of the week: 0 is Sunday, 6 Saturday."""
    return _FIRST_DAYS.get(world.locale, _MONDAY)


def read_day(world: World, text: str) -> date | None:
    """Parse a day in the world's format or as `2026-03-09`; None: invalid."""
    for days in (world.days, Days.ISO):
        found = _day_pattern(days).fullmatch(text)
        if found is None:
            continue
        parts = found.groupdict()
        months = [month.casefold() for month in _months(world, days)]
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
    shapes = {"y": r"\d{4}", "m": r"\d{1,2}", "d": r"\d{1,2}", "name": r"[^\d\s]+"}
    for part, shape in shapes.items():
        pattern = pattern.replace(rf"\{{{part}\}}", f"(?P<{part}>{shape})")
    return re.compile(pattern.replace(r"\ ", r"\s+"))


def write_amount(world: World, value: int) -> str:
    """Return an amount, in hundredths, as forms hold it: without currency and thousands separators."""
    point = _AMOUNTS[world.amounts][1]
    whole, cents = divmod(abs(value), 100)
    digits = f"{whole}{point or '.'}{cents:02}" if point or cents else str(whole)
    return f"{'-' if value < 0 else ''}{digits}"


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


def read_number(world: World, text: str) -> int | None:
    """Parse a whole number, with the world's thousands separator or without; None: invalid."""
    parting = re.escape(_AMOUNTS[world.amounts][0])
    if re.fullmatch(rf"-?(\d+|\d{{1,3}}(?:{parting}\d{{3}})+)", text, re.ASCII) is None:
        return None
    return int(re.sub(r"[^\d-]", "", text))


def cell_name(world: World, label: str, title: str) -> str:
    """Return the name of a cell of a grid: column and row title."""
    return catalogue(world.language).say("rows.cell", field=label, title=title)


def with_number(world: World, one: str, number: int | str) -> str:
    """Return the title of a row that has no other: what it is called, and a number."""
    return catalogue(world.language).say("rows.numbered", one=one, number=number)
