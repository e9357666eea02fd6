"""Clients of seats that know no more than what a client is told: they do easy tasks of MiniWoB++ by their elements."""

import re
from collections.abc import Sequence

from schemas.base import JsonObject
from schemas.configuration.config import RunConfig, resolve

EASY = ("click-button", "click-link", "focus-text")
"""Templates whose tasks are one click on the element that the goal names."""

_ELEMENT = re.compile(r'(?P<role>\S+) "(?P<name>.*)"(?: = ".*")? at (?P<x>\d+),(?P<y>\d+)')
_ROLES = {"button": "button", "link": "span", "textbox": "textbox", "field": "textbox"}


def seats_config(url: object, **sections: JsonObject) -> RunConfig:
    """Return a configuration of easy tasks for a few seats; `sections` lie over it."""
    layer = {
        "run": {"url": str(url)},
        "tasks": {"include": list(EASY), "seeds": [0, 49]},
        "browser": {"sessions": 3, "viewport": [320, 320]},
        "seats": {"commit_seconds": 3.0},
    }
    return resolve([("test", layer), ("sections", sections)])


def right_point(goal: str, elements: Sequence[str]) -> tuple[int, int]:
    """Return where the element is that a goal names, CSS px; the first one of its role if none has its name.

    Raises:
        LookupError: there is none of its role.
    """
    # MiniWoB++ makes its links of spans.
    role = next((role for word, role in _ROLES.items() if word in goal), "button")
    named = goal.split('"')[1] if '"' in goal else ""
    found = [match for line in elements if (match := _ELEMENT.fullmatch(line))]
    fit = [match for match in found if match["role"] == role]
    fit.sort(key=lambda match: match["name"] != named)
    if not fit:
        raise LookupError(f"no {role} among {list(elements)}")
    return int(fit[0]["x"]), int(fit[0]["y"])
