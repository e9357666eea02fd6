"""The ordinary actions that a reference's step becomes, on an element that is in sight."""

from urllib.parse import urljoin

from generators.browser.protocol import Node
from generators.policy.protocol import Decision
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Back,
    Button,
    Click,
    Drag,
    DropFile,
    Goto,
    Hover,
    Key,
    Scroll,
    Select,
    Tab,
    TabOperation,
    TypeText,
)
from schemas.episodes.episode import ThoughtSource
from schemas.tasks.reference import CLOSE, Do, ReferenceStep

FILLS = {Do.TYPE, Do.ENTER, Do.SELECT, Do.CHOOSE}
"""What gives a field its value by words."""

WAIT_MS = 5_000
"""How long is waited before the next look at what is not done yet, ms of the page's time."""

_THUMB_PX = 16
"""The width of a slider's handle in Chromium, CSS px: its middle keeps half of that from either end."""

_CLOSED_SIZES = {"", "0", "1"}
"""Values of a list's `size` with which it shows one option."""


def decide(action: Action, why: str | None) -> Decision:
    """Return an action with its thought; None: it has no thought."""
    source = None if why is None else ThoughtSource.TEMPLATE
    return Decision(action=action, thought=why, thought_source=source)


def click(thing: Node, why: str | None) -> Decision:
    """Return a click on an element in sight, with its thought."""
    x, y = thing.point or (0.0, 0.0)
    return decide(Click(x=x, y=y), why)


def opens(thing: Node) -> bool:
    """Return whether a list shows its options only when opened."""
    return "multiple" not in thing.attrs and thing.attrs.get("size", "") in _CLOSED_SIZES


def act_on_nothing(step: ReferenceStep, url: str) -> Action:
    """Return the action of a step without an element, on a page at an address."""
    text = step.text or ""
    action: Action
    match step.do:
        case Do.PRESS:
            action = Key(key=text)
        case Do.TYPE | Do.ENTER:
            action = TypeText(text=text, enter=step.do is Do.ENTER)
        case Do.BACK:
            action = Back()
        case Do.TAB if text == CLOSE:
            action = Tab(operation=TabOperation.CLOSE)
        case Do.TAB:
            action = Tab(operation=TabOperation.SWITCH, index=int(text))
        case Do.OPEN:
            action = Goto(url=urljoin(url, text))
        case Do.ACCEPT | Do.DISMISS:
            action = AnswerDialog(accept=step.do is Do.ACCEPT, text=step.text)
        case _:
            action = Answer(text=text)
    return action


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
    action: Action
    match step.do:
        case Do.TYPE | Do.ENTER:
            entered, text = step.do is Do.ENTER, step.text or ""
            action = TypeText(x=x, y=y, text=text, overwrite=True, enter=entered)
        case Do.SELECT | Do.CHOOSE if is_native:
            action = Select(x=x, y=y, option=step.text or "")
        case Do.DROP:
            action = DropFile(x=x, y=y, name=step.text or "")
        case Do.HOVER:
            action = Hover(x=x, y=y)
        case Do.DOUBLE_CLICK:
            action = Click(x=x, y=y, count=2)
        case Do.RIGHT_CLICK:
            action = Click(x=x, y=y, button=Button.RIGHT)
        case _:
            action = Click(x=x, y=y)
    return action


def slide(slider: Node, number: str, *, right_to_left: bool) -> Drag:
    """Return the drag of a slider's handle from where it stands to a number."""
    left, top, width, height = slider.box
    first, last = float(slider.attrs.get("min", "0")), float(slider.attrs.get("max", "100"))

    def across(value: float) -> float:
        share = (value - first) / max(1.0, last - first)
        from_left = 1 - share if right_to_left else share
        return left + _THUMB_PX / 2 + from_left * (width - _THUMB_PX)

    x, to_x, middle = across(float(slider.value or first)), across(float(number)), top + height / 2
    return Drag(x=x, y=middle, to_x=to_x, to_y=middle)


def may_change(action: Action) -> bool:
    """Return whether an action may change what a page shows, other than what of it is in sight."""
    if isinstance(action, TypeText):
        return action.enter
    if isinstance(action, Key):
        return action.key == "Enter"
    return not isinstance(action, Scroll | Hover)


def is_disabled(thing: Node) -> bool:
    """Return whether an element cannot be used."""
    return "disabled" in thing.attrs or thing.attrs.get("aria-disabled") == "true"


def sends_form(thing: Node) -> bool:
    """Return whether a press of an element sends a form."""
    kind = thing.attrs.get("type", "submit")
    return thing.tag in ("button", "input") and kind == "submit"
