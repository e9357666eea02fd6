"""How a goal in words is parsed: its quotations, its ordinals, its numbers.

The sentences are MiniWoB++'s own. A goal that matches no pattern raises `SkillError`; nothing is
guessed.
"""

import re

from generators.policy.teacher.page import SkillError

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
        SkillError: the goal does not match.
    """
    match = re.search(pattern, goal, re.DOTALL)
    if match is None:
        raise SkillError(f"the goal '{goal}' is not one I understand")
    return tuple((group or "").strip() for group in match.groups())


def part(pattern: str, goal: str) -> str:
    """Return the first group of `pattern` in the goal.

    Raises:
        SkillError: the goal does not match.
    """
    return parts(pattern, goal)[0]


def quotes(goal: str) -> list[str]:
    """Return the texts in double quotes, in order."""
    return re.findall(r'"([^"]*)"', goal)


def quote(goal: str) -> str:
    """Return the first text in double quotes.

    Raises:
        SkillError: the goal has none.
    """
    texts = quotes(goal)
    if not texts:
        raise SkillError(f"the goal '{goal}' quotes nothing")
    return texts[0]


def ordinals(goal: str) -> list[int]:
    """Return the ordinals in the goal, as `2nd` or `second`, as numbers from 1; -1 for the last."""
    found = re.findall(r"\b(\d+)(?:st|nd|rd|th)\b|\b(" + "|".join(_ORDINALS) + r")\b", goal)
    return [int(digits) if digits else _ORDINALS[word] for digits, word in found]


def ordinal(goal: str) -> int:
    """Return the first ordinal in the goal, as a number.

    Raises:
        SkillError: it has none.
    """
    found = ordinals(goal)
    if not found:
        raise SkillError(f"the goal '{goal}' names no place")
    return found[0]


def nth(place: int) -> str:
    """Return the ordinal of a number: 1st, 2nd, 3rd, 4th."""
    teen = place % 100 in (11, 12, 13)
    return f"{place}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


def numbers(goal: str) -> list[int]:
    """Return the whole numbers in the goal, in order."""
    return [int(number) for number in re.findall(r"-?\b\d+\b", goal)]


def to_int(text: str) -> int:
    """Return a text of the page as a whole number.

    Raises:
        SkillError: it is not one.
    """
    if re.fullmatch(r"-?\d+", text.strip()) is None:
        raise SkillError(f"'{text}' is not a number")
    return int(text)
