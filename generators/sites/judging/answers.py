"""Answers: whether a policy's answer equals the expected one, in any usual spelling.

Case, spaces, quotation marks, a final full stop, typographic signs and the notation of a number do not
matter; everything else does. Values in a server's state are compared exactly instead (`matching.py`).
`other_spellings` returns spellings that must be accepted, with which a task is tested.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal

from pydantic import JsonValue

from schemas.tasks.expectation import (
    MAX_MATCHED_CHARS,
    Anything,
    Contains,
    Equals,
    Expectation,
    Matcher,
    Matches,
    Number,
    OneOf,
    compile_pattern,
)

_TYPOGRAPHIC = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‘’‚‛`´", "'"),  # noqa: RUF001 - the replaced characters
        **dict.fromkeys("‐‑‒–—−", "-"),  # noqa: RUF001
    }
)
_UNITS = "$€£¥₹%"
_MAX_NUMBER_CHARS = 500
_POINT = re.compile(r"([+-]?)((?:\d{1,3}(?:[, '_]\d{3})+|\d+)?(?:\.\d+)?)")
_COMMA = re.compile(
    r"([+-]?)(\d{1,3}(?:[. ']\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+,(?:\d{1,2}|\d{4,}))"
)
_GROUPS = str.maketrans("", "", ", '_")


def normalise(text: str) -> str:
    """Return `text` without case, extra spaces, enclosing quotation marks and a final full stop."""
    out = unicodedata.normalize("NFKC", text[:MAX_MATCHED_CHARS]).translate(_TYPOGRAPHIC).casefold()
    out = " ".join(out.split())
    while (bare := _without_enclosing(out)) != out:
        out = bare
    return out


def _without_enclosing(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].strip()
    return text[:-1].strip() if len(text) > 1 and text.endswith(".") else text


def read_number(text: str) -> Decimal | None:
    """Return the number that a text is, as 1234.5, 1,234.50, $1,234.50 or 1.234,50; None for other texts.

    Currency and percent signs are ignored. A single comma before three digits separates thousands (1,234);
    a single point never does (1.234).
    """
    bare = normalise(text)
    for unit in _units(bare):
        bare = bare.replace(unit, "", 1)
    bare = re.sub(r"^([+-]?) +", r"\1", bare.strip())
    if not bare or len(bare) > _MAX_NUMBER_CHARS:
        return None
    if (found := _POINT.fullmatch(bare)) and found[2]:
        return Decimal(found[1] + found[2].translate(_GROUPS))
    if found := _COMMA.fullmatch(bare):
        digits = re.sub(r"[. ']", "", found[2]).replace(",", ".")
        return Decimal(found[1] + digits)
    return None


def answers_equal(expected: JsonValue, answer: str) -> bool:
    """Return whether `answer` is a spelling of `expected`, a text or a number."""
    if isinstance(expected, int | float):
        return read_number(answer) == Decimal(str(expected))
    if not isinstance(expected, str):
        return False
    if normalise(expected) == normalise(answer):
        return True
    if _is_code(expected) or len(_units(expected) | _units(answer)) > 1:
        return False
    number = read_number(expected)
    return number is not None and number == read_number(answer)


def _is_code(text: str) -> bool:
    """Return whether a text of digits is a code and not a number: its leading zero matters, as in 007."""
    bare = normalise(text)
    return len(bare) > 1 and bare[0] == "0" and bare[1].isdigit()


def _units(text: str) -> set[str]:
    return set(text) & set(_UNITS)


def answer_matches(matcher: Matcher, answer: str) -> bool:
    """Return whether `answer` satisfies `matcher`, in any usual spelling."""
    match matcher:
        case Anything():
            right = bool(answer.strip())
        case Number():
            right = number_is_near(matcher, read_number(answer))
        case Matches():
            right = _matches(matcher.matches, answer)
        case Contains():
            right = all(_contains(answer, part) for part in matcher.contains)
        case _:
            right = any(answers_equal(each, answer) for each in expected_values(matcher))
    return right


def expected_values(matcher: Matcher) -> tuple[JsonValue, ...]:
    """Return the values that a matcher accepts by equality; empty if it compares otherwise."""
    match matcher:
        case OneOf():
            return matcher.one_of
        case Equals():
            return (matcher.equals,)
        case Number() | Matches() | Contains() | Anything():
            return ()
        case _:
            return (matcher,)


def number_is_near(matcher: Number, number: Decimal | None) -> bool:
    """Return whether a number is within the matcher's tolerance; false for None."""
    if number is None:
        return False
    return abs(number - Decimal(str(matcher.number))) <= Decimal(str(matcher.within))


def _matches(pattern: str, answer: str) -> bool:
    if len(answer) > MAX_MATCHED_CHARS:
        return False
    spaced = " ".join(unicodedata.normalize("NFKC", answer).split())
    compiled = compile_pattern(pattern)
    return any(compiled.isinstance_python(each) for each in (answer, answer.strip(), spaced))


def _contains(answer: str, part: JsonValue) -> bool:
    """Return whether an answer contains a part as whole words, or a number as one of its numbers."""
    words = normalise(answer).split()
    stated = [word.strip("\"'()[]:;!?.,") for word in words]
    if any(answers_equal(part, word) for word in stated):
        return True
    if not isinstance(part, str) or not (wanted := normalise(part)):
        return False
    before, after = (r"\b" if side.isalnum() else "" for side in (wanted[0], wanted[-1]))
    return re.search(before + re.escape(wanted) + after, " ".join(words)) is not None


def other_spellings(expectation: Expectation) -> list[str]:
    """Return spellings of the expected answer that must be accepted; empty if the answer is not determined."""
    return list(dict.fromkeys(_spell(expectation.answer)))


def _spell(matcher: Matcher | None) -> Iterator[str]:
    match matcher:
        case Number():
            yield from _spell_value(matcher.number)
        case Contains():
            yield from _spell_list([str(part) for part in matcher.contains])
        case None:
            pass
        case _:
            for value in expected_values(matcher):
                yield from _spell_value(value)


def _spell_value(value: JsonValue) -> Iterator[str]:
    is_number = isinstance(value, int | float)
    text = f"{Decimal(str(value)).normalize():f}" if is_number else str(value)
    plain = [
        text,
        *(each for each in (text.upper(), text.lower()) if normalise(each) == normalise(text)),
    ]
    number = None if isinstance(value, str) and _is_code(value) else read_number(text)
    if number is not None:
        plain += _spell_number(number, has_unit=bool(_units(text)))
    for each in plain:
        yield from (each, f"  {each} ", f"{each}.", f'"{each}"', f"“{each}”", f"'{each}'")
    yield text.replace(" ", "  ")


def _spell_number(number: Decimal, *, has_unit: bool) -> list[str]:
    plain = f"{number:f}"
    grouped = f"{number:,f}"
    longer = f"{number:f}0" if "." in plain else f"{number:f}.00"
    amounts = [] if has_unit else [f"${grouped}", f"$ {plain}"]
    return [plain, grouped, longer, *amounts]


def _spell_list(parts: Sequence[str]) -> Iterator[str]:
    yield ", ".join(parts)
    yield " and ".join(reversed(parts)).upper()
    yield f"It is {'; '.join(parts)}."
