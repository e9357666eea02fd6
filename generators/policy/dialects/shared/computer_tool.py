"""The common part of `computer_use` and `claude`: one function with an `action`, and points as pairs.

Both derive from the same tool. Keys, waits, scrolls and the final answer differ and are in each family's
own module.
"""

from pydantic import JsonValue

from generators.policy.dialects.protocol import InexpressibleAction, UnreadableReply
from generators.policy.dialects.shared.arguments import Scale, Text, quote
from generators.policy.dialects.shared.text_dialect import Fields, format_point, parse_point
from schemas.base import JsonObject
from schemas.episodes.action import Action, Click, Hover, TypeText

CLICKS = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
"""Each click's button and count."""


def required_argument(given: JsonObject, name: str) -> JsonValue:
    """Return an argument of a call.

    Raises:
        UnreadableReply: it is missing.
    """
    if name not in given:
        raise UnreadableReply(f"'{name}' is missing")
    return given[name]


def parse_pointer_call(given: JsonObject, scale: Scale) -> Fields | None:
    """Return the action's fields of a call that both families share; None for any other call.

    Raises:
        UnreadableReply: an argument is missing or invalid.
    """
    name = given.get("action")
    if isinstance(name, str) and name in CLICKS:
        button, count = CLICKS[name]
        point = parse_point(required_argument(given, "coordinate"), scale)
        return {"type": "click", **point, "button": button, "count": count}
    if name == "mouse_move":
        return {"type": "hover", **parse_point(required_argument(given, "coordinate"), scale)}
    if name == "type":
        return {"type": "type", "text": Text().parse(required_argument(given, "text"), scale)}
    return None


def format_pointer_call(action: Action, scale: Scale) -> JsonObject | None:
    """Return the call of an action that both families express alike; None for any other.

    Raises:
        InexpressibleAction: they cannot express all of it.
    """
    match action:
        case Click():
            names = {value: name for name, value in CLICKS.items()}
            name = names.get((action.button.value, action.count))
            if name is None:
                raise InexpressibleAction(
                    f"there is no click {action.count} times with {action.button}"
                )
            return {"action": name, "coordinate": format_point(action.x, action.y, scale)}
        case Hover():
            return {"action": "mouse_move", "coordinate": format_point(action.x, action.y, scale)}
        case TypeText(x=None, overwrite=False, enter=False):
            return {"action": "type", "text": Text().from_action(action.text, scale)}
        case _:
            return None


def parse_duration(value: JsonValue) -> int:
    """Return the milliseconds of a duration in seconds, which may have decimals.

    Raises:
        UnreadableReply: it is not a duration.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 600:  # noqa: PLR2004
        raise UnreadableReply(f"a time must be from 0 to 600 seconds, but is {quote(value)}")
    return max(1, round(value * 1_000))


def format_duration(ms: int) -> JsonValue:
    """Return milliseconds as seconds, as an integer if possible."""
    return ms // 1_000 if ms % 1_000 == 0 else ms / 1_000
