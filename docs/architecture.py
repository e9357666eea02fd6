#!/usr/bin/env python3
"""Writes the generated part of `docs/architecture.md`: the list of decisions, by their titles."""

from collections.abc import Iterator
from pathlib import Path

from columns import Parts, renew

PAGE = Path(__file__).with_name("architecture.md")
DECISIONS = Path(__file__).with_name("decisions")


def _decisions() -> Iterator[str]:
    """Yield a line for each decision; the first line of its file is its title."""
    for path in sorted(DECISIONS.glob("*.md")):
        number, _, title = path.read_text(encoding="utf-8").split("\n", 1)[0][2:].partition(": ")
        yield f"* [{number}](decisions/{path.name}): {title}"


PARTS: Parts = {"decisions": _decisions}

if __name__ == "__main__":
    renew(PAGE, PARTS)
