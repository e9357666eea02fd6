"""UI-TARS: a thought and one call as text, `Action: click(point='<point>x y</point>')`.

Source: bytedance/UI-TARS, its prompts and coordinates guide. Version 1.5 gives pixels of the
picture as it was sent (Qwen2.5-VL's processor, patches of 28 px); version 1.0 wrote
`start_box='(x,y)'` in thousandths, which `convention = "0-1000"` parses. `hover`, `keydown`, `keyup`, `left_single` and
`select` (a drag) are calls that its published parser carries out, and its prompts leave out.

A scroll says where to and not how far: any of at most a page is said, and a page is read.
"""

import re
from collections.abc import Mapping
from typing import ClassVar

from pydantic import JsonValue
from typing_extensions import override

from generators.browser.keyboard import UnknownKey
from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import Patched, PictureRule
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    InexpressibleAction,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.shared.arguments import Scale, Text, quote
from generators.policy.dialects.shared.json_reply import strip_thinking
from generators.policy.dialects.shared.keys import keys_of_chord, read_chord
from generators.policy.dialects.shared.sanitize import replace_control_chars
from generators.policy.dialects.shared.text_dialect import (
    Fields,
    TextDialect,
    as_keys,
    build_action,
    format_point,
    parse_point,
    plain_remark,
    read_plain_remark,
)
from generators.policy.dialects.shared.tools import page_px
from generators.policy.dialects.switch_words import QWEN2_5_VL
from schemas.episodes.action import (
    Action,
    Answer,
    Click,
    Drag,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    Scroll,
    TypeText,
    Wait,
)

_CALL = re.compile(r"\s*(?P<name>[a-z_]{1,20})\((?P<rest>.*)\Z", re.DOTALL)
_END = re.compile(r"\)[ \t]*(?=\n|\Z)")
"""The possible end of a call: a bracket at the end of a line."""
_MAX_ENDS = 20
_PART = re.compile(
    r"\s*([a-z_]{1,20})\s*=\s*(['\"])((?:[^\\]|\\.)*?)\2\s*(?:,(?=\s*[a-z_]{1,20}\s*=)|\Z)",
    re.DOTALL,
)
"""An argument: its text ends with the quotation mark after which another argument or nothing follows."""
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_POINTED: Mapping[str, Fields] = {
    "click": {"type": "click", "button": "left", "count": 1},
    "left_single": {"type": "click", "button": "left", "count": 1},
    "left_double": {"type": "click", "button": "left", "count": 2},
    "right_single": {"type": "click", "button": "right", "count": 1},
    "hover": {"type": "hover"},
}
_KEYS = {"hotkey": "key", "keydown": "key_down", "keyup": "key_up"}
_KEYS_READ = {**_KEYS, "press": "key_down", "release": "key_up"}
_WAITS_MS = 5_000
_ACTION_LINE = re.compile(r"^[ \t]*Action:", re.MULTILINE)
_MAX_KEYS = 3


class UITars(TextDialect):
    """A thought, then one call."""

    name = "ui_tars"
    version = "3"
    published: ClassVar[Convention] = Convention.RESIZED
    words: ClassVar[tuple[str, ...]] = QWEN2_5_VL
    processor: ClassVar[PictureRule] = Patched(28, 100 * 28 * 28, 16_384 * 28 * 28)
    prompt: ClassVar[str] = (
        "You operate a computer by its screenshot, which is {wide} by {high}. Answer with a line "
        "'Thought: …' and a line 'Action: …' with one call: click(point), left_double(point), "
        "right_single(point), hover(point), drag(start_point, end_point), hotkey(key), keydown(key), "
        "keyup(key), type(content), scroll(point, direction), wait(), finished(content)."
    )

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        before, marker, after = strip_thinking(reply).rpartition("Action:")
        call = _CALL.match(after) if marker else None
        if call is None:
            raise UnreadableReply("the reply must end with a line as Action: click(point='…')")
        remark = read_plain_remark(before.strip().removeprefix("Thought:"))
        words = plain_remark(remark.thought, remark.note)
        scale = self._scale(frame)
        parts, length = _arguments(call["rest"])
        action = build_action(_fields(call["name"], parts, scale))
        try:
            echo = _format(words, _call(action, scale))
        except InexpressibleAction:
            echo = _format(
                words, replace_control_chars(after[: call.start("rest") + length].strip())
            )
        others = len(_ACTION_LINE.findall(before))
        lost = f"the reply has {others + 1} actions, and only the last is carried out"
        return ParsedAction(
            action=action,
            thought=remark.thought,
            note=remark.note,
            canonical_reply=echo,
            dropped=lost if others else remark.dropped,
        )

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        keys = as_keys(action)
        if isinstance(keys, TypeText) and keys is not action:
            keys = keys.model_copy(update={"text": keys.text.removesuffix("\n"), "enter": True})
        words = plain_remark(rationale.thought, rationale.note)
        return _format(words, _call(keys, self._scale(frame)))


def _format(words: str, call: str) -> str:
    plain = words.replace("Action:", "Action;")
    return f"Thought: {plain}\nAction: {call}"


def _arguments(rest: str) -> tuple[dict[str, str], int]:
    """Return the arguments of a call, and where it ends; what stands in lines after it is no part of it.

    Raises:
        UnreadableReply: no bracket at the end of a line ends arguments that can be read.
    """
    ends = [match.span() for match in _END.finditer(rest)][-_MAX_ENDS:]
    problem = UnreadableReply("the call's bracket is not closed; end the line with ')'")
    for begin, end in reversed(ends):
        try:
            return _parts(rest[:begin]), end
        except UnreadableReply as error:
            problem = error
    raise problem


