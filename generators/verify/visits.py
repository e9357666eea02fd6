"""The visits of pages: from which step on a page has been open, and what was in sight there since then.

A page that lies in another tab stays open meanwhile. A press on a link to the page itself opens it anew.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from generators.verify.changes import aimed_at
from generators.verify.page_notes import busy_lines
from schemas.episodes.action import Click
from schemas.episodes.episode import Step
from schemas.episodes.observation import Element
from schemas.episodes.state_delta import Delta

_NEAR_PX = 40.0
"""How far a thing may have moved to count as in its place, CSS px."""

_HALF = 0.5
"""Least share of a thing that is in the window if it counts as in sight."""

_CUT_PX = 3.0
"""How much of a line may lie outside the window if it counts as whole, CSS px."""

_SHORT_PX = 100.0
"""A page that moves by less shows little but its end, CSS px."""

Places = frozenset[tuple[str, int]]
"""Texts with where they begin across the window, CSS px: the same text in another column is another one."""


def visit(steps: Sequence[Step], step: Step) -> Iterator[Step]:
    """Yield the steps of the visit of a step's page before it, the last first, without those in other tabs."""
    for one in reversed(steps[: step.step]):
        if (one.page.tab or 0) != (step.page.tab or 0):
            continue
        if place_of(one) != place_of(step) or _opens_anew(one, steps[one.step + 1]):
            return
        yield one


def seen_places(steps: Sequence[Step], step: Step) -> Places:
    """Return what was in sight up to a step since its page was opened, narrowed otherwise, or saved."""
    seen = places(step)
    for one in visit(steps, step):
        if one.page.url != step.page.url or one.delta not in (None, Delta()):
            break
        if not busy_lines(one):  # a page that has not come yet shows its end early
            seen |= places(one)
    if _is_short(
        step, steps[step.step + 1]
    ):  # the end of a page that was seen on an earlier visit is not new
        seen = seen.union(*(places(one) for one in steps[: step.step]))
    return seen


def _is_short(step: Step, after: Step) -> bool:
    """Return whether a step moved its page by little."""
    return 0 < abs(after.page.scroll_y - step.page.scroll_y) < _SHORT_PX


def places(step: Step) -> Places:
    """Return the texts of a picture with where they begin; without lines that the window cuts."""
    return frozenset(
        (" ".join(one.text.split()), round(one.bbox[0]))
        for one in step.sights or ()
        if one.text.strip()
        and one.bbox[1] >= -_CUT_PX
        and one.bbox[1] + one.bbox[3] <= step.height + _CUT_PX
    )


def names_under(step: Step, *, seen: bool = False) -> frozenset[str]:
    """Return the names of things that can be seen through what covers them; `seen`: those of all things in sight.

    No texts are recorded of what lies under a veil, though pictures show it.
    """
    return frozenset(
        one.name
        for one in step.elements
        if one.name and one.visible >= _HALF and (one.covered or seen)
    )


def _opens_anew(step: Step, after: Step) -> bool:
    """Return whether a click on a link led to the page on which it is."""
    aim = aimed_at(step)
    return (
        isinstance(step.action, Click)
        and aim is not None
        and aim.tag == "a"
        and place_of(step) == place_of(after)
        and after.page.scroll_y == 0
        and (step.page.url == after.page.url or not urlsplit(after.page.url).query)
    )


def place_of(step: Step) -> str:
    """Return the tab and the path of a step's page."""
    return f"{step.page.tab or 0} {urlsplit(step.page.url).path}"


def is_same(one: Element, other: Element) -> bool:
    """Return whether an element that can be seen is the same as another, by what it is called."""
    if other.visible <= 0 or other.covered:
        return False
    return (one.role, one.tag, one.name, one.text) == (
        other.role,
        other.tag,
        other.name,
        other.text,
    )


def is_near(one: Element, other: Element) -> bool:
    """Return whether two elements stand in the same place."""
    moved = max(abs(a - b) for a, b in zip(one.bbox[:2], other.bbox[:2], strict=True))
    return moved <= _NEAR_PX
