"""A skill that plays tic-tac-toe against an opponent that is attentive half of the time."""

from functools import cache

from generators.browser.protocol import Node
from generators.policy.teacher.page import Page, classes, say
from generators.policy.teacher.primitives import (
    by_id,
    click,
)
from generators.policy.teacher.scrolling import (
    Plan,
)

EMPTY, MINE, THEIRS = ".", "x", "o"
"""The contents of a square of the board."""

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

_OPPONENT_SKILL = 0.45
"""Probability that the opponent plays to win or to block; else it plays at random."""


def win_game(page: Page) -> Plan:
    """Take the square that wins most often, until the game is over."""
    while True:
        board = "".join(_mark_of(page.by_id(f"ttt-{place}")) for place in range(9))
        place = best_square(board)
        page = yield from click(page, by_id(f"ttt-{place}"), _why_square(page, board, place))


def _why_square(page: Page, board: str, place: int) -> str:
    """Return why to take a square."""
    row, column = divmod(place, 3)
    name = f"{('top', 'middle', 'bottom')[row]} {('left', 'centre', 'right')[column]}"
    if place in _winning_squares(board, MINE):
        return f"Two of mine stand in a line with the {name} square, which is free: it wins."
    if place in _winning_squares(board, THEIRS):
        return f"The other side would complete a line in the {name} square, so I take it."
    return say(
        page,
        f"Nobody can complete a line now; the {name} square leaves me most ways to win.",
        f"The {name} square is free and opens the most lines for me, so I take it.",
    )


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
