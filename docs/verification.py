#!/usr/bin/env python3
"""Writes the tables of `docs/verification.md` from the last result of `make mutants`.

`make docs` runs this; a test compares the result with the page.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from columns import Parts, line, renew

PAGE = Path(__file__).with_name("verification.md")
ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench" / "measuring" / "mutants.json"
HARMLESS = ROOT / "tests" / "adversarial" / "harmless.toml"


def read_result() -> Mapping[str, Any]:
    """Return the last result of `make mutants`."""
    found: Mapping[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def _mutants() -> Iterator[str]:
    result = read_result()
    yield f"At commit `{result['commit']}` ({result['date']}) the quick tests killed {result['killed']:,} of"
    yield f"{result['mutants']:,} mutants, {result['share']:.1%}; the limit is {result['min_share']:.0%}."
    unasked = [name for name, one in result["modules"].items() if one["not_asked"]]
    if unasked:
        yield "Not all mutants were asked of " + ", ".join(f"`{name}`" for name in unasked) + "."
    yield from ("", "| module | mutants | killed | share |", "|---|---|---|---|")
    for name, one in result["modules"].items():
        share = f"{one['killed'] / one['mutants']:.1%}" if one["mutants"] else ""
        cells = (f"{one['mutants']:,}", f"{one['killed']:,}", share)
        yield line(f"`{name}`", *cells)


def _survivors() -> Iterator[str]:
    result = read_result()
    kinds = tomllib.loads(HARMLESS.read_text(encoding="utf-8"))["kind"]
    why = {kind["name"]: kind["why"] for kind in kinds}
    yield from ("| survivors | number | why no test need notice |", "|---|---|---|")
    for name, survivors in result["survivors"].items():
        yield line(name, str(len(survivors)), why.get(name, "not looked into"))


PARTS: Parts = {"mutants": _mutants, "survivors": _survivors}

if __name__ == "__main__":
    renew(PAGE, PARTS)
