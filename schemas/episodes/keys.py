"""The names of keys in actions: those of the DOM's `KeyboardEvent.key`, and other common spellings of them."""

ALIASES = {
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
"""The DOM's names by other spellings, in lower case and without `_`."""


def usual_name(name: str) -> str:
    """Return the DOM's name of one key, whatever its spelling; a name that is no other's spelling stays as it is."""
    return name if len(name) == 1 else ALIASES.get(name.replace("_", "").lower(), name)


def split_chord(chord: str) -> list[str]:
    """Return the names that a chord joins by `+`, which may itself be the last of them."""
    if chord == "+":
        return ["+"]
    parts = chord.split("+")
    return [*parts[:-2], "+"] if parts[-2:] == ["", ""] else parts
