"""Keys as arguments of tools: a single key, and keys that are pressed together.

A model names keys as the browser does, or by a common spelling; it is offered those of an ordinary
keyboard.
"""

from dataclasses import dataclass

from pydantic import JsonValue

from generators.browser.keyboard import UnknownKey, key_name, parse_chord
from generators.policy.dialects.protocol import CannotSay, Unreadable
from generators.policy.dialects.shared import json_schema
from generators.policy.dialects.shared.arguments import Scale, quoted
from schemas.base import JsonObject

NAMED_KEYS = (
    *("Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Home", "End"),
    *("PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *("Control", "Shift", "Alt", "Meta", "CapsLock", " ", '"', "\\"),
    *(f"F{n}" for n in range(1, 13)),
)
"""Keys by name, and the three characters that a grammar's pattern cannot hold."""

KEY_REFERENCE: JsonObject = {"$ref": "#/$defs/key"}
"""Where a schema speaks of a key."""


def key_schema() -> JsonObject:
    """Return the schema of a key: one by name, or a character of an ordinary keyboard."""
    typed: JsonObject = {"type": "string", "pattern": r"^[!#-\[\]-~]$"}
    return json_schema.either((json_schema.choice(NAMED_KEYS), typed))


@dataclass(frozen=True)
class OneKey:
    """A key of the keyboard, by its name."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the schema of a key."""
        del scale
        return dict(KEY_REFERENCE)

    def check(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the key's name as the browser spells it."""
        del scale
        return key(value)

    def read(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the key's name."""
        del scale
        return value

    def say(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return the key's name, if an ordinary keyboard has it."""
        del scale
        return said_keys(held, most=1)[0]


@dataclass(frozen=True)
class Chord:
    """Keys that are pressed together, as a list."""

    most: int = 5
    """Keys at a time."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the schema of a list of keys."""
        del scale
        return json_schema.several(dict(KEY_REFERENCE), least=1, most=self.most)

    def check(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the keys' names as the browser spells them."""
        del scale
        if not isinstance(value, list) or not 1 <= len(value) <= self.most:
            raise Unreadable(
                f'must be a list of 1 to {self.most} keys, as ["Control", "a"], '
                f"but is {quoted(value)}"
            )
        return [key(item) for item in value]

    def read(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the chord as an action spells it."""
        del scale
        assert isinstance(value, list)  # noqa: S101 - checked before
        *first, last = (str(item) for item in value)
        return "+".join(["plus" if name == "+" else name for name in first] + [last])

    def say(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return the keys of a chord, if an ordinary keyboard has them."""
        del scale
        return list(said_keys(held, most=self.most))


def key(value: JsonValue) -> str:
    """Return the browser's name of a key.

    Raises:
        Unreadable: no keyboard has it.
    """
    if not isinstance(value, str) or not (len(value) > 1 or value == " " or value.isprintable()):
        raise Unreadable(f"must name keys, as Enter, Control or a, but has {quoted(value)}")
    try:
        return key_name(value)
    except UnknownKey as error:
        raise Unreadable(f"has {quoted(value)}, which is no key; use Enter, Tab or a") from error


def said_keys(held: JsonValue, *, most: int) -> list[JsonValue]:
    """Return the keys of a chord as an ordinary keyboard has them.

    Raises:
        CannotSay: there is no such key, or there are too many.
    """
    try:
        keys = [str(held)] if most == 1 and len(str(held)) == 1 else parse_chord(str(held))
    except UnknownKey as error:
        raise CannotSay(str(error)) from error
    if not 1 <= len(keys) <= most:
        raise CannotSay(f"a chord of {len(keys)} keys is not from 1 to {most} keys")
    for name in keys:
        if name not in NAMED_KEYS and not (name.isascii() and name.isprintable()):
            raise CannotSay(f"'{name}' is on no ordinary keyboard")
    return list(keys)
