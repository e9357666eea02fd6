"""Holo1: a localizer that answers `Click(x, y)`, in pixels of the picture as it was sent.

Source: hcompai/hai-cookbook, `utils/localization.py` and the Holo1 notebooks. It answers in words,
or in JSON with `action`, `x` and `y`; Holo1.5's localizer does the latter.
"""

import re
from typing import ClassVar

from pydantic import JsonValue
from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import Patched, PictureRule
from generators.policy.dialects.protocol import (
    NO_RATIONALE,
    InexpressibleAction,
    ParsedAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.shared.json_reply import find_json_object, strip_thinking
from generators.policy.dialects.shared.text_dialect import (
    TextDialect,
    build_action,
    format_point,
    parse_point,
)
from schemas.action import Action, Button, Click

_CALL = re.compile(r"Click\(\s*(-?[\d.]{1,12})\s*,\s*(-?[\d.]{1,12})\s*\)", re.IGNORECASE)
_JSON_NAMES = ("click", "click_absolute")


class Holo1(TextDialect):
    """Where to click, and nothing else."""

    name = "holo1"
    published: ClassVar[Convention] = Convention.RESIZED
    processor: ClassVar[PictureRule] = Patched(28, 56 * 56, 1_280 * 28 * 28)
    prompt: ClassVar[str] = (
        "Find the element that is asked for on the screenshot, which is {wide} by {high}, and "
        "answer where to click, as Click(x, y), counted from the left and the top edge."
    )

    @override
    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        point = _point(strip_thinking(reply))
        fields = parse_point(point, self._scale(frame))
        echo = f"Click({_plain_number(point[0])}, {_plain_number(point[1])})"
        return ParsedAction(action=build_action({"type": "click", **fields}), canonical_reply=echo)

    @override
    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        del rationale
        if not isinstance(action, Click) or (action.button, action.count) != (Button.LEFT, 1):
            raise InexpressibleAction(
                f"holo1 clicks once with the left button, and cannot '{action.type}'"
            )
        x, y = format_point(action.x, action.y, self._scale(frame))
        return f"Click({_plain_number(x)}, {_plain_number(y)})"


def _point(text: str) -> list[JsonValue]:
    calls = set(_CALL.findall(text))
    if len(calls) > 1:
        raise UnreadableReply("the reply has several clicks; give exactly one Click(x, y)")
    if calls:
        return [_number(part) for part in calls.pop()]
    if "{" not in text:
        raise UnreadableReply("the reply has no Click(x, y)")
    found = find_json_object(text, with_key="x")
    if found.get("action", "click") not in _JSON_NAMES:
        raise UnreadableReply("the reply's action must be click")
    return [found["x"], found.get("y")]


def _number(text: str) -> JsonValue:
    try:
        return float(text)
    except ValueError as error:
        raise UnreadableReply(f"'{text}' is no number") from error


def _plain_number(value: JsonValue) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
