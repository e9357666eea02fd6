"""Numbers, amounts and days in goals, as pages display them and as people say them."""

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from generators.tasks.resolver.tokens import fold
from generators.tasks.resolver.words import Words
from generators.worlds.state.display import day_writing, read_amount, read_day
from schemas.worlds.world import World

_PARTS = 3

_THOUSANDS = r"\d{1,3}(?:[.,\u00a0\u202f ’']\d{3})+"  # noqa: RUF001 - a mark between thousands
_NUMBER = re.compile(rf"(?:{_THOUSANDS}|\d+)(?:[.,]\d{{1,2}}(?!\d))?")
_DAY = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{4}年\d{1,2}月\d{1,2}日|\d{1,2}月\d{1,2}日"
)
_ORDINAL = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?"
_JOINT = r"(?:\s+(?:of|de|do|del))?\s+"
_NAME = r"(?P<name>[^\W\d_]{3,})(?:\.(?=\s*[\d,]))?"
_YEAR = rf"(?:(?:,\s*|{_JOINT})(?P<y>\d{{4}})(?!\d|:\d))?"
_SPOKEN = (
    re.compile(rf"(?<!\d){_ORDINAL}{_JOINT}{_NAME}{_YEAR}", re.IGNORECASE),
    re.compile(rf"(?<!\w){_NAME}\s+(?:the\s+)?{_ORDINAL}(?!\d){_YEAR}", re.IGNORECASE),
)
"""Days with the name of a month: 4 March, March 4th, 2026."""


class Quantity(NamedTuple):
    """A number or a day in a goal."""

    start: int
    """Its place."""
    end: int
    """The place behind it."""
    whole: int | None = None
    """As a whole number; None: it is none."""
    cents: int | None = None
    """As an amount in hundredths; None: it is none."""
    day: date | None = None
    """As a day; None: it is none."""
    is_unclear: bool = False
    """Whether it is a day of numbers that may be two days."""


def find_quantities(world: World, words: Words, text: str) -> list[Quantity]:
    """Return the numbers, amounts and days of a text, in their order; none overlap."""
    found = list[Quantity]()
    for one in (*_days(world, words, text), *_numbers(world, text)):
        if not any(one.start < other.end and other.start < one.end for other in found):
            found.append(one)
    return sorted(found)


def _days(world: World, words: Words, text: str) -> Iterator[Quantity]:
    for found in _DAY.finditer(text):
        day, other = read_day(world, found[0]), _loose_days(found[0])
        if day is None and len(other) == 1:
            day = other.pop()
        if day is None and "月" in found[0]:
            day = _signed_day(world, found[0])
        if day is not None or other:
            yield Quantity(*found.span(), day=day, is_unclear=day is None)
    months = {
        fold(name): number for number, name in enumerate(day_writing(world).months, start=1)
    } | dict(words.months)
    for pattern in _SPOKEN:
        for found in pattern.finditer(text):
            month = months.get(fold(found["name"]).rstrip("."))
            year = int(found["y"] or world.at.year)  # people leave out this year
            day = _date(year, month, int(found["d"])) if month is not None else None
            if day is not None:
                yield Quantity(*found.span(), day=day)


def _signed_day(world: World, text: str) -> date | None:
    """Return a day as `3月9日`, of this year if it says none."""
    *year, month, day = (int(one) for one in re.findall(r"\d+", text))
    return _date(year[0] if year else world.at.year, month, day)


def _loose_days(text: str) -> set[date]:
    """Return the days that numbers may be which are not in the world's own format: the year is the last."""
    numbers = [int(one) for one in re.findall(r"\d+", text)]
    if len(numbers) != _PARTS:
        return set()
    first, second, year = numbers
    days = (_date(year, second, first), _date(year, first, second))
    return {day for day in days if day is not None}


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _numbers(world: World, text: str) -> Iterator[Quantity]:
    money = f"(?i:{re.escape(world.currency)})"
    pattern = re.compile(
        rf"(?<![\w.])(?:(?P<a>{money}|[$€£¥])\s?)?(?P<minus>-)?(?P<n>{_NUMBER.pattern})(?:\s?(?P<b>{money}|[€£$¥]|%))?(?!(?!x\b)\w|[.,]\d)"
    )
    for found in pattern.finditer(text):
        yield Quantity(
            *found.span(), whole=_whole(found["n"], found["minus"]), cents=_cents(world, found)
        )


def _whole(text: str, minus: str | None) -> int | None:
    bare = re.sub(r"[^\d.,]", "", text)
    if re.fullmatch(r"\d+", bare):
        value = int(bare)
    elif re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", bare):
        value = int(re.sub(r"[.,]", "", bare))
    elif found := re.fullmatch(r"(\d+)[.,]0{1,2}", bare):
        value = int(found[1])
    else:
        return None
    return -value if minus else value


def _cents(world: World, found: re.Match[str]) -> int | None:
    if found["b"] == "%":
        return None
    text = f"{found['minus'] or ''}{found['n']}"
    amount = read_amount(world, text.replace("\u202f", " ").replace("\u00a0", " "))
    if amount is None:
        whole = _whole(found["n"], found["minus"])
        return None if whole is None else whole * 100
    return amount
