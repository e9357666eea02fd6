"""A US keyboard: the names of its keys, and the DevTools events for pressing them.

An action's chord is joined with `+`: modifiers first, then one key, as `Control+a`. Key names are those
of the DOM's `KeyboardEvent.key`, and a few other common spellings are accepted. A key's `code` is that
of the W3C's UI Events; its number is the virtual-key code of Windows, which pages read as `keyCode`.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from schemas.episodes.keys import ALIASES, split_chord, usual_name

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = ("1!", "2@", "3#", "4$", "5%", "6^", "7&", "8*", "9(", "0)")
_NAMED = frozenset(ALIASES.values()) | {f"F{n}" for n in range(1, 13)}

MODIFIER_BITS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
"""The bits of held modifiers in DevTools events."""


class _Stroke(NamedTuple):
    """A key as a page sees it."""

    code: str
    key: str
    number: int
    text: str = ""
    location: int = 0


_PUNCTUATION = (
    *(("Backquote", 192, "`~"), ("Minus", 189, "-_"), ("Equal", 187, "=+")),
    *(("BracketLeft", 219, "[{"), ("BracketRight", 221, "]}"), ("Backslash", 220, "\\|")),
    *(("Semicolon", 186, ";:"), ("Quote", 222, "'\"")),
    *(("Comma", 188, ",<"), ("Period", 190, ".>"), ("Slash", 191, "/?")),
)
_CHARACTERS = (
    *((f"Key{letter}", ord(letter), letter.lower() + letter) for letter in _LETTERS),
    *((f"Digit{pair[0]}", ord(pair[0]), pair) for pair in _DIGITS),
    *_PUNCTUATION,
)
"""Each key's code, number, and characters without and with Shift."""

_LEFT = 1
_NUMBERS = {
    "Backspace": 8,
    "Tab": 9,
    "CapsLock": 20,
    "Escape": 27,
    "Insert": 45,
    "Delete": 46,
    "PageUp": 33,
    "PageDown": 34,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    **{f"F{n}": 111 + n for n in range(1, 13)},
}
_STROKES = {
    **{char: _Stroke(code, char, n, char) for code, n, pair in _CHARACTERS for char in pair},
    **{name: _Stroke(name, name, number) for name, number in _NUMBERS.items()},
    **{
        name: _Stroke(f"{name}Left", name, number, location=_LEFT)
        for name, number in (("Shift", 16), ("Control", 17), ("Alt", 18), ("Meta", 91))
    },
    **dict.fromkeys(("Enter", "\r", "\n"), _Stroke("Enter", "Enter", 13, "\r")),
    " ": _Stroke("Space", " ", 32, " "),
}


class Clipping(StrEnum):
    """The effect of a chord on the clipboard."""

    COPY = "copy"
    """It copies the selection to the clipboard."""
    CUT = "cut"
    """It moves the selection to the clipboard."""
    PASTE = "paste"
    """It inserts the content of the clipboard."""


_CONTROL, _SHIFT = MODIFIER_BITS["Control"], MODIFIER_BITS["Shift"]
_CLIPPINGS = {
    (_CONTROL, "c"): Clipping.COPY,
    (_CONTROL, "insert"): Clipping.COPY,
    (_CONTROL, "x"): Clipping.CUT,
    (_SHIFT, "delete"): Clipping.CUT,
    (_CONTROL, "v"): Clipping.PASTE,
    (_SHIFT, "insert"): Clipping.PASTE,
}
_ANY_CASE = dict.fromkeys("cxv", _SHIFT)
"""Keys with which Shift changes nothing."""


class UnknownKey(ValueError):
    """A chord names an unknown key."""


def parse_chord(chord: str) -> list[str]:
    """Return the keys of a chord, in the order in which they are pressed.

    Raises:
        UnknownKey: the chord is empty or has an unknown key.
    """
    return [key_name(part) for part in split_chord(chord)]


def key_name(name: str) -> str:
    """Return the browser's name of one key.

    Raises:
        UnknownKey: `name` is not a key.
    """
    alias = usual_name(name)
    if len(name) > 1 and alias not in _NAMED:
        raise UnknownKey(f"there is no key '{name}'")
    return alias


class Keyboard:
    """Tracks which keys are down, and returns the events that press and release them.

    An event is the parameters of `Input.dispatchKeyEvent`. A key is named by the character that it
    types, so Shift does not change its name; with any other modifier held it types no text.
    """

    def __init__(self) -> None:
        self._down: dict[str, None] = {}

    @property
    def modifiers(self) -> int:
        """The held modifiers, as DevTools' bits."""
        return sum(bit for name, bit in MODIFIER_BITS.items() if name in self._down)

    @staticmethod
    def has(character: str) -> bool:
        """Return whether a key types this character."""
        return character in _STROKES

    def clipping(self, name: str) -> Clipping | None:
        """Return the effect of a key on the clipboard; None: it has none."""
        return _CLIPPINGS.get((self.modifiers & ~_ANY_CASE.get(name.lower(), 0), name.lower()))

    def down(self, name: str) -> dict[str, Any]:
        """Return the event that presses a key, or repeats it if it is down already.

        A key that would copy, cut or paste has no number: the browser's own clipboard, which all of its
        sessions share, is not used.

        Raises:
            UnknownKey: `name` is not a key.
        """
        stroke = self._stroke(name)
        if self.clipping(name):
            stroke = stroke._replace(number=0)
        repeated = name in self._down
        self._down[name] = None
        return {
            "type": "keyDown" if stroke.text else "rawKeyDown",
            "text": stroke.text,
            "unmodifiedText": stroke.text,
            "autoRepeat": repeated,
            **self._event(stroke),
        }

    def up(self, name: str) -> dict[str, Any]:
        """Return the event that releases a key.

        Raises:
            UnknownKey: `name` is not a key.
        """
        stroke = self._stroke(name)
        self._down.pop(name, None)
        return {"type": "keyUp", **self._event(stroke)}

    def press(self, name: str) -> list[dict[str, Any]]:
        """Return the events that press and release a key."""
        return [self.down(name), self.up(name)]

    def _stroke(self, name: str) -> _Stroke:
        stroke = _STROKES.get(name)
        if stroke is None:
            raise UnknownKey(f"there is no key '{name}'")
        plain = self.modifiers in (0, MODIFIER_BITS["Shift"])
        return stroke if plain else stroke._replace(text="")

    def _event(self, stroke: _Stroke) -> dict[str, Any]:
        return {
            "modifiers": self.modifiers,
            "windowsVirtualKeyCode": stroke.number,
            "code": stroke.code,
            "key": stroke.key,
            "location": stroke.location,
            "isKeypad": False,
        }
