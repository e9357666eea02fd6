"""Wrong values that resemble an expected value, a row's key or an answer; near misses use them.

A value keeps its type where possible, because policies really leave a wrong number where a number belongs.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice

from pydantic import JsonValue

from generators.sites.judging.answers import answers_equal, expected_values, read_number
from generators.sites.judging.matching import values_equal
from generators.sites.judging.tables import RowKey
from schemas.json_pointer import ABSENT, Found
from schemas.tasks.expectation import Anything, Contains, Matcher, Matches, Number

_PARTING = ", "
"""The separator of a list's parts in a text."""

_UNLIKE = "¬ neither this nor that"
_NEIGHBOURS = 3


def fresh_key(key: JsonValue, used: Collection[RowKey]) -> JsonValue:
    """Return a key of the same kind that no row has."""
    head, last = (key[:-1], key[-1]) if isinstance(key, list) else ([], key)
    for number in range(1, len(used) + 2):
        other = last + number if isinstance(last, int) else f"{last}-{number}"
        fresh = (*head, other) if isinstance(key, list) else other
        if fresh not in used:
            return list(fresh) if isinstance(fresh, tuple) else fresh
    return _UNLIKE


def put(value: Found, parts: Sequence[str], new: Found) -> JsonValue:
    """Return `value` with `new` at a place in it; if `new` is absent, with that place removed."""
    if not parts:
        return None if new is ABSENT else new
    part, rest = parts[0], parts[1:]
    if isinstance(value, list):
        return [put(item, rest, new) if str(n) == part else item for n, item in enumerate(value)]
    inside = dict(value) if isinstance(value, dict) else {}
    if new is ABSENT and not rest:
        inside.pop(part, None)
    else:
        inside[part] = put(inside.get(part, ABSENT), rest, new)
    return inside


def unlike(value: Found, matcher: Matcher) -> JsonValue:
    """Return a similar value that the matcher is not meant to accept."""
    match matcher:
        case Number():
            far = _far(matcher)
            return str(far) if isinstance(value, str) else float(far)
        case Matches() | Contains():
            return [] if isinstance(value, list) else _UNLIKE
    expected = expected_values(matcher)
    other: JsonValue = None if value is ABSENT else value
    for _ in range(len(expected) + 1):
        other = another(other)
        if not any(values_equal(each, other) for each in expected):
            return other
    return _UNLIKE


def _far(matcher: Number) -> Decimal:
    return Decimal(str(matcher.number)) + 2 * Decimal(str(matcher.within)) + 1


def another(value: JsonValue) -> JsonValue:
    """Return another value of the same kind."""
    match value:
        case bool():
            other: JsonValue = not value
        case int() | float():
            other = value + 1 if value + 1 != value else value / 2
        case str():
            other = f"{value} x"
        case list():
            other = [*value, _UNLIKE]
        case dict():
            other = {**value, _UNLIKE: True}
        case _:
            other = _UNLIKE
    return other


def other_lists(value: Found, parts: Collection[str]) -> Iterator[str]:
    """Yield a list's text without one of its parts, and with one more: the first of `parts` that it lacks."""
    held = value.split(_PARTING) if isinstance(value, str) else []
    if len(held) > 1:
        yield _PARTING.join(held[1:])
    more = next((part for part in parts if part not in held), None)
    if held and more is not None:
        yield _PARTING.join((*held, more))


def parts_of(values: Iterable[Found]) -> list[str]:
    """Return the parts of the lists among texts, each once; empty if no text is a list."""
    texts = [value.split(_PARTING) for value in values if isinstance(value, str)]
    if all(len(text) < 2 for text in texts):  # noqa: PLR2004 - a list has two parts
        return []
    return list(dict.fromkeys(part for text in texts for part in text))


def wrong_answers(matcher: Matcher) -> Iterator[str | None]:
    """Yield answers that the matcher is not meant to accept; None: no answer."""
    yield from (None, "")
    match matcher:
        case Anything():
            return
        case Number():
            number, within = Decimal(str(matcher.number)), Decimal(str(matcher.within))
            far = (_far(matcher), number - 2 * within - 1, number * 10, -number)
            yield from (str(one) for one in dict.fromkeys(far) if abs(one - number) > within)
        case Matches():
            yield _UNLIKE
        case Contains():
            yield _UNLIKE
            yield from _without_each(list(map(str, matcher.contains)))
        case _:
            expected = expected_values(matcher)
            others = dict.fromkeys(other for value in expected for other in _other_answers(value))
            for other in others:
                if not any(answers_equal(value, other) for value in expected):
                    yield other


def neighbours_answers(matcher: Matcher, tables: Iterable[JsonValue]) -> Iterator[str]:
    """Yield other rows' values of the columns that have the expected answer, the first few of each column."""
    if isinstance(matcher, Number):
        number = Decimal(str(matcher.number))
        told: list[JsonValue] = [int(one) for one in (number, number * 100) if one == int(one)]
    else:
        told = [one for one in expected_values(matcher) if isinstance(one, str)]
    for table in tables:
        rows = [row for row in table if isinstance(row, dict)] if isinstance(table, list) else []
        for name in rows[0] if rows else ():
            values = dict.fromkeys(
                row[name] for row in rows if isinstance(row.get(name), str | int)
            )
            if any(one in values for one in told) and name != "id":
                others = (str(one) for one in values if one not in told)
                yield from islice((one for one in others if not _is_told(told, one)), _NEIGHBOURS)


def _is_told(told: Sequence[JsonValue], answer: str) -> bool:
    return not answer or any(answers_equal(one, answer) for one in told)


def _without_each(parts: Sequence[str]) -> Iterator[str]:
    """Yield lists with one part missing, unless another part contains that one."""
    for n, part in enumerate(parts):
        others = ", ".join([*parts[:n], *parts[n + 1 :]])
        if others and part.casefold() not in others.casefold():
            yield others


def _other_answers(value: JsonValue) -> Iterator[str]:
    yield _UNLIKE
    text = str(value)
    number = read_number(text)
    if number is not None:
        yield from (str(number + 1), str(number * 10), str(-number))
        return
    yield f"not {text}"
    words = text.split()
    yield from (" ".join(words[:-1]), " ".join(words[1:])) if len(words) > 1 else (f"{text}x",)
