"""How a goal in words is taken apart: what is quoted, which one is meant, which numbers it names.

The sentences are MiniWoB++'s own. A pattern that does not fit is a `Lost`, never a guess.
"""

import re

from generators.policy.teacher.page import Lost

_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "last": -1,
}


def parts(pattern: str, goal: str) -> tuple[str, ...]:
    """Return the groups of `pattern` in the goal, without surrounding space.

    Raises:
        Lost: the goal does not read like that.
    """
    found = re.search(pattern, goal, re.DOTALL)
    if found is None:
        raise Lost(f"the goal '{goal}' is not one I understand")
    return tuple((group or "").strip() for group in found.groups())


def part(pattern: str, goal: str) -> str:
    """Return the first group of `pattern` in the goal.

    Raises:
        Lost: the goal does not read like that.
    """
    return parts(pattern, goal)[0]


def quoted(goal: str) -> list[str]:
    """Return what stands between double quotes, in order."""
    return re.findall(r'"([^"]*)"', goal)


def quote(goal: str) -> str:
    """Return what the goal quotes first.

    Raises:
        Lost: it quotes nothing.
    """
    found = quoted(goal)
    if not found:
        raise Lost(f"the goal '{goal}' quotes nothing")
    return found[0]


def ordinals(goal: str) -> list[int]:
    """Return the places the goal names, as `2nd` or `second`, from 1; -1 for the last."""
    found = re.findall(r"\b(\d+)(?:st|nd|rd|th)\b|\b(" + "|".join(_ORDINALS) + r")\b", goal)
    return [int(digits) if digits else _ORDINALS[word] for digits, word in found]


def ordinal(goal: str) -> int:
    """Return the first place the goal names.

    Raises:
        Lost: it names none.
    """
    found = ordinals(goal)
    if not found:
        raise Lost(f"the goal '{goal}' names no place")
    return found[0]


def nth(place: int) -> str:
    """Return a place as it is written: 1st, 2nd, 3rd, 4th."""
    teen = place % 100 in (11, 12, 13)
    return f"{place}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


def numbers(goal: str) -> list[int]:
    """Return the whole numbers in the goal, in order."""
    return [int(number) for number in re.findall(r"-?\b\d+\b", goal)]


def whole(text: str) -> int:
    """Return the whole number that a text on the page is.

    Raises:
        Lost: it is none.
    """
    if re.fullmatch(r"-?\d+", text.strip()) is None:
        raise Lost(f"'{text}' is no number")
    return int(text)
