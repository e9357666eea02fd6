"""The one table of what the teacher can do, joined from a table for each group of families."""

from generators.policy.teacher.hand_families import HAND_FAMILIES
from generators.policy.teacher.page_families import PAGE_FAMILIES
from generators.policy.teacher.plan import Skill

FAMILIES: dict[str, Skill] = PAGE_FAMILIES | HAND_FAMILIES
"""The skill for each family of MiniWoB++ that the teacher claims."""

_FRAMED = "its form lies in a frame, and the reader reads the page alone"

IMPOSSIBLE: dict[str, str] = {
    "flight.AA": _FRAMED,
    "flight.Alaska": _FRAMED,
    "flight.Alaska-auto": _FRAMED,
    "flight.Alaska-auto-medium": _FRAMED,
    "hover-shape": "its page never ends: it has no reward, so nothing can be done on it",
}
"""Families it does not claim, with the reason."""
