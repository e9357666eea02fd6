"""The ordinary actions that a reference's step becomes, on an element that is in sight."""

from urllib.parse import urljoin

from generators.browser.protocol import Node
from generators.policy.protocol import Decision
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Click,
    Drag,
    DropFile,
    Goto,
    Hover,
    Key,
    Scroll,
    Select,
    TypeText,
)
from schemas.episodes.episode import ThoughtSource
from schemas.tasks.reference import Do, ReferenceStep

_CLOSED_SIZES = {"", "0", "1"}
"""Values of a list's `size` with which it shows one option."""


def decide(action: Action, why: str | None) -> Decision:
    """Return an action with its thought; None: it has no thought."""
    source = None if why is None else ThoughtSource.TEMPLATE
    return Decision(action=action, thought=why, thought_source=source)


def opens(thing: Node) -> bool:
    """Return whether a list shows its options only when opened."""
    return "multiple" not in thing.attrs and thing.attrs.get("size", "") in _CLOSED_SIZES


def act_on_nothing(step: ReferenceStep, url: str) -> Action:
    """Return the action of a step without an element, on a page at an address."""
    text = step.text or ""
    match step.do:
        case Do.PRESS:
            return Key(key=text)
        case Do.TYPE:
            return TypeText(text=text)
        case Do.OPEN:
            return Goto(url=urljoin(url, text))
        case Do.ACCEPT | Do.DISMISS:
            return AnswerDialog(accept=step.do is Do.ACCEPT, text=step.text)
        case _:
            return Answer(text=text)


def act_on(
    step: ReferenceStep,
    point: tuple[float, float],
    end: tuple[float, float] | None,
    *,
    is_native: bool,
) -> Action:
    """Return a step's action at a point; `end` is the end of a drag, None for other steps.

    `is_native` is whether it is on a list of the browser's own.
    """
    x, y = point
    if end is not None:
        return Drag(x=x, y=y, to_x=end[0], to_y=end[1])
    match step.do:
        case Do.TYPE:
            return TypeText(x=x, y=y, text=step.text or "", overwrite=True)
        case Do.SELECT if is_native:
            return Select(x=x, y=y, option=step.text or "")
        case Do.DROP:
            return DropFile(x=x, y=y, name=step.text or "")
        case _:
            return Click(x=x, y=y)


def may_change(action: Action) -> bool:
    """Return whether an action may change what a page shows, other than what of it is in sight."""
    if isinstance(action, Key | TypeText):
        return isinstance(action, Key) and action.key == "Enter"
    return not isinstance(action, Scroll | Hover)


def is_disabled(thing: Node) -> bool:
    """Return whether an element cannot be used."""
    return "disabled" in thing.attrs or thing.attrs.get("aria-disabled") == "true"


def sends_form(thing: Node) -> bool:
    """Return whether a press of an element sends a form."""
    kind = thing.attrs.get("type", "submit")
    return thing.tag in ("button", "input") and kind == "submit"
