"""The one table of what the teacher can do, joined from a table for each group of families."""

from generators.policy.teacher.hand_families import HAND_FAMILIES
from generators.policy.teacher.page_families import PAGE_FAMILIES
from generators.policy.teacher.primitives import Skill

FAMILIES: dict[str, Skill] = PAGE_FAMILIES | HAND_FAMILIES
"""The skill for each family of MiniWoB++ that the teacher takes on."""

UNSURE: dict[str, str] = {
    "click-pie-nodelay": (
        "its first item, one of four to eight, takes no click: under a pointer it is drawn anew at "
        "every event; where the menu unfolds slowly, a click on the way gets through"
    ),
    "email-inbox-forward-nl-turk": (
        "one in thirty of its goals names sender and receiver the wrong way round, "
        "and its page wants them so"
    ),
    "stock-market": (
        "the price is seen every half second only, and one time in thirty never below the limit "
        "before the prices end"
    ),
    "tic-tac-toe": (
        "the opponent is attentive half of the time: the best play wins 97 of 100 games when it "
        "begins and 73 when the opponent does, and a draw counts as lost"
    ),
}
"""Families it plays honestly but does not promise, with the reason."""

_FRAMED = "its form lies in a frame, and the reader reads the page alone"

IMPOSSIBLE: dict[str, str] = {
    "drag-cube": "the cube turns only while time passes with the button held down, and a drag is"
    " over before any time passes",
    "draw-circle": "a drag draws a straight line, and each new one wipes out the one before",
    "flight.AA": _FRAMED,
    "flight.Alaska": _FRAMED,
    "flight.Alaska-auto": _FRAMED,
    "flight.Alaska-auto-medium": _FRAMED,
    "hover-shape": "its page never ends: it has no reward, so nothing can be done on it",
}
"""Families it does not take on, with the reason."""

UNREPEATABLE: dict[str, str] = {
    "chase-circle": "that the circle has run out from under a resting pointer is noticed when the"
    " browser draws a frame, which is in real time; so the reward differs in its third digit",
}
"""Families it takes on whose episodes do not come out exactly the same again, with the reason."""
