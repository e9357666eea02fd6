#!/usr/bin/env python3
"""Writes the tables of `docs/widgets.md` from the result of `bench/widgets.py`.

`make docs` runs this; a test compares the result with the page.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from columns import Parts, line, renew

PAGE = Path(__file__).with_name("widgets.md")
RESULT = Path(__file__).parents[1] / "bench" / "results" / "widgets.json"


def read_result() -> Mapping[str, Any]:
    """Return the last result of the bench."""
    found: Mapping[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def _kits() -> Iterator[str]:
    result = read_result()
    kits = result["kits"]
    total = {
        key: sum(one[key] for one in kits.values())
        for key in ("in_index", "acted_on", "operated", "generic")
    }
    yield f"At commit `{result['commit']}` ({result['date']}, {result['machine']}):"
    yield ""
    yield "| kit | version | its index | components | can be acted on | operated | by generic skills |"
    yield "|---|---|---|---|---|---|---|"
    for name, one in kits.items():
        yield line(name, one["version"], one["index"], *_counts(one))
    yield line("all", "", "", *_counts(total))
    yield ""
    yield f"The limits are {result['min_operated']:.0%} and {result['min_generic']:.0%} of what can be acted on."


def _counts(one: Mapping[str, Any]) -> Iterator[str]:
    acted_on = one["acted_on"]
    yield f"{one['in_index']}"
    yield f"{acted_on}"
    for key in ("operated", "generic"):
        yield f"{one[key]} ({one[key] / acted_on:.1%})"


def _components() -> Iterator[str]:
    for name, kit in read_result()["kits"].items():
        yield from (f"### {name}", "")
        yield from (
            "| component | operated | by generic skills | what fails, and why |",
            "|---|---|---|---|",
        )
        for component, one in kit["components"].items():
            marks = ("yes" if one[key] else "no" for key in ("operated", "generic"))
            yield line(f"`{component}`", *marks, _why(one))
        yield ""
        yield "Not to be acted on:"
        yield ""
        for reason, names in kit["inert"].items():
            yield f"* {reason}: " + ", ".join(f"`{each}`" for each in names)
        yield ""


def _why(one: Mapping[str, Any]) -> str:
    said = [one.get("fails"), one.get("beyond")]
    return "; ".join(dict.fromkeys(each for each in said if each))


PARTS: Parts = {"kits": _kits, "components": _components}

if __name__ == "__main__":
    renew(PAGE, PARTS)
