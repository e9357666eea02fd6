"""Actions in BrowserGym's words, read as Stepmill's: `mouse_click(20, 35)`, `keyboard_type("Ada")`, `noop()`.

A reply may have several calls, a line each. Nothing of it is executed as code: it is parsed, and its arguments are
constants. Points are px of the picture. Ids of elements, as in `click("7")`, are those of the page's tree that the same
observation told; what Stepmill records is the point of the element.
"""

import ast
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Json = dict[str, Any]

MAX_CALLS = 20
"""The maximum number of calls in a reply."""

MAX_CHARACTERS = 20_000
"""The maximum length of a reply."""


class UnreadableAction(ValueError):
    """A reply is none of the known calls; the text says what is wrong."""


class Page(NamedTuple):
    """What actions need to know of the page that they act on."""

    scale: float = 1.0
    """Picture px per CSS px."""
    points: Mapping[str, tuple[float, float]] = {}
    """The middle of each told element by its id, CSS px."""

    def point(self, x: Any, y: Any) -> tuple[float, float]:
        """Return a point of the picture in CSS px."""
        return _number(x) / self.scale, _number(y) / self.scale

    def place(self, bid: Any) -> tuple[float, float]:
        """Return the middle of an element."""
        if str(bid) not in self.points:
            raise UnreadableAction(f"there is no element '{bid}' in the page's tree")
        return self.points[str(bid)]


def read_calls(reply: str, page: Page) -> list[Json]:
    """Return the actions of a reply, in order.

    Raises:
        UnreadableAction: it has an unknown call, or something else than calls.
    """
    if len(reply) > MAX_CHARACTERS:
        raise UnreadableAction(f"a reply of more than {MAX_CHARACTERS:,} characters")
    try:
        body = ast.parse(reply.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableAction(f"expected calls such as mouse_click(20, 35): {error}") from None
    if not body or len(body) > MAX_CALLS:
        raise UnreadableAction(f"expected 1 to {MAX_CALLS} calls, got {len(body)}")
    return [action for statement in body for action in _read(statement, page)]


def _read(statement: ast.stmt, page: Page) -> list[Json]:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise UnreadableAction("expected calls alone, such as mouse_click(20, 35)")
    name = call.func.id
    if name not in _CALLS:
        raise UnreadableAction(f"there is no action {name}; there are {', '.join(_CALLS)}")
    try:
        args = [ast.literal_eval(arg) for arg in call.args]
        named = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        return _CALLS[name](page, *args, **named)
    except UnreadableAction:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise UnreadableAction(f"{name}: {error}") from None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableAction(f"expected a number, got {value!r}")
    return float(value)


def _click(at: tuple[float, float], button: str = "left", count: int = 1) -> list[Json]:
    return [{"type": "click", "x": at[0], "y": at[1], "button": button, "count": count}]


def _hover(at: tuple[float, float]) -> list[Json]:
    return [{"type": "hover", "x": at[0], "y": at[1]}]


def _drag(start: tuple[float, float], end: tuple[float, float]) -> list[Json]:
    return [{"type": "drag", "x": start[0], "y": start[1], "to_x": end[0], "to_y": end[1]}]


def _type(
    text: Any, at: tuple[float, float] | None = None, *, overwrite: bool = False
) -> list[Json]:
    if not isinstance(text, str):
        raise UnreadableAction(f"expected a text, got {text!r}")
    action: Json = {"type": "type", "text": text, "overwrite": overwrite}
    return [action if at is None else action | {"x": at[0], "y": at[1]}]


def _scroll(dx: Any, dy: Any, at: tuple[float, float] | None = None) -> list[Json]:
    """A wheel turns in one direction at a time."""
    turns = [("right", "left", _number(dx)), ("down", "up", _number(dy))]
    return [
        {"type": "scroll", "direction": more if by > 0 else less, "amount": max(1, round(abs(by)))}
        | ({} if at is None else {"x": at[0], "y": at[1]})
        for more, less, by in turns
        if by
    ] or [{"type": "wait", "ms": 1}]


def _key(kind: str, key: Any) -> list[Json]:
    if not isinstance(key, str):
        raise UnreadableAction(f"expected a key, got {key!r}")
    return [{"type": kind, "key": key.replace("ControlOrMeta", "Control")}]


def _select(at: tuple[float, float], options: Any) -> list[Json]:
    if isinstance(options, list):
        if len(options) != 1:
            raise UnreadableAction("one option at a time")
        (options,) = options
    return [{"type": "select", "x": at[0], "y": at[1], "option": str(options)}]


def _tab(operation: str, index: Any = None) -> list[Json]:
    return [{"type": "tab", "operation": operation, "index": index}]


def _answer(text: Any) -> list[Json]:
    return [{"type": "answer", "text": str(text)}]


_CALLS: Mapping[str, Callable[..., list[Json]]] = {
    "mouse_click": lambda page, x, y, button="left": _click(page.point(x, y), button),
    "mouse_dblclick": lambda page, x, y, button="left": _click(page.point(x, y), button, 2),
    "mouse_move": lambda page, x, y: _hover(page.point(x, y)),
    "mouse_drag_and_drop": lambda page, from_x, from_y, to_x, to_y: _drag(
        page.point(from_x, from_y), page.point(to_x, to_y)
    ),
    "keyboard_type": lambda _page, text: _type(text),
    "keyboard_insert_text": lambda _page, text: _type(text),
    "keyboard_press": lambda _page, key: _key("key", key),
    "keyboard_down": lambda _page, key: _key("key_down", key),
    "keyboard_up": lambda _page, key: _key("key_up", key),
    "scroll": lambda _page, delta_x, delta_y: _scroll(delta_x, delta_y),
    "scroll_at": lambda page, x, y, dx, dy: _scroll(dx, dy, page.point(x, y)),
    "click": lambda page, bid, button="left": _click(page.place(bid), button),
    "dblclick": lambda page, bid, button="left": _click(page.place(bid), button, 2),
    "hover": lambda page, bid: _hover(page.place(bid)),
    "focus": lambda page, bid: _click(page.place(bid)),
    "fill": lambda page, bid, value: _type(value, page.place(bid), overwrite=True),
    "clear": lambda page, bid: [
        *_click(page.place(bid)),
        *_key("key", "Control+a"),
        *_key("key", "Delete"),
    ],
    "press": lambda page, bid, key_comb: [*_click(page.place(bid)), *_key("key", key_comb)],
    "select_option": lambda page, bid, options: _select(page.place(bid), options),
    "drag_and_drop": lambda page, from_bid, to_bid: _drag(page.place(from_bid), page.place(to_bid)),
    "goto": lambda _page, url: [{"type": "goto", "url": str(url)}],
    "go_back": lambda _page: [{"type": "back"}],
    "go_forward": lambda _page: [{"type": "forward"}],
    "new_tab": lambda _page: _tab("open"),
    "tab_close": lambda _page: _tab("close"),
    "tab_focus": lambda _page, index: _tab("switch", index),
    "noop": lambda _page, wait_ms=1000: [{"type": "wait", "ms": max(1, round(_number(wait_ms)))}],
    "send_msg_to_user": lambda _page, text: _answer(text),
    "report_infeasible": lambda _page, _reason: _answer("impossible"),
}
"""What is known; `mouse_down` and `mouse_up` are not, because a drag is one action. A task that cannot be done is answered
in a word that every one of them takes."""
