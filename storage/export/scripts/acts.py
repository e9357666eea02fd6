"""The calls that do one action, where nothing but the action and its element decides."""

import base64
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from schemas.base import canonical_json
from schemas.episodes.action import (
    Action,
    Back,
    Button,
    Click,
    Direction,
    Drag,
    DropFile,
    Forward,
    Key,
    KeyDown,
    KeyUp,
    Reload,
    Scroll,
    TypeText,
    Wait,
)
from schemas.episodes.episode import Step
from schemas.episodes.keys import split_chord, usual_name
from schemas.episodes.observation import Element
from schemas.tasks.task_file import TaskFile
from storage.export.scripts.locators import Named
from storage.export.scripts.statements import PAGE, Call, Contents, Do, Value

_WHEEL = {
    Direction.UP: (0, -1),
    Direction.DOWN: (0, 1),
    Direction.LEFT: (-1, 0),
    Direction.RIGHT: (1, 0),
}
_PLACED = {"slider", "img", "graphics-document"}
"""Roles of what is clicked at a certain place of it."""

_WRITTEN_OTHERWISE = re.compile(
    r"[0-9]{4,6}-(W?[0-9]{2})(-[0-9]{2})?(T[0-9:.]+)?|[0-9]{2}:[0-9:.]+"
)
"""The values of date and time fields, which are typed in parts, as the browser's language has them."""

_DROP = Path(__file__).with_name("drop_file.js")

Files = Mapping[str, TaskFile]
"""The task's files by name."""


class Unwritable(Exception):
    """An action that no call of Playwright's makes; the text is the word that it is counted by."""


def press(action: Key | KeyDown | KeyUp) -> Do:
    """Return what a key does."""
    how = {"key": "press", "key_down": "down", "key_up": "up"}[action.type]
    return Do((*PAGE, "keyboard", Call(how, (chord(action.key),))))


def turn(action: Action) -> Do | None:
    """Return what a browser's own buttons do, or a wait; None: the action is none of these."""
    match action:
        case Back():
            return Do((*PAGE, Call("go_back")))
        case Forward():
            return Do((*PAGE, Call("go_forward")))
        case Reload():
            return Do((*PAGE, Call("reload")))
        case Wait(ms=ms):
            return Do((*PAGE, Call("wait_for_timeout", (ms,))))
        case _:
            return None


def click_options(action: Click) -> dict[str, Value]:
    """Return the options of a click that is not one of the left button."""
    count: dict[str, Value] = {} if action.count == 1 else {"click_count": action.count}
    return _button(action.button) | count


def click(action: Click, element: Element, named: Named) -> Do:
    """Return a click on an element with a name, at its place in what is clicked at a certain one."""
    options = click_options(action)
    if element.role in _PLACED:
        left, top, _, _ = element.bbox
        options["position"] = {"x": action.x - left, "y": action.y - top}
    return Do((*named.chain, Call("click", (), options)))


def fill(action: TypeText, element: Element, named: Named, after: Element | None) -> Iterator[Do]:
    """Yield what types a text into a field with a name."""
    value = None if after is None else after.value
    if value is not None and value != action.text and _WRITTEN_OTHERWISE.fullmatch(value):
        yield Do((*named.chain, Call("fill", (value,))))
    elif element.role in ("combobox", "searchbox") or not action.overwrite:
        if action.overwrite:
            yield Do((*named.chain, Call("fill", ("",))))
        yield Do((*named.chain, Call("press_sequentially", (action.text,))))
    else:
        yield Do((*named.chain, Call("fill", (action.text,))))
    if action.enter:
        yield Do((*named.chain, Call("press", ("Enter",))))


def scroll(action: Scroll, step: Step) -> Iterator[Do]:
    """Yield a turn of the wheel over a point, or the middle of the viewport."""
    across, down = _WHEEL[action.direction]
    middle = step.width / 2, step.height / 2
    x, y = action.x if action.x is not None else middle[0], action.y or middle[1]
    yield Do((*PAGE, "mouse", Call("move", (x, y))))
    yield Do((*PAGE, "mouse", Call("wheel", (across * action.amount, down * action.amount))))


def drag(action: Drag) -> Iterator[Do]:
    """Yield a press at one point, a way to the other, and the release there."""
    yield Do((*PAGE, "mouse", Call("move", (action.x, action.y))))
    yield Do((*PAGE, "mouse", Call("down", (), _button(action.button))))
    yield Do((*PAGE, "mouse", Call("move", (action.to_x, action.to_y), {"steps": 8})))
    yield Do((*PAGE, "mouse", Call("up", (), _button(action.button))))


def drop_file(action: DropFile, files: Files) -> Do:
    """Return what drops a file of the task.

    Raises:
        Unwritable: the task has no such file.
    """
    if action.name not in files:
        raise Unwritable("files")
    told = canonical_json([action.x, action.y, action.name, _base64(files[action.name])])
    script = _DROP.read_text("utf-8").partition("\n")[2].strip().removesuffix(";")
    return Do((*PAGE, Call("evaluate", (f"({script})({told})",))))


def _button(button: Button) -> dict[str, Value]:
    return {} if button is Button.LEFT else {"button": button.value}


def file_value(file: TaskFile) -> dict[str, Value]:
    """Return a file of the task as the page is given it."""
    return {
        "name": file.name,
        "mimeType": "application/octet-stream",
        "buffer": Contents(_base64(file)),
    }


def _base64(file: TaskFile) -> str:
    return base64.b64encode(file.contents).decode()


def chord(chord: str) -> str:
    """Return a chord as Playwright spells it."""
    return "+".join(usual_name(part) for part in split_chord(chord))
