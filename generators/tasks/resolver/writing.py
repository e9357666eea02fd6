"""How a goal is written: what is put in order before its words are parted."""

import re
from functools import partial

from generators.tasks.resolver.tokens import find_quotes
from generators.tasks.resolver.words import Words

GAP = "\u200c"
"""Stands between two scripts where no space does; means nothing."""

_SIGN = r"[\u3000-\u30ff\u3400-\u9fff\uff08-\uff1f]"
_OTHER = r"[A-Za-z0-9¥$€£+]"
_HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks of the direction of writing."""

_DIGITS = str.maketrans(
    "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹０１２３４５６７８９",
    "0123456789" * 3,
)
_JOINT = re.compile("(?<=[\u0621-\u064a\u0640])(?=\\d)")
_STRETCHED = re.compile("(?<=[\u0628\u0643\u0644])\u0640")
_DAY = re.compile(r"((?:\d{4}年)?\d{1,2}月\d{1,2}日)")
_SEAM = re.compile(rf"(?<={_SIGN})(?={_OTHER})|(?<={_OTHER})(?={_SIGN})")


def in_order(goal: str, words: Words) -> str:
    """Return a goal as its words can be parted: in a language without spaces, with gaps between its scripts."""
    goal = _HIDDEN.sub("", goal).translate(_DIGITS)
    write = _with_gaps
    if words.has_spaces:
        longer = [each for each in words.long_months.items() if each[0] in goal]
        if not longer and not words.prefixes:
            return goal
        write = partial(_with_short_months, longer)
    out, at = list[str](), 0
    for quote in find_quotes(goal):
        out += [write(goal[at : quote.start]), goal[quote.start : quote.end]]
        at = quote.end
    return "".join((*out, write(goal[at:])))


def _with_short_months(longer: list[tuple[str, str]], text: str) -> str:
    """Return a text with a name of one word for each month, and with gaps before digits."""
    for name, short in longer:
        text = text.replace(name, short)
    return _JOINT.sub(GAP, _STRETCHED.sub(GAP, text))


def without_gaps(text: str) -> str:
    """Return a text of a goal as it was written."""
    return text.replace(GAP, "")


def _with_gaps(text: str) -> str:
    parts = _DAY.split(text.replace("\uff0f", "\uff1b"))
    return "".join(
        f"{GAP}{part}{GAP}" if number % 2 else _SEAM.sub(GAP, part)
        for number, part in enumerate(parts)
    )
