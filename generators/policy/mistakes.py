"""Mistakes in carrying out one decision: a near miss, a wrong choice, a wrong letter.

Each function takes a decision and the observation, and returns the decision with the mistake, or None if it
cannot be made. The new thought states the policy's mistaken belief, and quotes only typed text or the
target.
"""

import re
from random import Random

from generators.policy.protocol import Decision
from schemas.episodes.action import Action, Click, Drag, Hover, TypeText, target_point
from schemas.episodes.episode import ThoughtSource
from schemas.episodes.observation import Box, Element, Observation, element_at, holds

NEAR_PX = (2, 6)
"""Minimum and maximum distance of a near miss from the edge of its target, CSS px."""

MAX_MISSED_PX = 120
"""Things at least this wide or high are never missed, CSS px."""

_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "1234567890")
_LETTER = re.compile(r"[a-zA-Z0-9]")
_QUOTATION = re.compile(r"(?<!\w)['\"]")


def decide(action: Action, why: str) -> Decision:
    """Return a decision with its thought."""
    return Decision(action=action, thought=why, thought_source=ThoughtSource.TEMPLATE)


def aim_of(action: Action, seen: Observation) -> Element | None:
    """Return the smallest usable element at an action's point, or None."""
    return element_at(seen.elements, target_point(action))


def miss(decision: Decision, seen: Observation, random: Random) -> Decision | None:
    """Return the decision moved a few pixels beside its target; None if another thing is there."""
    action, aim = decision.action, aim_of(decision.action, seen)
    if aim is None or not isinstance(action, Click | Hover | Drag):
        return None
    left, top, width, height = aim.bbox
    if max(width, height) >= MAX_MISSED_PX:
        return None
    by = random.randint(*NEAR_PX)
    beside = [(left - by, action.y), (left + width + by, action.y)]
    beside += [(action.x, top - by), (action.x, top + height + by)]
    usable = [one.bbox for one in seen.elements if one.interactive]
    free = [one for one in beside if min(one) >= 0 and not any(holds(box, one) for box in usable)]
    if not free:
        return None
    x, y = random.choice(free)
    why = decision.thought or ""
    if _QUOTATION.search(why):
        why = "I see it there, so that is where I point."
    return decide(action.model_copy(update={"x": x, "y": y}), why)


def confuse(decision: Decision, seen: Observation, random: Random) -> Decision | None:
    """Return a click on another thing of the same kind; None if none is visible."""
    action, aim = decision.action, aim_of(decision.action, seen)
    if aim is None or not isinstance(action, Click):
        return None
    alike = [
        one
        for one in seen.elements
        if (one.role, one.tag, one.frame) == (aim.role, aim.tag, aim.frame)
        and one.interactive
        and one.visible == 1
        and not one.covered
        and not _overlap(one.bbox, aim.bbox)
    ]
    if not alike:
        return None
    other = random.choice(alike)
    left, top, width, height = other.bbox
    action = action.model_copy(update={"x": left + width / 2, "y": top + height / 2})
    written = {one.text for one in seen.sights or ()} - {""}
    why = f"'{other.text}' is what I need" if other.text in written else "I need this one"
    return decide(action, f"{why}, so I click there.")


def mistype(decision: Decision, random: Random) -> Decision | None:
    """Return the decision with one letter replaced by a neighbouring key's; None if no letter is typed."""
    action = decision.action
    if not isinstance(action, TypeText):
        return None
    places = [*_LETTER.finditer(action.text)]
    if not places:
        return None
    place = random.choice(places)
    row = next(row for row in _KEYBOARD if place[0].lower() in row)
    at = row.index(place[0].lower())
    wrong = random.choice([row[n] for n in (at - 1, at + 1) if 0 <= n < len(row)])
    wrong = wrong.upper() if place[0].isupper() else wrong
    typed = action.text[: place.start()] + wrong + action.text[place.end() :]
    thought, meant = decision.thought or "", f"'{action.text}'"
    thought = thought.replace(meant, f"'{typed}'") if meant in thought else f"I type '{typed}'."
    changed = {
        "action": action.model_copy(update={"text": typed}),
        "thought": thought,
        "thought_source": ThoughtSource.TEMPLATE,  # a plan's step may have had no thought
    }
    return decision.model_copy(update=changed)


def _overlap(one: Box, other: Box) -> bool:
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )
