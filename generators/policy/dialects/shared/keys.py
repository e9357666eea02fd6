"""Keys as arguments of tools: a single key, and keys that are pressed together.

A model names keys as the browser does, or by a common spelling; it is offered those of an ordinary
keyboard.
"""

from dataclasses import dataclass

from pydantic import JsonValue
from typing_extensions import override

from generators.browser.keyboard import UnknownKey, key_name, parse_chord
from generators.policy.dialects.protocol import InexpressibleAction, UnreadableReply
from generators.policy.dialects.shared.arguments import ArgumentType, Scale, quote
from generators.policy.dialects.shared.json_schema import any_of
from schemas.base import JsonObject

NAMED_KEYS = (
    *("Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Home", "End"),
    *("PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *("Control", "Shift", "Alt", "Meta", "CapsLock", " ", '"', "\\"),
    *(f"F{n}" for n in range(1, 13)),
)
"""Keys by name, and the three characters that a grammar's pattern cannot hold."""

_KEY_REFERENCE: JsonObject = {"$ref": "#/$defs/key"}


def key_schema() -> JsonObject:
    """Return the schema `$defs/key`: a key by name, or a character of an ordinary keyboard."""
    by_name: JsonObject = {"type": "string", "enum": list(NAMED_KEYS)}
    return any_of((by_name, {"type": "string", "pattern": r"^[!#-\[\]-~]$"}))


@dataclass(frozen=True)
class OneKey(ArgumentType):
    """A key of the keyboard, by its name."""

    @override
    def schema(self, scale: Scale) -> JsonObject:
        return dict(_KEY_REFERENCE)

    @override
    def parse(self, value: JsonValue, scale: Scale) -> JsonValue:
        return _parse_key(value)

    @override
    def from_action(self, held: JsonValue, scale: Scale) -> JsonValue:
        return keys_of_chord(held, max_keys=1)[0]


@dataclass(frozen=True)
class Chord(ArgumentType):
    """Keys that are pressed together: a list as a model writes it, joined by `+` in an action."""

    max_keys: int = 5
    """Keys at a time."""

    @override
    def schema(self, scale: Scale) -> JsonObject:
        key = dict(_KEY_REFERENCE)
        return {"type": "array", "items": key, "minItems": 1, "maxItems": self.max_keys}

    @override
    def parse(self, value: JsonValue, scale: Scale) -> JsonValue:
        if not isinstance(value, list) or not 1 <= len(value) <= self.max_keys:
            raise UnreadableReply(
                f'must be a list of 1 to {self.max_keys} keys, as ["Control", "a"], '
                f"but is {quote(value)}"
            )
        return [_parse_key(item) for item in value]

    @override
    def to_action(self, value: JsonValue, scale: Scale) -> JsonValue:
        assert isinstance(value, list)  # noqa: S101 - parsed before
        *first, last = (str(item) for item in value)
        return "+".join(["plus" if name == "+" else name for name in first] + [last])

    @override
    def from_action(self, held: JsonValue, scale: Scale) -> JsonValue:
        return list(keys_of_chord(held, max_keys=self.max_keys))


def _parse_key(value: JsonValue) -> str:
    """Return the browser's name of a key.

    Raises:
        UnreadableReply: no keyboard has it.
    """
    if not isinstance(value, str) or not (len(value) > 1 or value == " " or value.isprintable()):
        raise UnreadableReply(f"must name keys, as Enter, Control or a, but has {quote(value)}")
    try:
        return key_name(value)
    except UnknownKey as error:
        raise UnreadableReply(
            f"has {quote(value)}, which is no key; use Enter, Tab or a"
        ) from error


def keys_of_chord(held: JsonValue, *, max_keys: int) -> list[JsonValue]:
    """Return the keys of an action's chord as an ordinary keyboard has them.

    Raises:
        InexpressibleAction: an ordinary keyboard lacks one, or there are too many.
    """
    try:
        keys = [str(held)] if max_keys == 1 and len(str(held)) == 1 else parse_chord(str(held))
    except UnknownKey as error:
        raise InexpressibleAction(str(error)) from error
    if not 1 <= len(keys) <= max_keys:
        raise InexpressibleAction(f"a chord of {len(keys)} keys is not from 1 to {max_keys} keys")
    for name in keys:
        if name not in NAMED_KEYS and not (name.isascii() and name.isprintable()):
            raise InexpressibleAction(f"'{name}' is not on an ordinary keyboard")
    return list(keys)
