"""The tools that reach every action a browser needs, by the names H Company publishes.

Where H Company has published a name for a web action it is kept, with its arguments, for its
families; arguments that an action of ours needs besides come after them. Sources: the agent loop
of the Holo3 documentation (`click`, `write`, `answer`), the cookbook's navigator (`scroll`,
`go_back`, `refresh`, `goto`, `wait`, `restart`), the hosted web agents (`select_option`,
`press_keys`, `switch_tab`, `close_tab`) and the desktop tools of Holotron-3 (`press_enter`,
`overwrite`, `key_down`, `key_up`).
"""

from generators.policy.dialects.shared.arguments import Choice, Coordinate, Flag, Text, Whole
from generators.policy.dialects.shared.keys import Chord, OneKey
from generators.policy.dialects.shared.tools import ELEMENT, Argument, Tool, WaitSeconds
from schemas.action import Button, Direction

X = Argument("x", Coordinate("x"), "x")
"""Across."""
Y = Argument("y", Coordinate("y"), "y")
"""Down."""
MAYBE_X = Argument("x", Coordinate("x"), "x", optional=True)
"""Across; null: where the focus is, or the middle."""
MAYBE_Y = Argument("y", Coordinate("y"), "y", optional=True)
"""Down; null together with `x`."""
CONTENT = Argument("content", Text(), "text")
"""What is written or answered."""
URL = Argument("url", Text(least=1), "url")
"""An address."""
DIRECTION = Argument("direction", Choice(tuple(Direction)), "direction")
"""Where the content goes on."""

_BUTTON = Argument("button", Choice(tuple(Button)), "button", default="left")
_INDEX = Argument("index", Whole(0, 100), "index", optional=True)


def click(name: str = "click") -> Tool:
    """Return clicking, with any button, once or more."""
    count = Argument("count", Whole(1, 3), "count", default=1)
    does = "click at a point; count 2 is a double click, button right opens a context menu"
    return Tool(name, does, "click", (ELEMENT, X, Y, _BUTTON, count))


def write(name: str = "write") -> Tool:
    """Return typing, at a point or where the focus is."""
    overwrite = Argument("overwrite", Flag(), "overwrite", default=False)
    enter = Argument("press_enter", Flag(), "enter", default=False)
    does = (
        "click at x, y and type content there, or where the focus is if both are null; "
        "overwrite replaces what the field holds, press_enter presses Enter afterwards"
    )
    return Tool(name, does, "type", (CONTENT, ELEMENT, MAYBE_X, MAYBE_Y, overwrite, enter))


def select_option(name: str = "select_option") -> Tool:
    """Return choosing an option of a native list."""
    option = Argument("option", Text(), "option")
    does = "choose an option of the drop-down list at x, y, by the option's exact text"
    return Tool(name, does, "select", (ELEMENT, X, Y, option))


def scroll(name: str = "scroll") -> Tool:
    """Return turning the wheel."""
    amount = Argument("amount", Whole(1, 100_000), "amount")
    does = "scroll by amount pixels of the page, over x, y or over the middle if both are null"
    return Tool(name, does, "scroll", (ELEMENT, DIRECTION, amount, MAYBE_X, MAYBE_Y))


def move_mouse(name: str = "move_mouse") -> Tool:
    """Return moving the pointer."""
    return Tool(name, "move the mouse to a point without clicking", "hover", (ELEMENT, X, Y))


def drag(name: str = "drag") -> Tool:
    """Return dragging from a point to another."""
    to_x = Argument("to_x", Coordinate("x"), "to_x")
    to_y = Argument("to_y", Coordinate("y"), "to_y")
    does = "press the mouse at x, y, move it to to_x, to_y and let go"
    return Tool(name, does, "drag", (ELEMENT, X, Y, to_x, to_y, _BUTTON))


def keys() -> tuple[Tool, ...]:
    """Return pressing keys together, and holding one."""
    pressed = Argument("keys", Chord(), "key")
    held = Argument("key", OneKey(), "key")
    return (
        Tool("press_keys", 'press keys together, as ["Control", "a"]', "key", (pressed,)),
        Tool("key_down", "press a key and keep it down", "key_down", (held,)),
        Tool("key_up", "let go of a key that is down", "key_up", (held,)),
    )


def tabs() -> tuple[Tool, ...]:
    """Return opening, switching and closing tabs."""
    maybe_url = Argument("url", Text(least=1), "url", optional=True)
    return (
        Tool(
            "switch_tab",
            "show another tab, counted from 0",
            "tab",
            (_INDEX,),
            {"operation": "switch"},
        ),
        Tool(
            "open_tab",
            "open a tab at url, a blank one if null",
            "tab",
            (maybe_url,),
            {"operation": "open"},
        ),
        Tool(
            "close_tab",
            "close a tab, the current one if null",
            "tab",
            (_INDEX,),
            {"operation": "close"},
        ),
    )


def wait(name: str = "wait") -> Tool:
    """Return waiting, to the millisecond."""
    seconds = Argument("seconds", Whole(0, 600), "ms")
    over = Argument("milliseconds", Whole(0, 999), "ms", default=0)
    return WaitSeconds(name, "let time pass on the page", "wait", (seconds, over))


GOTO = Tool("goto", "open an address, starting with http:// or https://", "goto", (URL,))
"""Opening an address."""
GO_BACK = Tool("go_back", "go back to the previous page", "back")
"""Going back."""
GO_FORWARD = Tool("go_forward", "go forward again after going back", "forward")
"""Going forward."""
REFRESH = Tool("refresh", "load the page again", "reload")
"""Loading again."""
RESTART = Tool("restart", "open the task's start page again", "restart")
"""Starting over."""
ANSWER = Tool("answer", "give the final answer and end the task", "answer", (CONTENT,))
"""Answering."""

EVERYTHING: tuple[Tool, ...] = (
    click(),
    write(),
    select_option(),
    scroll(),
    move_mouse(),
    drag(),
    *keys(),
    GOTO,
    GO_BACK,
    GO_FORWARD,
    REFRESH,
    *tabs(),
    wait(),
    RESTART,
    ANSWER,
)
"""A tool for each action there is."""
