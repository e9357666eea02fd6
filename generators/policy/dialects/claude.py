"""Claude: the input of its `computer` tool, in pixels of the declared display.

Source: Anthropic's `computer_20250124`. The declared display has the size of the picture as sent. A
reply is text, then the tool's input as JSON; a reply without a call is the final answer, and "Done." is one that
answers nothing. A scroll is counted in clicks of the wheel, so an amount is said as the nearest number of them.
"""

from typing import ClassVar

from typing_extensions import override

from generators.browser.keyboard import UnknownKey
from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import Bounded, PictureRule
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    InexpressibleAction,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.shared.arguments import Choice, Scale, Text, parse_integer, quote
from generators.policy.dialects.shared.computer_tool import (
    format_duration,
    format_pointer_call,
    parse_duration,
    parse_pointer_call,
    required_argument,
)
from generators.policy.dialects.shared.json_reply import find_json_object, json_line, strip_thinking
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
from generators.policy.dialects.shared.tools import NOTCH
from schemas.base import JsonObject
from schemas.episodes.action import (
    Action,
    Answer,
    Direction,
    Drag,
    Key,
    KeyDown,
    KeyUp,
    Scroll,
    Wait,
)

DONE = "Done."
"""The reply that ends a task which asks for no answer."""

_MAX_KEYS = 5
_MAX_NOTCHES = 1_000
_XDOTOOL = {
    "Control": "ctrl",
    "Alt": "alt",
    "Shift": "shift",
    "Meta": "super",
    "Enter": "Return",
    "Backspace": "BackSpace",
    "PageUp": "Page_Up",
    "PageDown": "Page_Down",
    "ArrowUp": "Up",
    "ArrowDown": "Down",
    "ArrowLeft": "Left",
    "ArrowRight": "Right",
    "CapsLock": "Caps_Lock",
    " ": "space",
    "+": "plus",
    "-": "minus",
}


class Claude(TextDialect):
    """Text, then the input of one call of the `computer` tool; its chat template is not published."""

    name = "claude"
    version = "4"
    published: ClassVar[Convention] = Convention.RESIZED
    processor: ClassVar[PictureRule] = Bounded()
    prompt: ClassVar[str] = (
        "You operate a browser with the computer tool; the display is {wide} by {high} pixels. "
        "Say in words what you answer once the task is done."
    )

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        text = strip_thinking(reply)
        scale = self._scale(frame)
        if "{" not in text:
            answer = replace_control_chars(text)
            told = "" if answer == DONE else answer
            return ParsedAction(
                action=build_action({"type": "answer", "text": told}), canonical_reply=answer
            )
        given = find_json_object(text, with_key="action")
        remark = read_plain_remark(text.partition("{")[0])
        return ParsedAction(
            action=build_action(_fields(given, scale)),
            thought=remark.thought,
            note=remark.note,
            canonical_reply=_format(plain_remark(remark.thought, remark.note), given),
            dropped=remark.dropped,
        )

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        scale = self._scale(frame)
        if isinstance(action, Answer):
            text = str(Text().from_action(action.text, scale))
            if not text:
                return DONE
            if (
                text == DONE
                or not text.strip()
                or text != text.strip()
                or "{" in text
                or "</think>" in text
            ):
                raise InexpressibleAction("claude cannot give this text as its answer")
            return text
        words = plain_remark(rationale.thought, rationale.note)
        return _format(words, _input(as_keys(action), scale))


def _format(words: str, given: JsonObject) -> str:
    call = replace_control_chars(json_line(given))
    return f"{words}\n{call}" if words else call


def _fields(given: JsonObject, scale: Scale) -> Fields:
    if (pointer_call := parse_pointer_call(given, scale)) is not None:
        return pointer_call
    fields: Fields
    match given["action"]:
        case "key":
            fields = {"type": "key", "key": _chord(required_argument(given, "text"))}
        case "left_click_drag":
            start = parse_point(required_argument(given, "start_coordinate"), scale)
            ends = ("to_x", "to_y")
            fields = {
                "type": "drag",
                **start,
                **parse_point(required_argument(given, "coordinate"), scale, names=ends),
            }
        case "scroll":
            way = Choice(tuple(Direction)).parse(
                required_argument(given, "scroll_direction"), scale
            )
            notches = parse_integer(required_argument(given, "scroll_amount"), 1, _MAX_NOTCHES)
            point = given.get("coordinate")
            over = {} if point is None else parse_point(point, scale)
            fields = {"type": "scroll", "direction": way, "amount": _amount(notches, scale)}
            fields |= over
        case "wait":
            fields = {"type": "wait", "ms": parse_duration(required_argument(given, "duration"))}
        case name:
            raise UnreadableReply(f"there is no action {quote(name)} that can be carried out here")
    return fields


def _notch(scale: Scale) -> float:
    """Return the CSS px of one click of the wheel."""
    return NOTCH * scale.frame.viewport_height / scale.frame.sent_height


def _amount(notches: int, scale: Scale) -> int:
    return max(1, round(notches * _notch(scale)))


def _notches(amount: int, scale: Scale) -> int:
    """Return how many clicks of the wheel come nearest to an amount, one at least.

    Raises:
        InexpressibleAction: they are too many.
    """
    notches = max(1, round(amount / _notch(scale)))
    if notches > _MAX_NOTCHES:
        raise InexpressibleAction(f"claude turns the wheel {_MAX_NOTCHES} clicks at most")
    return notches


def _chord(text: object) -> str:
    try:
        return "+".join(read_chord(str(text)))
    except UnknownKey as error:
        raise UnreadableReply(f"{quote(str(text))} is not a key; give it as ctrl+a") from error


def _input(action: Action, scale: Scale) -> JsonObject:
    if (pointer_call := format_pointer_call(action, scale)) is not None:
        return pointer_call
    call: JsonObject
    match action:
        case Key():
            names = keys_of_chord(action.key, max_keys=_MAX_KEYS)
            text = "+".join(_XDOTOOL.get(str(name), str(name)) for name in names)
            call = {"action": "key", "text": text}
        case Drag() if action.button == "left":
            call = {
                "action": "left_click_drag",
                "start_coordinate": format_point(action.x, action.y, scale),
                "coordinate": format_point(action.to_x, action.to_y, scale),
            }
        case Scroll():
            call = {"action": "scroll"}
            if action.x is not None and action.y is not None:
                call["coordinate"] = format_point(action.x, action.y, scale)
            call |= {"scroll_direction": action.direction.value}
            call |= {"scroll_amount": _notches(action.amount, scale)}
        case Wait():
            call = {"action": "wait", "duration": format_duration(action.ms)}
        case KeyDown() | KeyUp():
            raise InexpressibleAction(
                "claude can hold a key for some time only, and not leave it pressed"
            )
        case _:
            raise InexpressibleAction(f"claude cannot express this '{action.type}'")
    return call
