"""A client's part that needs no model: the next action by the goal and the elements of the page; in any environment.

Easy tasks of MiniWoB++ are done by clicking what the goal names. In a world, where a goal takes more than words, the
client scrolls, opens something, and says that it is done.
"""

import re
from collections.abc import Sequence
from typing import Any

MINIWOB = ("click-button", "click-link", "focus-text")
"""Templates that are done by a click."""

_ELEMENT = re.compile(r'(?P<role>\S+) "(?P<name>.*?)"(?: = ".*")? at (?P<x>\d+),(?P<y>\d+)')
_ROLES = {"button": "button", "link": "span", "textbox": "textbox", "field": "textbox"}


def next_action(template: str, goal: str, elements: Sequence[str], step: int) -> dict[str, Any]:
    """Return the next action."""
    found = [match for line in elements if (match := _ELEMENT.fullmatch(line))]
    if template in MINIWOB:
        role = next((role for word, role in _ROLES.items() if word in goal), "button")
        named = goal.split('"')[1] if '"' in goal else ""
        fit = [match for match in found if match["role"] == ("button" if step else role)]
        fit.sort(key=lambda match: match["name"] != named)
    else:
        fit = [match for match in found if match["role"] in ("link", "button")] if step == 1 else []
        if step == 0:
            return {"type": "scroll", "direction": "down", "amount": 200}
    if not fit or step > 2:
        return {"type": "answer", "text": ""}
    return {"type": "click", "x": int(fit[0]["x"]), "y": int(fit[0]["y"])}
