"""Reads what Chrome's Recorder exports as JSON: a `title` and `steps`, as `parse` of `@puppeteer/replay` takes them.

A step names its element by several selectors, each a text, or several from the outside in through shadow roots. That by
its accessible name (`aria/`) comes first, then its text (`text/`), then its id.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from generators.tasks.recordings.recording import (
    BadStep,
    Opened,
    Recorded,
    RecordedSteps,
    make_step,
)
from generators.tasks.recordings.words import without_mark
from schemas.episodes.keys import usual_name
from schemas.errors import BadTasks
from schemas.tasks.reference import Do

_LEFT_OUT = {
    *("setViewport", "emulateNetworkConditions", "scroll", "close"),
    *("waitForElement", "waitForExpression"),
}
"""Steps that a reference needs none for: it finds what it acts on, and its task has a judge."""

_POINTS = {"click": Do.CLICK, "doubleClick": Do.DOUBLE_CLICK, "hover": Do.HOVER}
_MODIFIERS = ("Alt", "Control", "Meta", "Shift")
_ARIA = re.compile(r'aria/(?P<name>.*?)(\[role="(?P<role>[^"]*)"\])?', re.DOTALL)
_ID = re.compile(r"#[\w-]+")


def read_recorder(value: Mapping[str, object], path: Path) -> RecordedSteps:
    """Yield the steps of a recording.

    Raises:
        BadTasks: a step is none of the Recorder's, or none that a reference has.
    """
    steps = value.get("steps")
    if not isinstance(value.get("title"), str) or not isinstance(steps, list):
        raise BadTasks(f"{path}: expected a recording: an object with a 'title' and 'steps'")
    held = set[str]()
    for number, step in enumerate(steps, start=1):
        place = f"step {number}"
        if not isinstance(step, dict):
            raise BadTasks(f"{path}: {place}: expected an object with a 'type'")
        try:
            yield from _steps(step, place, held)
        except BadStep as error:
            raise BadTasks(f"{path}: {place}: {error}") from None


def _steps(step: Mapping[str, object], place: str, held: set[str]) -> RecordedSteps:
    """Yield what a step comes to; `held` are the modifiers that are down."""
    kind = step.get("type")
    if kind == "navigate":
        yield Opened(place, _text(step, "url"))
    elif kind in ("keyDown", "keyUp"):
        yield from _key(step, place, held)
    elif kind in _POINTS or kind == "change":
        selectors = list(_selectors(step))
        on, selector = _words(selectors)
        if kind == "change":
            yield Recorded(place, selector, make_step(Do.TYPE, on=on, text=_text(step, "value")))
        else:
            yield Recorded(place, selector, make_step(_pointer(step), on=on))
    elif kind not in _LEFT_OUT:
        raise BadStep(f"unknown step '{kind}': no reference has one that does this")


def _key(step: Mapping[str, object], place: str, held: set[str]) -> Iterator[Recorded]:
    """Yield the press of a key, when it goes down; what a key types is in the change of its field."""
    key = usual_name(_text(step, "key"))
    if key in _MODIFIERS:
        (held.add if step["type"] == "keyDown" else held.discard)(key)
        return
    is_typed = len(key) == 1 and not held - {"Shift"}
    if step["type"] == "keyDown" and not is_typed:
        chord = [name for name in _MODIFIERS if name in held]
        yield Recorded(place, "", make_step(Do.PRESS, text="+".join([*chord, key])))


def _pointer(step: Mapping[str, object]) -> Do:
    button, do = step.get("button", "primary"), _POINTS[str(step["type"])]
    if button == "secondary" and do is Do.CLICK:
        return Do.RIGHT_CLICK
    if button != "primary":
        raise BadStep(f"a {step['type']} of the {button} button is none that a reference has")
    return do


def _selectors(step: Mapping[str, object]) -> Iterator[str]:
    """Yield a step's selectors, of those through shadow roots the innermost part."""
    found = step.get("selectors")
    if not isinstance(found, list) or not found:
        raise BadStep(f"'{step.get('type')}' needs 'selectors'")
    for one in found:
        inner = one[-1] if isinstance(one, list) and one else one
        if not isinstance(inner, str):
            raise BadStep("a selector should be a text, or a list of texts")
        yield inner


def _words(selectors: Sequence[str]) -> tuple[str, str]:
    """Return the words by which a reference names an element, and the selector that has them.

    Raises:
        BadStep: none has any.
    """
    for one in selectors:
        aria = _ARIA.fullmatch(one)
        if aria and aria["name"]:
            return without_mark(aria["name"], aria["role"] or "textbox"), one
    for one in selectors:
        if one.startswith("text/") and one.removeprefix("text/").strip():
            return one.removeprefix("text/"), one
    for one in selectors:
        if _ID.fullmatch(one):
            return one, one
    raise BadStep(
        f"the selector {selectors[0]} names nothing by words alone; record the step on something that has a name"
    )


def _text(step: Mapping[str, object], key: str) -> str:
    value = step.get(key)
    if not isinstance(value, str):
        raise BadStep(f"'{step.get('type')}' needs a text as '{key}'")
    return value
