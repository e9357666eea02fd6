"""The common part of families with one function that has an `action`, and points as pairs.

They derive from the same tool. Keys, waits, scrolls and the final answer differ and are in each family's
own module.
"""

from collections.abc import Mapping

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


ACTIONS: Mapping[str, str] = {
    "key": "press keys together: down in their order, up in reverse",
    "type": "type text where the focus is",
    "mouse_move": "move the pointer to coordinate",
    "left_click": "click at coordinate",
    "left_click_drag": "drag from where the pointer is to coordinate; give a call of mouse_move before it",
    "right_click": "click the right button at coordinate",
    "middle_click": "click the middle button at coordinate",
    "double_click": "click twice at coordinate",
    "triple_click": "click three times at coordinate",
    "scroll": "turn the wheel, over coordinate if it is given",
    "hscroll": "scroll sideways",
    "wait": "let time pass",
    "terminate": "end the task and say whether it is done",
    "answer": "end the task with an answer",
}
"""The actions of Qwen3-VL's `computer_use`, in this program's own words."""

PARAMETERS: Mapping[str, tuple[str, str]] = {
    "keys": ("array", "For key: the keys, as control and a."),
    "text": ("string", "For type and answer."),
    "coordinate": ("array", "A point, as [x, y] from the top left corner."),
    "pixels": (
        "number",
        "For scroll and hscroll: up and right are positive, down and left negative.",
    ),
    "time": ("number", "For wait: seconds."),
}
"""Its parameters beside `action` and `status`: each one's type, and what it is for."""


def computer_function(
    resolution: tuple[int, int],
    actions: Mapping[str, str] = ACTIONS,
    parameters: Mapping[str, tuple[str, str]] = PARAMETERS,
) -> JsonObject:
    """Return `computer_use` in OpenAI's form, for a screen of this resolution, px."""
    listed = "\n".join(f"* `{name}`: {does}." for name, does in actions.items())
    properties: JsonObject = {
        "action": {
            "description": f"What to do:\n{listed}",
            "enum": list(actions),
            "type": "string",
        },
        **{
            name: {"description": about, "type": kind} for name, (kind, about) in parameters.items()
        },
        "status": {
            "description": "For terminate.",
            "type": "string",
            "enum": ["success", "failure"],
        },
    }
    about = (
        "Use a mouse and a keyboard on a screen that you see by screenshots.\n"
        f"* The screen's resolution is {resolution[0]}x{resolution[1]}.\n"
        "* Aim at the middle of what you click. A page may need time before it shows what an action did."
    )
    function: JsonObject = {
        "name": "computer_use",
        "description": about,
        "parameters": {"properties": properties, "required": ["action"], "type": "object"},
    }
    return {"type": "function", "function": function}


def resolution_of(scale: Scale) -> tuple[int, int]:
    """Return the width and height that points are counted in, as the function states them."""
    wide, high = scale.frame.span(scale.convention)
    return int(wide), int(high)


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
