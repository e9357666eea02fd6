"""Other notations of what a text says: a day that a goal calls 4 March is typed as 04.03.2026, an amount with its cents."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date

_MONTHS = (
    *("january janvier januar enero janeiro", "february février februar febrero fevereiro"),
    *("march mars märz marzo março", "april avril abril", "may mai mayo maio"),
    *("june juin juni junio junho", "july juillet juli julio julho"),
    *("august août agosto", "september septembre septiembre setembro"),
    *("october octobre oktober octubre outubro", "november novembre noviembre novembro"),
    "december décembre dezember diciembre dezembro",
)
"""The months in English, French, German, Spanish and Portuguese."""

_ARABIC = "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"
_MAGHREB = "جانفي فيفري مارس أفريل ماي جوان جويلية أوت سبتمبر أكتوبر نوفمبر ديسمبر"
"""The months in Arabic, as they are called in the east, and in the west."""

_NUMBERS = {
    name: number
    for number, names in enumerate(zip(_MONTHS, _ARABIC.split(), _MAGHREB.split(), strict=True), 1)
    for name in (names[0][:3], *" ".join(names).split())
}
"""The numbers of months by their names, and by the first three letters of the English ones."""

_NO_CENTS = re.compile(r"[.,]00(?=\D*$)")
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_KANJI = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日|(?<!年)(\d{1,2})月(\d{1,2})日")
_PARTS = re.compile(r"(?<![\d.,])(\d{1,2})[./](\d{1,2})[./](\d{4})(?!\d)")
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|º)? (?:of |de )?([^\W\d_]{3,})\.?(?:,? (?:de )?(\d{4}))?"
)
_MONTH_FIRST = re.compile(r"([^\W\d_]{3,})\.? (\d{1,2})(?:st|nd|rd|th)?(?!\d)(?:,? (\d{4}))?")
_LEAP = 2000

Day = tuple[int | None, int, int]
"""A year, a month and a day; None: no year is said."""


def without_cents(text: str) -> str | None:
    """Return an amount without its cents if they are zero, as people say it; None: it is none."""
    bare = _NO_CENTS.sub("", text)
    return bare if bare != text else None


def days_in(text: str) -> set[Day]:
    """Return the days that a text names in any notation; of one in which day and month may be meant either way, both."""
    return {one for one in _days(text) if _is_day(one)}


def is_same_day(one: Day, other: Day) -> bool:
    """Return whether two days may be the same: one of them may lack its year."""
    return one[1:] == other[1:] and (one[0] == other[0] or None in (one[0], other[0]))


def _days(text: str) -> Iterator[Day]:
    for found in _ISO.finditer(text):
        yield int(found[1]), int(found[2]), int(found[3])
    for found in _KANJI.finditer(text):
        said = int(found[1]) if found[1] else None
        yield said, int(found[2] or found[4]), int(found[3] or found[5])
    for found in _PARTS.finditer(text):
        yield int(found[3]), int(found[2]), int(found[1])
        yield int(found[3]), int(found[1]), int(found[2])
    named = (
        *((one[2], one[1], one[3]) for one in _DAY_FIRST.finditer(text)),
        *((one[1], one[2], one[3]) for one in _MONTH_FIRST.finditer(text)),
    )
    for name, day, year in named:
        if (month := _NUMBERS.get(name.casefold())) is not None:
            yield int(year) if year else None, month, int(day)


def _is_day(one: Day) -> bool:
    with suppress(ValueError):
        date(one[0] or _LEAP, one[1], one[2])
        return True
    return False
