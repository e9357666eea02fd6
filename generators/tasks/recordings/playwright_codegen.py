"""Reads what `playwright codegen --target=jsonl` writes: a line for each action, the browser's options before them.

An action has a `name`, and a `locator` that is a chain of parts, each with a `kind` and a `body`, as
`JsonlLanguageGenerator` in Playwright's sources makes them of its selectors.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from generators.tasks.recordings.recording import (
    BadStep,
    Opened,
    Recorded,
    RecordedSteps,
    make_step,
    parse,
)
from generators.tasks.recordings.words import Words, without_mark
from schemas.errors import BadTasks
from schemas.tasks.reference import Do, ReferenceStep

_MODIFIERS = {1: "Alt", 2: "Control", 4: "Meta", 8: "Shift"}
_NAMED = {"label", "placeholder", "text", "alt", "title"}
_LEFT_OUT = {
    *("closePage", "assertText", "assertValue", "assertChecked", "assertVisible"),
    *("assertSnapshot", "assertURL", "assertTitle"),
}
"""Actions that a reference needs no step for: its task has a judge."""

_CLICKS = {"left": Do.CLICK, "right": Do.RIGHT_CLICK}
_TWICE = 2


def read_codegen(text: str, path: Path) -> RecordedSteps:
    """Yield the steps of a file.

    Raises:
        BadTasks: a line is no action of codegen's, or none that a reference has.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        entry, place = parse(line, path, line=number), f"line {number}"
        if not isinstance(entry, dict):
            raise BadTasks(f"{path}: {place}: expected an object, as codegen writes")
        if "name" not in entry and "browserName" in entry:
            continue
        try:
            yield from _steps(entry, place)
        except BadStep as error:
            raise BadTasks(f"{path}: {place}: {error}") from None


def _steps(entry: Mapping[str, object], place: str) -> RecordedSteps:
    name = entry.get("name")
    if name in ("openPage", "navigate"):
        url = _text(entry, "url")
        if url != "about:blank":
            yield Opened(place, url)
    elif name not in _LEFT_OUT:
        selector = str(entry.get("selector", ""))
        for step in _acts(name, entry, selector):
            yield Recorded(place, selector, step)


def _acts(name: object, entry: Mapping[str, object], selector: str) -> Iterator[ReferenceStep]:
    """Yield the reference's steps of an action."""
    if name == "press":
        yield make_step(Do.PRESS, text=_chord(entry))
        return
    if name not in ("click", "hover", "fill", "check", "uncheck", "select", "setInputFiles"):
        raise BadStep(f"unknown step '{name}': no reference has one that does this")
    words = _words(entry, selector)
    named = {"on": words.on, "within": words.within}
    match name:
        case "click":
            yield make_step(_click(entry), **named)
        case "hover":
            yield make_step(Do.HOVER, **named)
        case "fill":
            yield make_step(Do.TYPE, **named, text=_text(entry, "text"))
        case "select":
            yield make_step(Do.CHOOSE, **named, text=_only(entry, "options"))
        case "setInputFiles":
            yield make_step(Do.CLICK, **named)
            yield make_step(Do.ACCEPT, text="\n".join(_texts(entry, "files")))
        case _:
            yield make_step(Do.CLICK, **named)


def _click(entry: Mapping[str, object]) -> Do:
    button, count = entry.get("button", "left"), entry.get("clickCount", 1)
    if entry.get("modifiers"):
        raise BadStep("a click with a key held down is none that a reference has")
    if button not in _CLICKS or count not in (1, _TWICE) or (count, button) == (_TWICE, "right"):
        raise BadStep(f"{count} clicks of the {button} button are none that a reference has")
    return Do.DOUBLE_CLICK if count == _TWICE else _CLICKS[str(button)]


def _chord(entry: Mapping[str, object]) -> str:
    held = entry.get("modifiers", 0)
    if not isinstance(held, int):
        raise BadStep("'modifiers' should be a number")
    names = [name for bit, name in _MODIFIERS.items() if held & bit]
    return "+".join([*names, _text(entry, "key")])


def _words(entry: Mapping[str, object], selector: str) -> Words:
    """Return the words by which a reference names what a locator finds: those of its last part, within those before."""
    within, on = None, None
    for part in _parts(entry.get("locator")):
        match part:
            case {"kind": "role", "body": str() as role, "options": {"name": str() as name}}:
                within, on = on, without_mark(name, role)
            case {"kind": kind, "body": str() as body} if kind in _NAMED:
                within, on = on, body
            case {"kind": "default", "body": str() as body} if body.startswith("#"):
                on = body
            case {"kind": "has-text", "body": str() as body}:
                within, on = body, None
            case {"kind": "first"} | {"kind": "nth", "body": "0"}:
                pass
            case {"kind": "default" | "role"}:
                within, on = on or within, None
            case _:
                on = None
                break
    if on is None:
        raise BadStep(
            f"the selector {selector} names nothing by words alone; record the step on something that has a name"
        )
    return Words(on, None if within is None or within.startswith("#") else within)


def _parts(locator: object) -> Iterator[Mapping[str, object]]:
    while isinstance(locator, dict):
        yield locator
        locator = locator.get("next")


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise BadStep(f"'{entry.get('name')}' needs a text as '{key}'")
    return value


def _texts(entry: Mapping[str, object], key: str) -> list[str]:
    value = entry.get(key)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadStep(f"'{entry.get('name')}' needs a list of texts as '{key}'")
    return value


def _only(entry: Mapping[str, object], key: str) -> str:
    texts = _texts(entry, key)
    if len(texts) != 1:
        raise BadStep(f"{len(texts)} options of one list at once are none that a reference chooses")
    return texts[0]
