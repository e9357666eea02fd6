"""Actions as PyAutoGUI code: what a block of calls does, and the calls that do an action.

One action may be several calls: a drag is a move and a drag, typing at a point is a click and a text, with all
chosen before it and Enter after it where the action says so.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from generators.browser.keyboard import UnknownKey
from generators.policy.dialects.protocol import InexpressibleAction, UnreadableReply
from generators.policy.dialects.shared.arguments import Scale, Text, parse_integer, quote
from generators.policy.dialects.shared.computer_tool import format_duration, parse_duration
from generators.policy.dialects.shared.keys import keys_of_chord, read_key
from generators.policy.dialects.shared.python_calls import PythonCall
from generators.policy.dialects.shared.text_dialect import Fields, format_point, parse_point
from generators.policy.dialects.shared.tools import NOTCH
from schemas.episodes.action import (
    Action,
    Answer,
    Click,
    Direction,
    Drag,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    Scroll,
    TypeText,
    Wait,
)

_CLICKS: Mapping[str, tuple[str, int]] = {
    "pyautogui.click": ("left", 1),
    "pyautogui.rightClick": ("right", 1),
    "pyautogui.middleClick": ("middle", 1),
    "pyautogui.doubleClick": ("left", 2),
    "computer.triple_click": ("left", 3),
}
_HOLDS = {"pyautogui.keyDown": "key_down", "pyautogui.keyUp": "key_up"}
_SCROLLS = {
    Direction.UP: ("pyautogui.scroll", 1),
    Direction.DOWN: ("pyautogui.scroll", -1),
    Direction.LEFT: ("pyautogui.hscroll", -1),
    Direction.RIGHT: ("pyautogui.hscroll", 1),
}
_ALL = ("Control", "a")
_MAX_CLICKS = 1_000


def calls_to_fields(calls: Sequence[PythonCall], scale: Scale) -> Fields:
    """Return the fields of the one action that the calls of a block make.

    Raises:
        UnreadableReply: they are no action, or several.
    """
    names = [call.name for call in calls]
    if names == ["pyautogui.moveTo", "pyautogui.dragTo"]:
        to = parse_point(_xy(calls[1]), scale, names=("to_x", "to_y"))
        return {"type": "drag", **parse_point(_xy(calls[0]), scale), **to}
    if "pyautogui.write" in names or "pyautogui.typewrite" in names:
        return _read_type(list(calls), scale)
    if len(calls) > 1:
        raise UnreadableReply(f"the code makes {len(calls)} actions; give exactly one")
    return _one(calls[0], scale)


def _one(call: PythonCall, scale: Scale) -> Fields:
    fields: Fields
    match call.name:
        case name if name in _CLICKS:
            button, count = _CLICKS[name]
            fields = {"type": "click", "button": button, "count": count}
            fields |= parse_point(_xy(call), scale)
        case "pyautogui.moveTo":
            fields = {"type": "hover", **parse_point(_xy(call), scale)}
        case "pyautogui.press" | "pyautogui.hotkey":
            fields = {"type": "key", "key": "+".join(_keys(call))}
        case name if name in _HOLDS:
            fields = {"type": _HOLDS[name], "key": _keys(call)[0]}
        case "pyautogui.scroll" | "pyautogui.hscroll" as name:
            fields = _read_scroll(name, call, scale)
        case "pyautogui.sleep" | "time.sleep":
            fields = {"type": "wait", "ms": parse_duration(_argument(call, "seconds"))}
        case "computer.wait":
            fields = {"type": "wait", "ms": 1_000}
        case "computer.terminate":
            failed = _argument(call, "status") == "failure"
            fields = {"type": "answer", "text": "failure" if failed else ""}
        case name:
            raise UnreadableReply(
                f"there is no function {quote(name)} that can be carried out here"
            )
    return fields


def _read_type(calls: list[PythonCall], scale: Scale) -> Fields:
    """Return the fields of typing: a click before it, all chosen, the text, and Enter, of which only the text must be."""
    fields: Fields = {"type": "type", "enter": False, "overwrite": False}
    if calls[0].name == "pyautogui.click":
        fields |= parse_point(_xy(calls.pop(0)), scale)
    if calls[0].name == "pyautogui.hotkey" and tuple(_keys(calls[0])) == _ALL:
        fields["overwrite"] = bool(calls.pop(0))
    if calls and calls[0].name in ("pyautogui.write", "pyautogui.typewrite"):
        fields["text"] = Text().parse(_argument(calls.pop(0), "message"), scale)
        if calls and calls[0].name == "pyautogui.press" and _keys(calls[0]) == ["Enter"]:
            fields["enter"] = bool(calls.pop(0))
    if calls or "text" not in fields:
        raise UnreadableReply("the code types and does more; give one action")
    return fields


def _read_scroll(name: str, call: PythonCall, scale: Scale) -> Fields:
    clicks = parse_integer(_argument(call, "clicks"), -_MAX_CLICKS, _MAX_CLICKS)
    way = next(
        way
        for way, (called, sign) in _SCROLLS.items()
        if called == name and (clicks < 0) == (sign < 0)
    )
    over = parse_point(_xy(call), scale) if "x" in call.named else {}
    return {"type": "scroll", "direction": way.value, "amount": max(1, abs(clicks) * NOTCH), **over}


def _xy(call: PythonCall) -> JsonValue:
    given = list(call.given[:2]) if len(call.given) > 1 else []
    return given or [call.named.get("x"), call.named.get("y")]


def _argument(call: PythonCall, name: str) -> JsonValue:
    if name in call.named:
        return call.named[name]
    if not call.given:
        raise UnreadableReply(f"'{call.name}' needs '{name}'")
    return call.given[0]


def _keys(call: PythonCall) -> list[str]:
    given = call.named.get("keys", call.named.get("key", list(call.given)))
    words = given if isinstance(given, list) else [given]
    words = words[0] if len(words) == 1 and isinstance(words[0], list) else words
    try:
        keys = [read_key(str(word)) for word in words]
    except UnknownKey as error:
        raise UnreadableReply(f"{quote(str(words))} names no key") from error
    if not keys:
        raise UnreadableReply(f"'{call.name}' names no key")
    return ["plus" if name == "+" and name is not keys[-1] else name for name in keys]


def action_to_calls(action: Action, scale: Scale) -> list[PythonCall]:
    """Return the code of an action.

    Raises:
        InexpressibleAction: PyAutoGUI cannot do it, or this program reads it as something else.
    """
    match action:
        case Click() | Hover():
            return [_write_point(action, scale)]
        case Drag(button="left"):
            start = _at("pyautogui.moveTo", action.x, action.y, scale)
            end = _at("pyautogui.dragTo", action.to_x, action.to_y, scale)
            return [start, end.model_copy(update={"named": {**end.named, "button": "left"}})]
        case TypeText():
            return _write_type(action, scale)
        case Key() | KeyDown() | KeyUp():
            return [_write_key(action)]
        case Scroll() if action.amount % NOTCH == 0 and action.amount <= _MAX_CLICKS * NOTCH:
            return [_write_scroll(action, scale)]
        case _:
            return [_write_end(action)]


def _write_point(action: Click | Hover, scale: Scale) -> PythonCall:
    does = (action.button, action.count) if isinstance(action, Click) else None
    called = [name for name, clicks in _CLICKS.items() if clicks == does]
    if does is not None and not called:
        raise InexpressibleAction(f"no call clicks {does[1]} times with {does[0]}")
    return _at(called[0] if called else "pyautogui.moveTo", action.x, action.y, scale)


def _write_key(action: Key | KeyDown | KeyUp) -> PythonCall:
    if isinstance(action, Key):
        keys = _key_words(action.key, 5)
        name = "pyautogui.hotkey" if len(keys) > 1 else "pyautogui.press"
        return PythonCall(name=name, named={"keys": keys})
    name = next(name for name, kind in _HOLDS.items() if kind == action.type)
    return PythonCall(name=name, given=(_key_words(action.key, 1)[0],))


def _write_scroll(action: Scroll, scale: Scale) -> PythonCall:
    name, sign = _SCROLLS[action.direction]
    call = PythonCall(name=name, given=(sign * (action.amount // NOTCH),))
    if action.x is None or action.y is None:
        return call
    return call.model_copy(update={"named": _at(name, action.x, action.y, scale).named})


def _write_end(action: Action) -> PythonCall:
    """Return the call of a wait, or of an answer without words."""
    match action:
        case Wait():
            return PythonCall(name="pyautogui.sleep", given=(format_duration(action.ms),))
        case Answer(text=""):
            return PythonCall(name="computer.terminate", named={"status": "success"})
        case _:
            raise InexpressibleAction(f"PyAutoGUI cannot do this '{action.type}'")


def _write_type(action: TypeText, scale: Scale) -> list[PythonCall]:
    calls = []
    if action.x is not None and action.y is not None:
        calls.append(_at("pyautogui.click", action.x, action.y, scale))
    if action.overwrite:
        calls.append(PythonCall(name="pyautogui.hotkey", named={"keys": ["ctrl", "a"]}))
    text = Text().from_action(action.text, scale)
    calls.append(PythonCall(name="pyautogui.write", named={"message": text}))
    if action.enter:
        calls.append(PythonCall(name="pyautogui.press", named={"keys": ["enter"]}))
    return calls


def _key_words(chord: str, most: int) -> list[JsonValue]:
    keys = [str(key) for key in keys_of_chord(chord, max_keys=most)]
    spelt = {"Control": "ctrl", " ": "space"}
    return [spelt.get(key) or (key.lower() if len(key) > 1 else key) for key in keys]


def _at(name: str, x: float, y: float, scale: Scale) -> PythonCall:
    across, down = format_point(x, y, scale)
    return PythonCall(name=name, named={"x": across, "y": down})
