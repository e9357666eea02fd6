"""Matching: whether one value of a server's state satisfies a rule's matcher.

Comparison is exact, because a server's state is. Only numbers are compared as numbers: 20 and 20.0 are
equal, and a number that a table stores as text can be near another.
"""

from collections.abc import Sequence
from decimal import Decimal

from pydantic import JsonValue

from generators.sites.judging.answers import expected_values, number_is_near, read_number
from schemas.base import Record, canonical_json
from schemas.json_pointer import ABSENT, Found
from schemas.tasks.expectation import (
    MAX_MATCHED_CHARS,
    Anything,
    Contains,
    Matcher,
    Matches,
    Number,
    OneOf,
    compile_pattern,
)


def value_matches(matcher: Matcher, value: Found) -> bool:
    """Return whether a value of a state satisfies `matcher`; an absent value never does."""
    if value is ABSENT:
        return False
    if not isinstance(matcher, Record):  # most are literals, and there may be many rows
        return values_equal(matcher, value)
    match matcher:
        case Anything():
            right = True
        case Number():
            right = number_is_near(matcher, _number(value))
        case Matches():
            is_short = isinstance(value, str) and len(value) <= MAX_MATCHED_CHARS
            right = is_short and compile_pattern(matcher.matches).isinstance_python(value)
        case Contains():
            right = _contains(value, matcher.contains)
        case _:
            right = any(values_equal(each, value) for each in expected_values(matcher))
    return right


def values_equal(first: JsonValue, second: JsonValue) -> bool:
    """Return whether two values are equal: numbers as numbers, booleans only with booleans."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            values_equal(value, second[name]) for name, value in first.items()
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(values_equal, first, second))
    return first == second


def _number(value: JsonValue) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return read_number(value) if isinstance(value, str) else Decimal(str(value))


def _contains(value: JsonValue, parts: Sequence[JsonValue]) -> bool:
    if isinstance(value, list):
        return all(any(values_equal(part, each) for each in value) for part in parts)
    return isinstance(value, str) and all(
        isinstance(part, str | int | float) and str(part) in value for part in parts
    )


def describe(matcher: Matcher) -> str:
    """Return a matcher's expectation in words."""
    match matcher:
        case Anything():
            words = "anything"
        case Number():
            words = f"a number within {matcher.within:g} of {matcher.number:.15g}"
        case Matches():
            words = f"what {matcher.matches!r} matches"
        case Contains():
            words = f"what contains {canonical_json(matcher.contains)}"
        case OneOf():
            words = f"one of {canonical_json(matcher.one_of)}"
        case _:
            words = canonical_json(expected_values(matcher)[0])
    return words
