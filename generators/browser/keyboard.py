"""Names of keys, as actions spell them and as the browser's keyboard knows them.

An action's chord is joined with `+`: modifiers first, then one key, as `Control+a`. Names are
those of the DOM's `KeyboardEvent.key`; a few common spellings are understood besides.
"""

_ALIASES = {
    "ctrl": "Control",
    "control": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "meta": "Meta",
    "win": "Meta",
    "alt": "Alt",
    "option": "Alt",
    "shift": "Shift",
    "return": "Enter",
    "enter": "Enter",
    "esc": "Escape",
    "escape": "Escape",
    "space": " ",
    "spacebar": " ",
    "tab": "Tab",
    "backspace": "Backspace",
    "del": "Delete",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "arrowup": "ArrowUp",
    "arrowdown": "ArrowDown",
    "arrowleft": "ArrowLeft",
    "arrowright": "ArrowRight",
    "capslock": "CapsLock",
    "plus": "+",
}
_NAMED = frozenset(_ALIASES.values()) | {f"F{n}" for n in range(1, 13)}

MODIFIER_BITS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
"""What DevTools mouse events call held modifiers."""


class UnknownKey(ValueError):
    """A chord names a key that no keyboard has."""


def parse_chord(chord: str) -> list[str]:
    """Return the keys of a chord, in the order they go down.

    Raises:
        UnknownKey: it is empty or names a key that no keyboard has.
    """
    if chord == "+":
        return ["+"]
    parts = chord.split("+")
    if parts[-2:] == ["", ""]:
        parts = [*parts[:-2], "+"]
    return [key_name(part) for part in parts]


def key_name(name: str) -> str:
    """Return the browser's name of one key.

    Raises:
        UnknownKey: no keyboard has it.
    """
    if len(name) == 1:
        return name
    found = _ALIASES.get(name.replace("_", "").lower(), name)
    if found not in _NAMED:
        raise UnknownKey(f"there is no key '{name}'")
    return found
