"""What the tiny policy reads and writes: a page as numbered lines, and a reply that is the number of one of them.

The lines are those that the step door tells where elements are asked for: role, name, value, and the middle of the
box. The policy reads all of it but the place, which only the click needs.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

MAX_ELEMENTS, MAX_LETTERS = 24, 60
END = "<end>"
"""The token after a reply."""

SPECIAL = ["<pad>", END, *(f"[{number}]" for number in range(1, MAX_ELEMENTS + 1))]
"""The tokens that no text of a page is made of."""

QUERY_BAR = 50
"""The height in CSS px of the bar at the top of a page of MiniWoB++, which says the instruction again."""

_LINE = re.compile(r"(.*) at (-?\d+),(-?\d+)", re.DOTALL)


class Choice(NamedTuple):
    """An element that can be chosen."""

    text: str
    """What the policy reads."""
    x: int
    """The middle of its box, in CSS px."""
    y: int
    """The same, from the top."""


def choices_of(lines: Sequence[str]) -> list[Choice]:
    """Return the elements of a page that can be chosen."""
    found = [_LINE.fullmatch(line) for line in lines]
    places = [Choice(one[1][:MAX_LETTERS], int(one[2]), int(one[3])) for one in found if one]
    return [one for one in places if one.y >= QUERY_BAR][:MAX_ELEMENTS]


def page_text(choices: Sequence[Choice], instruction: str | None) -> str:
    """Return the text under which the policy replies; `instruction` is that of a first page, else None."""
    first = [] if instruction is None else [instruction]
    lines = [f"[{number}] {one.text}" for number, one in enumerate(choices, 1)]
    return "\n".join([*first, *lines, ">"])


def reply_of(number: int) -> str:
    """Return the reply that chooses the element at a place, from 0."""
    return f"[{number + 1}]{END}"


def choice_of(reply: str, choices: Sequence[Choice]) -> Choice | None:
    """Return the element that a reply chooses; None: it chooses none."""
    found = re.fullmatch(r"\[(\d+)\]", reply.removesuffix(END).strip())
    number = int(found[1]) if found else 0
    return choices[number - 1] if 1 <= number <= len(choices) else None
