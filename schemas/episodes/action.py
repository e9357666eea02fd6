"""The actions of a policy: one record for each, and their union.

Coordinates are CSS pixels of the recorded screenshot's viewport, with the origin at the top left. Every
dialect maps its own names and conventions to these and back. Actions are those of a pointer and a
keyboard; none names an element.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, model_validator

from schemas.base import Record

Coordinate = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
"""CSS pixels from the viewport's left or top edge."""


class Button(StrEnum):
    """A mouse button."""

    LEFT = "left"
    """The primary one."""
    MIDDLE = "middle"
    """The wheel, pressed."""
    RIGHT = "right"
    """The secondary one: a context menu."""


class Direction(StrEnum):
    """Where the content under the pointer goes on to: `down` shows what is below."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"


class TabOperation(StrEnum):
    """What is done with tabs."""

    OPEN = "open"
    """Open a tab, at `url` if given."""
    SWITCH = "switch"
    """Show the tab `index`."""
    CLOSE = "close"
    """Close the tab `index`, the current one if None."""


class Click(Record):
    """Press and release a mouse button at a point, `count` times."""

    type: Literal["click"] = "click"
    x: Coordinate
    """CSS px from the left."""
    y: Coordinate
    """CSS px from the top."""
    button: Button = Button.LEFT
    """Which button."""
    count: int = Field(default=1, ge=1, le=3)
    """Clicks in quick succession."""


class Hover(Record):
    """Move the pointer to a point."""

    type: Literal["hover"] = "hover"
    x: Coordinate
    """CSS px from the left."""
    y: Coordinate
    """CSS px from the top."""


class Drag(Record):
    """Press at a point, move to another, release."""

    type: Literal["drag"] = "drag"
    x: Coordinate
    """CSS px from the left."""
    y: Coordinate
    """CSS px from the top."""
    to_x: Coordinate
    """Where the button is released, CSS px from the left."""
    to_y: Coordinate
    """Where the button is released, CSS px from the top."""
    button: Button = Button.LEFT
    """Which button."""


class TypeText(Record):
    """Type text, at a point (clicked first) or into what has the focus."""

    type: Literal["type"] = "type"
    text: str = Field(max_length=20_000)
    """What is typed, character by character."""
    x: Coordinate | None = None
    """None: type into what has the focus."""
    y: Coordinate | None = None
    """None together with `x`."""
    overwrite: bool = False
    """Select what is in the field first, so that the text replaces it."""
    enter: bool = False
    """Press Enter afterwards."""

    @model_validator(mode="after")
    def _check_point(self) -> "TypeText":
        if (self.x is None) != (self.y is None):
            raise ValueError("type: x and y come together or not at all")
        return self


class Select(Record):
    """Choose an option of the list at a point, by its text."""

    type: Literal["select"] = "select"
    x: Coordinate
    """CSS px from the left."""
    y: Coordinate
    """CSS px from the top."""
    option: str
    """The option's visible text."""


class Key(Record):
    """Press and release a chord, as `Enter`, `Control+a` or `Shift+Tab`."""

    type: Literal["key"] = "key"
    key: str = Field(min_length=1, max_length=100)
    """A key or a chord, its parts joined by `+`."""


class KeyDown(Record):
    """Press a key and keep it down."""

    type: Literal["key_down"] = "key_down"
    key: str = Field(min_length=1, max_length=100)
    """A single key."""


class KeyUp(Record):
    """Release a key."""

    type: Literal["key_up"] = "key_up"
    key: str = Field(min_length=1, max_length=100)
    """A single key."""


class Scroll(Record):
    """Turn the wheel by `amount` CSS pixels, over a point or the viewport's middle."""

    type: Literal["scroll"] = "scroll"
    direction: Direction
    """Which way the content goes on."""
    amount: int = Field(ge=1, le=100_000)
    """CSS px."""
    x: Coordinate | None = None
    """None: over the middle of the viewport."""
    y: Coordinate | None = None
    """None together with `x`."""

    @model_validator(mode="after")
    def _check_point(self) -> "Scroll":
        if (self.x is None) != (self.y is None):
            raise ValueError("scroll: x and y come together or not at all")
        return self