def _parts(inside: str) -> dict[str, str]:
    parts, at = {}, 0
    while at < len(inside.rstrip()):
        match = _PART.match(inside, at)
        if match is None:
            raise UnreadableReply("a call's arguments must be as name='text', with commas between")
        parts[match[1]] = _ESCAPED.sub(lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), match[3])
        at = match.end()
    return parts


def _quote(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f"'{text}'"


def _point(parts: Mapping[str, str], name: str, scale: Scale) -> list[JsonValue]:
    old = {"point": "start_box", "start_point": "start_box", "end_point": "end_box"}[name]
    given = parts.get(name, parts.get(old))
    if given is None:
        raise UnreadableReply(f"'{name}' is missing")
    numbers: list[JsonValue] = [float(part) for part in _NUMBER.findall(given)]
    if len(numbers) == 4:  # noqa: PLR2004 - a box, as version 1.0 wrote; its middle is meant
        left, top, right, bottom = (float(part) for part in _NUMBER.findall(given))
        middle = ((left + right) / 2, (top + bottom) / 2)
        whole = scale.convention is not Convention.UNIT
        numbers = [float(round(part)) if whole else part for part in middle]
    return numbers


def _fields(name: str, parts: Mapping[str, str], scale: Scale) -> Fields:
    fields: Fields
    match name:
        case "click" | "left_single" | "left_double" | "right_single" | "hover":
            fields = {**_POINTED[name], **parse_point(_point(parts, "point", scale), scale)}
        case "drag" | "select":
            start = parse_point(_point(parts, "start_point", scale), scale)
            ends = ("to_x", "to_y")
            end = parse_point(_point(parts, "end_point", scale), scale, names=ends)
            fields = {"type": "drag", **start, **end}
        case "hotkey" | "keydown" | "press" | "keyup" | "release":
            fields = {"type": _KEYS_READ[name], "key": _chord(parts.get("key", ""))}
        case "type":
            text = str(Text().parse(parts.get("content"), scale))
            fields = {"type": "type", "text": text.removesuffix("\n"), "enter": text[-1:] == "\n"}
        case "scroll":
            direction = parts.get("direction", "")
            amount = page_px(direction, scale)
            fields = {"type": "scroll", "direction": direction, "amount": amount}
            if parts.keys() & {"point", "start_box"}:
                fields |= parse_point(_point(parts, "point", scale), scale)
        case "wait":
            fields = {"type": "wait", "ms": _WAITS_MS}
        case "finished":
            fields = {"type": "answer", "text": Text().parse(parts.get("content", ""), scale)}
        case _:
            raise UnreadableReply(
                f"there is no call {quote(name)}; use click, type, scroll, finished"
            )
    return fields


def _chord(keys: str) -> str:
    try:
        names = [name for word in keys.split() for name in read_chord(word)]
        return "+".join(names[:_MAX_KEYS])
    except UnknownKey as error:
        raise UnreadableReply(f"{quote(keys)} is not a key; give it as 'ctrl c'") from error


def _call(action: Action, scale: Scale) -> str:
    match action:
        case Click() | Hover():
            call = _format_pointed(action, scale)
        case Drag() if action.button == "left":
            start = _tag(action.x, action.y, scale)
            end = _tag(action.to_x, action.to_y, scale)
            call = f"drag(start_point={start}, end_point={end})"
        case Key() | KeyDown() | KeyUp():
            name = next(name for name, kind in _KEYS.items() if kind == action.type)
            call = f"{name}(key={_quote(_format_chord(action))})"
        case TypeText() if action.x is None and not action.overwrite:
            if action.text.endswith("\n"):
                raise InexpressibleAction("ui_tars takes a line end at the end of a text for Enter")
            text = str(Text().from_action(action.text, scale)) + ("\n" if action.enter else "")
            call = f"type(content={_quote(text)})"
        case Scroll(x=x, y=y) if action.amount <= page_px(action.direction, scale):
            point = "" if x is None or y is None else f"point={_tag(x, y, scale)}, "
            call = f"scroll({point}direction='{action.direction}')"
        case Wait(ms=ms) if ms == _WAITS_MS:
            call = "wait()"
        case Answer():
            call = f"finished(content={_quote(str(Text().from_action(action.text, scale)))})"
        case _:
            raise InexpressibleAction(f"ui_tars cannot express this '{action.type}'")
    return call


def _format_pointed(action: Click | Hover, scale: Scale) -> str:
    said = action.model_dump(exclude={"x", "y"}, mode="json")
    name = next((name for name, fields in _POINTED.items() if fields == said), None)
    if name is None:
        raise InexpressibleAction(f"ui_tars has no such click: {said}")
    return f"{name}(point={_tag(action.x, action.y, scale)})"


def _tag(x: float, y: float, scale: Scale) -> str:
    across, down = format_point(x, y, scale)
    return f"'<point>{across} {down}</point>'"


def _format_chord(action: Key | KeyDown | KeyUp) -> str:
    most = _MAX_KEYS if isinstance(action, Key) else 1
    keys = [str(name) for name in keys_of_chord(action.key, max_keys=most)]
    if " " in keys:
        keys = ["space" if name == " " else name for name in keys]
    return " ".join(name.lower() if len(name) > 1 else name for name in keys)
