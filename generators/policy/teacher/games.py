"""Skills that play: noughts and crosses, guessing a number, hot and cold."""

import math
from bisect import bisect
from functools import cache

from generators.browser.protocol import Node
from generators.policy.teacher.geometry import best_probe, inset, pixels
from generators.policy.teacher.goals import nth
from generators.policy.teacher.page import Page, SkillError, classes
from generators.policy.teacher.primitives import Plan, by_id, click, click_at, do, submit
from schemas.action import Hover, TypeText

EMPTY, MINE, THEIRS = ".", "x", "o"
"""What a square of the board holds."""

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

_OPPONENT_SKILL = 0.45
"""Probability that the opponent plays to win or to block; else it plays at random."""

_SIGNALS = ("HOT", "WARM", "COLD", "ICE COLD")
"""What the page says, from near to far."""

_RADII = (5, 10, 40)
"""Distances to the hot spot, in px, from which it says the next."""

_CARET = 8
"""Of a click that sets the caret in a number field, from its left edge, px; clear of its arrows."""

_MAX_PROBES = 25
"""Points tried in a search."""


def win_game(page: Page) -> Plan:
    """Take the square that wins most often, until the game is over."""
    while True:
        board = "".join(_mark_of(page.by_id(f"ttt-{place}")) for place in range(9))
        place = best_square(board)
        why = f"The {nth(place + 1)} square gives me the best chances, so I take it."
        page = yield from click(page, by_id(f"ttt-{place}"), why)


def _mark_of(square: Node) -> str:
    marks = classes(square)
    return MINE if "mark-x" in marks else THEIRS if "mark-o" in marks else EMPTY


def best_square(board: str) -> int:
    """Return the index of the empty square that wins most often against this opponent."""
    return max(_empty(board), key=lambda place: _win_chance(_put(board, place, MINE)))


def _put(board: str, place: int, mark: str) -> str:
    return board[:place] + mark + board[place + 1 :]


def _empty(board: str) -> list[int]:
    return [place for place, mark in enumerate(board) if mark == EMPTY]


def _has_won(board: str, mark: str) -> bool:
    return any(all(board[place] == mark for place in line) for line in _LINES)


@cache
def _win_chance(board: str) -> float:
    """Return the probability of a win when the opponent is to move."""
    if _has_won(board, MINE):
        return 1.0
    empty = _empty(board)
    if not empty:
        return 0.0
    attentive = _winning_squares(board, THEIRS) or _winning_squares(board, MINE) or empty
    return sum(
        share * sum(_best_reply(_put(board, place, THEIRS)) for place in places) / len(places)
        for share, places in ((_OPPONENT_SKILL, attentive), (1 - _OPPONENT_SKILL, empty))
    )


def _winning_squares(board: str, mark: str) -> list[int]:
    return [place for place in _empty(board) if _has_won(_put(board, place, mark), mark)]


def _best_reply(board: str) -> float:
    """Return the probability of a win when it is our move."""
    if _has_won(board, THEIRS) or not _empty(board):
        return 0.0
    return max(_win_chance(_put(board, place, MINE)) for place in _empty(board))


def guess_number(page: Page) -> Plan:
    """Guess by bisection until the guess is right."""
    low, high = 0, 9
    while low <= high:
        guess = (low + high) // 2
        why = f"The number lies between {low} and {high}, so I try {guess}."
        left, top, _, height = by_id("tt")(page).box
        field = left + _CARET, top + height / 2
        text = TypeText(text=str(guess), x=field[0], y=field[1], overwrite=True)
        page = yield from do(text, why)
        page = yield from submit(page)
        if page.has("higher"):
            low = guess + 1
        else:
            high = guess - 1
    raise SkillError("no number is left")


def find_hot_spot(page: Page) -> Plan:
    """Move the pointer, rule out points by every signal, and click where it is hot."""
    candidates = list(pixels(inset(page.by_id("touch-area").box, 3)))
    for _ in range(_MAX_PROBES):
        probe = best_probe(candidates, _RADII)
        why = f"{len(candidates)} places fit what I was told, so I try one that tells me most."
        page = yield from do(Hover(x=probe[0], y=probe[1]), why)
        signal = page.by_id("display").text
        if signal == "HOT":
            return (yield from click_at(*probe, "It says hot here, so I click."))
        if signal not in _SIGNALS:
            raise SkillError(f"the signal '{signal}' tells me nothing")
        ring = _SIGNALS.index(signal)
        candidates = [
            point for point in candidates if bisect(_RADII, math.dist(point, probe)) == ring
        ]
        if not candidates:
            break
    raise SkillError("it is hot nowhere")
