"""`computer_use`: Qwen-VL's single function, as text in `<tool_call>` tags.

Source: the function's published definition. Qwen3-VL's prompt states a screen of 1000 by 1000, so its
points are thousandths; `convention = "resized"` is Qwen2.5-VL, whose prompt states the size of the
picture as sent. A drag starts at the pointer, so it is two calls in one reply, a `mouse_move` and a
`left_click_drag`: the chat template asks for "one or more functions". All else is one call.
"""

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import (
    QWEN2_5_PATCHES,
    QWEN3_PATCHES,
    PictureRule,
)
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    InexpressibleAction,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.shared.arguments import Scale, Text, parse_integer, quote
from generators.policy.dialects.shared.computer_tool import (
    format_duration,
    format_pointer_call,
    parse_duration,
    parse_pointer_call,
    required_argument,
)
from generators.policy.dialects.shared.json_reply import (
    find_json_object,
    find_json_objects,
    json_line,
    strip_thinking,
)
from generators.policy.dialects.shared.keys import Chord
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
from generators.policy.dialects.switch_words import QWEN3_VL
from schemas.base import JsonObject
from schemas.episodes.action import Action, Answer, Direction, Drag, Key, Scroll, Wait

_TAG = "<tool_call>"
_SCROLLS = {
    Direction.UP: ("scroll", 1),
    Direction.DOWN: ("scroll", -1),
    Direction.LEFT: ("hscroll", -1),
    Direction.RIGHT: ("hscroll", 1),
}
_DRAG = ["mouse_move", "left_click_drag"]
_FAILED = "failure"


class ComputerUse(TextDialect):
    """Text, then one call of `computer_use`."""

    name = "computer_use"
    version = "3"
    published: ClassVar[Convention] = Convention.THOUSAND
    words: ClassVar[tuple[str, ...]] = QWEN3_VL
    processor: ClassVar[PictureRule] = QWEN3_PATCHES
    prompt: ClassVar[str] = (
        "You operate a computer by its screenshot; its resolution is {wide}x{high}. Answer with "
        "one call of the function computer_use, as a JSON object with name and arguments within "
        "<tool_call></tool_call> tags; a drag is two, mouse_move and then left_click_drag."
    )

    @property
    @override
    def pictures(self) -> PictureRule:
        """How large pictures are sent: Qwen2.5-VL's patches are smaller."""
        return QWEN2_5_PATCHES if self.convention is Convention.RESIZED else self.processor

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        text = strip_thinking(reply)
        calls = [_arguments_of(call) for call in find_json_objects(text, with_key="arguments")]
        before = text.partition(_TAG)[0] if _TAG in text else text.partition("{")[0]
        remark = read_plain_remark(before)
        return ParsedAction(
            action=build_action(calls_to_fields(calls, self._scale(frame))),
            thought=remark.thought,
            note=remark.note,
            canonical_reply=_format(plain_remark(remark.thought, remark.note), calls),
            dropped=remark.dropped,
        )

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        words = plain_remark(rationale.thought, rationale.note)
        return _format(words, action_to_calls(as_keys(action), self._scale(frame)))


def _arguments_of(call: JsonObject) -> JsonObject:
    """Return the arguments of a call of the function.

    Raises:
        UnreadableReply: it is no such call.
    """
    if call.get("name") != "computer_use":
        raise UnreadableReply(f"there is no function {quote(call.get('name'))}; use computer_use")
    given = call["arguments"]
    if isinstance(given, str):
        given = find_json_object(given, with_key="action")
    if not isinstance(given, dict):
        raise UnreadableReply("'arguments' must be an object")
    return given


def _format(words: str, calls: Sequence[JsonObject]) -> str:
    lines = [words] if words else []
    for given in calls:
        call = json_line({"name": "computer_use", "arguments": given})
        lines += [_TAG, replace_control_chars(call), "</tool_call>"]
    return "\n".join(lines)


def calls_to_fields(calls: Sequence[JsonObject], scale: Scale) -> Fields:
    """Return the fields of the action that the arguments of one reply's calls mean.

    Raises:
        UnreadableReply: they are several and no drag, or one is invalid.
    """
    drag = [call.get("action") for call in calls] == _DRAG
    if len(calls) > 1 and not drag:
        raise UnreadableReply(f"the reply holds {len(calls)} calls that are no drag; give one")
    return _drag(calls, scale) if drag else _fields(calls[0], scale)


def _drag(calls: Sequence[JsonObject], scale: Scale) -> Fields:
    """Return the fields of a drag from its two calls."""
    start, end = (required_argument(call, "coordinate") for call in calls)
    to = parse_point(end, scale, names=("to_x", "to_y"))
    return {"type": "drag", **parse_point(start, scale), **to}


def _fields(given: JsonObject, scale: Scale) -> Fields:
    if (pointer_call := parse_pointer_call(given, scale)) is not None:
        return pointer_call
    fields: Fields
    match given.get("action"):
        case "key":
            chord = Chord()
            keys = chord.parse(required_argument(given, "keys"), scale)
            fields = {"type": "key", "key": chord.to_action(keys, scale)}
        case "scroll" | "hscroll" as name:
            fields = _scroll(name, given, scale)
        case "wait":
            fields = {"type": "wait", "ms": parse_duration(required_argument(given, "time"))}
        case "answer":
            fields = {
                "type": "answer",
                "text": Text().parse(required_argument(given, "text"), scale),
            }
        case "terminate":
            failed = given.get("status") == _FAILED
            fields = {"type": "answer", "text": _FAILED if failed else ""}
        case "left_click_drag":
            raise UnreadableReply("a drag needs a call of mouse_move before it, in the same reply")
        case name:
            raise UnreadableReply(f"there is no action {quote(name)} that can be carried out here")
    return fields


def _scroll(name: str, given: JsonObject, scale: Scale) -> Fields:
    pixels = parse_integer(required_argument(given, "pixels"), -100_000, 100_000)
    direction = next(
        way
        for way, (called, sign) in _SCROLLS.items()
        if called == name and (pixels < 0) == (sign < 0)
    )
    point = given.get("coordinate")
    over = {} if point is None else parse_point(point, scale)
    return {"type": "scroll", "direction": direction.value, "amount": abs(pixels), **over}


def action_to_calls(action: Action, scale: Scale) -> list[JsonObject]:
    """Return the arguments of the calls that carry out an action: one call, of a drag two.

    Raises:
        InexpressibleAction: the function cannot express it.
    """
    if isinstance(action, Drag) and action.button == "left":
        points = ((action.x, action.y), (action.to_x, action.to_y))
        return [
            {"action": name, "coordinate": format_point(*point, scale)}
            for name, point in zip(_DRAG, points, strict=True)
        ]
    return [_arguments(action, scale)]


def _arguments(action: Action, scale: Scale) -> JsonObject:
    if (pointer_call := format_pointer_call(action, scale)) is not None:
        return pointer_call
    call: JsonObject
    match action:
        case Key():
            call = {"action": "key", "keys": Chord().from_action(action.key, scale)}
        case Scroll():
            name, sign = _SCROLLS[action.direction]
            call = {"action": name, "pixels": sign * action.amount}
            if action.x is not None and action.y is not None:
                call["coordinate"] = format_point(action.x, action.y, scale)
        case Wait():
            call = {"action": "wait", "time": format_duration(action.ms)}
        case Answer(text=""):
            call = {"action": "terminate", "status": "success"}
        case Answer():
            call = {"action": "answer", "text": Text().from_action(action.text, scale)}
        case _:
            raise InexpressibleAction(f"computer_use cannot express this '{action.type}'")
    return call
