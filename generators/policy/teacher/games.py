"""Skills that play: noughts and crosses, guessing a number, hot and cold."""

import math
from bisect import bisect
from functools import cache

from generators.browser.protocol import Node
from generators.policy.teacher.geometry import inset, pixels, telling_point
from generators.policy.teacher.goals import nth
from generators.policy.teacher.page import Lost, Page, classes
from generators.policy.teacher.primitives import Plan, click_at, do, press, submit, with_id
from schemas.action import Hover, TypeText

EMPTY, MINE, THEIRS = ".", "x", "o"
"""What a square of the board holds."""

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

_SKILL = 0.45
"""How often the opponent plays to win or to block; else it plays anywhere."""

_SIGNALS = ("HOT", "WARM", "COLD", "ICE COLD")
"""What the page says, the nearer the earlier."""

_LIMITS = (5, 10, 40)
"""From which distance to the hot spot, in px, it says the next."""

_CARET = 8
"""From the left of a number field to where a click sets the caret, clear of its arrows, px."""

_PROBES = 25
"""The most places tried in a search."""


def win_game(page: Page) -> Plan:
    """Take the square that wins most often, until the game is over."""
    while True:
        board = "".join(_holds(page.by_id(f"ttt-{place}")) for place in range(9))
        place = best_square(board)
        why = f"The {nth(place + 1)} square gives me the best chances, so I take it."
        page = yield from press(page, with_id(f"ttt-{place}"), why)


def _holds(square: Node) -> str:
    marks = classes(square)
    return MINE if "mark-x" in marks else THEIRS if "mark-o" in marks else EMPTY


def best_square(board: str) -> int:
    """Return the empty square, from 0, that wins most often against a half-attentive opponent."""
    return max(_empty(board), key=lambda place: _chance(_put(board, place, MINE)))


def _put(board: str, place: int, mark: str) -> str:
    return board[:place] + mark + board[place + 1 :]


def _empty(board: str) -> list[int]:
    return [place for place, mark in enumerate(board) if mark == EMPTY]


def _won(board: str, mark: str) -> bool:
    return any(all(board[place] == mark for place in line) for line in _LINES)


@cache
def _chance(board: str) -> float:
    """Return the chance to win when the opponent is to move."""
    if _won(board, MINE):
        return 1.0
    free = _empty(board)
    if not free:
        return 0.0
    keen = _completing(board, THEIRS) or _completing(board, MINE) or free
    return sum(
        share * sum(_reply(_put(board, place, THEIRS)) for place in places) / len(places)
        for share, places in ((_SKILL, keen), (1 - _SKILL, free))
    )


def _completing(board: str, mark: str) -> list[int]:
    return [place for place in _empty(board) if _won(_put(board, place, mark), mark)]


def _reply(board: str) -> float:
    """Return the chance to win when it is my move."""
    if _won(board, THEIRS) or not _empty(board):
        return 0.0
    return max(_chance(_put(board, place, MINE)) for place in _empty(board))


def guess_number(page: Page) -> Plan:
    """Halve what is left of the range with each guess, until it is right."""
    low, high = 0, 9
    while low <= high:
        guess = (low + high) // 2
        why = f"The number lies between {low} and {high}, so I try {guess}."
        left, top, _, height = with_id("tt")(page).box
        field = left + _CARET, top + height / 2
        text = TypeText(text=str(guess), x=field[0], y=field[1], overwrite=True)
        page = yield from do(text, why)
        page = yield from submit(page)
        if page.has("higher"):
            low = guess + 1
        else:
            high = guess - 1
    raise Lost("no number is left")


def find_hot_spot(page: Page) -> Plan:
    """Move about and keep the places that agree with every signal, until it is hot; click there."""
    left = list(pixels(inset(page.by_id("touch-area").box, 3)))
    for _ in range(_PROBES):
        spot = telling_point(left, _LIMITS)
        why = f"{len(left)} places fit what I was told, so I try one that tells me most."
        page = yield from do(Hover(x=spot[0], y=spot[1]), why)
        signal = page.by_id("display").text
        if signal == "HOT":
            return (yield from click_at(*spot, "It says hot here, so I click."))
        if signal not in _SIGNALS:
            raise Lost(f"the signal '{signal}' tells me nothing")
        heard = _SIGNALS.index(signal)
        left = [point for point in left if bisect(_LIMITS, math.dist(point, spot)) == heard]
        if not left:
            break
    raise Lost("it is hot nowhere")
