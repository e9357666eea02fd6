"""Tools for every action of a browser, under the names that H Company publishes.

A published name is kept, with its arguments, for H Company's families; arguments that our actions need
besides come after them. Sources: the agent loop
of the Holo3 documentation (`click`, `write`, `answer`), the cookbook's navigator (`scroll`,
`go_back`, `refresh`, `goto`, `wait`, `restart`), the hosted web agents (`select_option`,
`press_keys`, `switch_tab`, `close_tab`) and the desktop tools of Holotron-3 (`press_enter`,
`overwrite`, `key_down`, `key_up`).
"""

from typing import Annotated

from pydantic import Field

from generators.policy.dialects.shared.arguments import Boolean, Choice, Coordinate, Integer, Text
from generators.policy.dialects.shared.keys import Chord, OneKey
from generators.policy.dialects.shared.tools import Element, Tool, ToolArguments, WaitExactly
from schemas.episodes.action import Button, Direction

X = Annotated[float, Coordinate("x")]
"""Across."""
Y = Annotated[float, Coordinate("y")]
"""Down."""
_MaybeX = Annotated[float | None, Coordinate("x")]
_MaybeY = Annotated[float | None, Coordinate("y")]
_Words = Annotated[str, Text()]
_Switch = Annotated[bool, Boolean()]
_ButtonName = Annotated[str, Choice(tuple(Button))]
_Index = Annotated[int | None, Integer(0, 100)]


class AtElement(ToolArguments):
    """A point, and a description of the element there."""

    element: Element
    x: X
    y: Y


class ClickArguments(AtElement):
    """A click with any button, once or more."""

    button: _ButtonName = "left"
    count: Annotated[int, Integer(1, 3)] = 1


class WriteArguments(ToolArguments):
    """Typing, at a point or where the focus is."""

    text: _Words = Field(alias="content")
    element: Element
    x: _MaybeX = None
    y: _MaybeY = None
    overwrite: _Switch = False
    enter: _Switch = Field(default=False, alias="press_enter")


class SelectArguments(AtElement):
    """Choosing an option of a native list."""

    option: _Words


class ScrollArguments(ToolArguments):
    """Turning the wheel, over a point or the middle."""

    element: Element
    direction: Annotated[str, Choice(tuple(Direction))]
    amount: Annotated[int, Integer(1, 100_000)]
    x: _MaybeX = None
    y: _MaybeY = None


class DragArguments(AtElement):
    """Dragging from a point to another."""

    to_x: X
    to_y: Y
    button: _ButtonName = "left"


class ChordArguments(ToolArguments):
    """Keys that are pressed together."""

    key: Annotated[list[str], Chord()] = Field(alias="keys")


class KeyArguments(ToolArguments):
    """One key."""

    key: Annotated[str, OneKey()]


class UrlArguments(ToolArguments):
    """An address."""

    url: Annotated[str, Text(min_length=1)]


class NewTabArguments(ToolArguments):
    """An address, or null for a blank page."""

    url: Annotated[str | None, Text(min_length=1)] = None


class TabArguments(ToolArguments):
    """A tab, counted from 0."""

    index: _Index = None


class DialogArguments(ToolArguments):
    """The answer to a dialog."""

    accept: _Switch
    text: Annotated[str | None, Text()] = None


class DropArguments(AtElement):
    """Dropping a file of the task."""

    name: Annotated[str, Text(min_length=1)] = Field(alias="file")


class AnswerArguments(ToolArguments):
    """The final answer."""

    text: _Words = Field(alias="content")


def click(name: str = "click") -> Tool:
    """Return the tool that clicks, with any button, once or more."""
    does = "click at a point; count 2 is a double click, button right opens a context menu"
    return Tool(name, does, "click", ClickArguments)


def write(name: str = "write") -> Tool:
    """Return the tool that types, at a point or where the focus is."""
    does = (
        "click at x, y and type content there, or where the focus is if both are null; "
        "overwrite replaces what the field holds, press_enter presses Enter afterwards"
    )
    return Tool(name, does, "type", WriteArguments)


def scroll(name: str = "scroll") -> Tool:
    """Return the tool that turns the wheel."""
    does = "scroll by amount pixels of the page, over x, y or over the middle if both are null"
    return Tool(name, does, "scroll", ScrollArguments)


def move_mouse(name: str = "move_mouse") -> Tool:
    """Return the tool that moves the pointer."""
    return Tool(name, "move the mouse to a point without clicking", "hover", AtElement)


def drag(name: str = "drag") -> Tool:
    """Return the tool that drags from one point to another."""
    does = "press the mouse at x, y, move it to to_x, to_y and let go"
    return Tool(name, does, "drag", DragArguments)


def wait(name: str = "wait") -> Tool:
    """Return the tool that waits, to the millisecond."""
    return Tool(name, "let time pass on the page", "wait", WaitExactly)


SELECT_OPTION = Tool(
    "select_option",
    "choose an option of the drop-down list at x, y, by the option's exact text",
    "select",
    SelectArguments,
)
KEYS = (
    Tool("press_keys", 'press keys together, as ["Control", "a"]', "key", ChordArguments),
    Tool("key_down", "press a key and keep it down", "key_down", KeyArguments),
    Tool("key_up", "let go of a key that is down", "key_up", KeyArguments),
)
"""Pressing keys together, and holding one."""
TABS = (
    Tool(
        "switch_tab",
        "show another tab, counted from 0",
        "tab",
        TabArguments,
        {"operation": "switch"},
    ),
    Tool(
        "open_tab",
        "open a tab at url, a blank one if null",
        "tab",
        NewTabArguments,
        {"operation": "open"},
    ),
    Tool(
        "close_tab",
        "close a tab, the current one if null",
        "tab",
        TabArguments,
        {"operation": "close"},
    ),
)
"""Opening, switching and closing tabs."""
ANSWER_DIALOG = Tool(
    "answer_dialog",
    "answer the dialog that the page has opened: accept true presses OK and false Cancel; "
    "text is what its field is to hold, as a file's name, null to leave it",
    "dialog",
    DialogArguments,
)
"""Answering a dialog."""
DROP_FILE = Tool(
    "drop_file", "drop a file of the task, by its name, at x, y", "drop_file", DropArguments
)
"""Dropping a file."""
GOTO = Tool("goto", "open an address, starting with http:// or https://", "goto", UrlArguments)
"""Opening an address."""
GO_BACK = Tool("go_back", "go back to the previous page", "back")
"""Going back."""
GO_FORWARD = Tool("go_forward", "go forward again after going back", "forward")
"""Going forward."""
REFRESH = Tool("refresh", "load the page again", "reload")
"""Loading again."""
RESTART = Tool("restart", "open the task's start page again", "restart")
"""Starting over."""
ANSWER = Tool("answer", "give the final answer and end the task", "answer", AnswerArguments)
"""Answering."""

BROWSER = (GOTO, GO_BACK, GO_FORWARD, REFRESH, *TABS, ANSWER_DIALOG, DROP_FILE)
"""What a browser does beyond its pages: addresses, its history, tabs, dialogs and files."""

EVERYTHING: tuple[Tool, ...] = (
    click(),
    write(),
    SELECT_OPTION,
    scroll(),
    move_mouse(),
    drag(),
    *KEYS,
    *BROWSER,
    wait(),
    RESTART,
    ANSWER,
)
"""A tool for each kind of action."""
