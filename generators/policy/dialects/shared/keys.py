"""Keys as models name them: a single key, and keys that are pressed together.

A model is offered the keys of an ordinary keyboard by the browser's names. It may name them by other spellings too,
which are the same in all dialects: those of X11's keysyms, as xdotool takes them, and those of pyautogui.
"""

import re
from dataclasses import dataclass

from pydantic import JsonValue
from typing_extensions import override

from generators.browser.keyboard import UnknownKey, key_name, parse_chord
from generators.policy.dialects.protocol import InexpressibleAction, UnreadableReply
from generators.policy.dialects.shared.arguments import ArgumentType, Scale, quote
from generators.policy.dialects.shared.json_schema import any_of
from schemas.base import JsonObject
from schemas.episodes.keys import split_chord

NAMED_KEYS = (
    *("Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Home", "End"),
    *("PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *("Control", "Shift", "Alt", "Meta", "CapsLock", " ", '"', "\\"),
    *(f"F{n}" for n in range(1, 13)),
)
"""Keys by name, and the three characters that a grammar's pattern cannot hold."""

_SPELLINGS = {
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "pgdown": "PageDown",
    "prior": "PageUp",
    "next": "PageDown",
    "begin": "Home",
    "super": "Meta",
    "windows": "Meta",
    "plus": "+",
    "add": "+",
    "minus": "-",
    "subtract": "-",
    "multiply": "*",
    "asterisk": "*",
    "divide": "/",
    "slash": "/",
    "decimal": ".",
    "period": ".",
    "dot": ".",
    "comma": ",",
    "separator": ",",
    "equal": "=",
    "equals": "=",
    "underscore": "_",
    "colon": ":",
    "semicolon": ";",
    "apostrophe": "'",
    "quote": "'",
    "quotedbl": '"',
    "grave": "`",
    "backquote": "`",
    "asciitilde": "~",
    "asciicircum": "^",
    "exclam": "!",
    "question": "?",
    "at": "@",
    "numbersign": "#",
    "dollar": "$",
    "percent": "%",
    "ampersand": "&",
    "bar": "|",
    "backslash": "\\",
    "less": "<",
    "greater": ">",
    "parenleft": "(",
    "parenright": ")",
    "bracketleft": "[",
    "bracketright": "]",
    "braceleft": "{",
    "braceright": "}",
}
"""Other spellings than the browser's keyboard knows, in lower case and without `_`."""
_SIDES = re.compile(r"(ctrl|control|shift|alt|option|meta|win|super|cmd|command)(?:l|r|left|right)")
"""Modifiers of one side: there is one of each here."""
_KEYPAD = re.compile(r"(?:kp|num|numpad)([0-9]|[a-z]{2,})")
"""Keys of the keypad, which do what those of their names do."""
_FUNCTION = re.compile(r"f[0-9]{1,2}")

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


def read_key(name: str) -> str:
    """Return the browser's name of a key, however a model spells it.

    Raises:
        UnknownKey: `name` is no key of the keyboard.
    """
    plain = name.replace("_", "").lower()
    for spelling in (_SIDES, _KEYPAD):
        if plain not in _SPELLINGS and (match := spelling.fullmatch(plain)):
            plain = match[1]
    if plain in _SPELLINGS:
        return _SPELLINGS[plain]
    if _FUNCTION.fullmatch(plain):
        return key_name(plain.upper())
    try:
        return key_name(name)
    except UnknownKey:
        if plain == name.lower():
            raise
        return key_name(plain)


def read_chord(chord: str) -> list[str]:
    """Return the browser's names of keys that are joined by `+`.

    Raises:
        UnknownKey: the chord is empty or has an unknown key.
    """
    return [read_key(part) for part in split_chord(chord)]


def _parse_key(value: JsonValue) -> str:
    """Return the browser's name of a key.

    Raises:
        UnreadableReply: no keyboard has it.
    """
    if not isinstance(value, str) or not (len(value) > 1 or value == " " or value.isprintable()):
        raise UnreadableReply(f"must name keys, as Enter, Control or a, but has {quote(value)}")
    try:
        return read_key(value)
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