class Goto(Record):
    """Open a URL in the current tab."""

    type: Literal["goto"] = "goto"
    url: str = Field(min_length=1, max_length=8_192)
    """Absolute, within the task's allowed origins."""


class Back(Record):
    """Go one page back in the tab's history."""

    type: Literal["back"] = "back"


class Forward(Record):
    """Go one page forward in the tab's history."""

    type: Literal["forward"] = "forward"


class Reload(Record):
    """Load the page again."""

    type: Literal["reload"] = "reload"


class Tab(Record):
    """Open, switch to or close a tab."""

    type: Literal["tab"] = "tab"
    operation: TabOperation
    """What is done."""
    index: int | None = Field(default=None, ge=0, le=100)
    """Which tab, from 0; None: the current one."""
    url: str | None = None
    """What an opened tab shows; None: a blank page."""


class AnswerDialog(Record):
    """Answer the dialog that the page has opened; an error where none is open."""

    type: Literal["dialog"] = "dialog"
    accept: bool
    """True: OK, or the button in its place; false: Cancel."""
    text: str | None = Field(default=None, max_length=20_000)
    """What its field holds, in place of what was in it: a prompt's text, or the names of the task's files, a line
    each; None: it stays as it is."""


class DropFile(Record):
    """Drop one of the task's files on what is at a point."""

    type: Literal["drop_file"] = "drop_file"
    x: Coordinate
    """CSS px from the left."""
    y: Coordinate
    """CSS px from the top."""
    name: str = Field(min_length=1, max_length=1_000)
    """The file's name; a task says which it has."""


class Wait(Record):
    """Let the page's time pass, by `ms` milliseconds."""

    type: Literal["wait"] = "wait"
    ms: int = Field(default=1_000, ge=1, le=600_000)
    """Of the page's time."""


class Answer(Record):
    """Give the answer and end the episode; an empty text says only that the work is done."""

    type: Literal["answer"] = "answer"
    text: str = ""
    """What is answered; empty where nothing was asked."""


class Restart(Record):
    """Open the task's start page again, in the same session."""

    type: Literal["restart"] = "restart"


class NoAction(Record):
    """Nothing: the last row of an episode, which holds the final state."""

    type: Literal["none"] = "none"


Action = Annotated[
    Click
    | Hover
    | Drag
    | TypeText
    | Select
    | Key
    | KeyDown
    | KeyUp
    | Scroll
    | Goto
    | Back
    | Forward
    | Reload
    | Tab
    | AnswerDialog
    | DropFile
    | Wait
    | Answer
    | Restart
    | NoAction,
    Field(discriminator="type"),
]
"""Any action; `type` says which."""

ACTION: TypeAdapter[Action] = TypeAdapter(Action)
"""Reads an action from JSON or a dict."""


class ActionColumns(Record):
    """An action's parts as columns, for reading without parsing JSON; null where it has none."""

    x: float | None = None
    """CSS px from the left."""
    y: float | None = None
    """CSS px from the top."""
    to_x: float | None = None
    """Where a drag ends, CSS px."""
    to_y: float | None = None
    """Where a drag ends, CSS px."""
    button: str | None = None
    """`left`, `middle` or `right`."""
    count: int | None = None
    """Clicks."""
    text: str | None = None
    """Text typed, into a dialog too, option chosen, file dropped, answer given, or URL opened."""
    key: str | None = None
    """A chord."""
    direction: str | None = None
    """Of a scroll."""
    amount: int | None = None
    """CSS px of a scroll, ms of a wait, index of a tab."""
    accept: bool | None = None
    """Whether a dialog was accepted; null where an earlier version recorded it, too."""


_COLUMN = {"option": "text", "name": "text", "url": "text", "ms": "amount", "index": "amount"}
"""Fields that share a column with a similar one."""


def action_columns(action: Action) -> ActionColumns:
    """Return `action`'s parts as the flat columns of a step row."""
    parts = {_COLUMN.get(name, name): value for name, value in action}
    known = ActionColumns.model_fields
    return ActionColumns.model_validate({k: v for k, v in parts.items() if k in known})


def target_point(action: Action) -> tuple[float, float] | None:
    """Return where the pointer acts, in CSS px; None for an action without a point."""
    parts = action_columns(action)
    return None if parts.x is None or parts.y is None else (parts.x, parts.y)
