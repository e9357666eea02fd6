"""Why a row is opened that the goal does not name: what its row in the list says, that it was noted, or a part of its name."""

import re
from collections.abc import Sequence
from random import Random

from generators.browser.protocol import Node
from generators.policy.element_names import words
from generators.policy.listed_rows import is_label_written, is_whole, row_of, rows_like, says
from generators.policy.sentences.vary import sentence, vary
from generators.policy.sight import Sight
from generators.policy.thoughts import visible
from schemas.tasks.reference import Fact, Purpose, ReferenceStep

_OPENS_ROW = {Purpose.ROW, Purpose.TWICE}

_LONGEST = 60
"""Longer values are not quoted, in characters."""

_MOST = 3
"""So many of the conditions that a row meets are said."""

_PART = re.compile(r"\d{3,}|[^\W\d_]{4,}$")
"""What of a name people say alone: its number, or its last word."""


def reason(
    step: ReferenceStep, sight: Sight, goal: str, noted: Sequence[Fact], random: Random
) -> str | None:
    """Return why a step opens its row; None: its thought or its name says it, or nothing in sight does.

    `goal` is in small letters; `noted` is what was written down before.
    """
    on = step.on or ""
    link = sight.page.find(step) if step.purpose in _OPENS_ROW and step.by else None
    if link is None or words(link.text) != on or not sight.holds(link):
        return None
    row = row_of(link, sight)
    key, slots = _meets(step, row, sight)
    label = next((label for label, value in visible.facts(sight) if value == on), None)
    if not key and label is not None:
        key, slots = "linked", {"label": label}
    if not key and Fact(of=on) in noted:
        key = "noted"
    if not key:
        key, slots = _by_part(on, goal, [one.text for one in rows_like(row, sight)])
    return vary(sentence(f"reasons.{key}", on=on, **slots), random) if key else None


def _meets(step: ReferenceStep, row: Node, sight: Sight) -> tuple[str, dict[str, str]]:
    """Return that a row meets the goal's conditions, as far as it says so; empty: it says nothing of them."""
    facts = [one for one in step.by if one.value is not None and _can_be_said(one)]
    told = [one for one in facts if is_whole(row, sight) and says(row, one)][:_MOST]
    if not told:
        return "", {}
    others = rows_like(row, sight)
    is_alone = bool(others) and not any(all(says(one, fact) for fact in told) for one in others)
    return ("fits_alone" if is_alone else "fits"), {
        "facts": _join([_quote(one, sight) for one in told])
    }


def _can_be_said(fact: Fact) -> bool:
    value = fact.value or ""
    return 0 < len(value) <= _LONGEST and '"' not in value and any(map(str.isalnum, value))


def _quote(fact: Fact, sight: Sight) -> str:
    label = fact.label or ""
    return (
        f'"{fact.value}" as its "{label}"' if is_label_written(label, sight) else f'"{fact.value}"'
    )


def _by_part(name: str, goal: str, others: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return that a goal calls a row by a part of its name; empty: it does not."""
    found = _PART.findall(name)
    is_said = len(found) == 1 and re.search(rf"(?<!\w){found[0].casefold()}(?!\w)", goal)
    if not is_said or name.casefold() in goal:
        return "", {}
    part = found[0]
    is_alone = bool(others) and not any(part in one for one in others)
    return ("by_part_alone" if is_alone else "by_part"), {"part": part}


def _join(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
