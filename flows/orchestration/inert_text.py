"""Foreign text for Prefect, whose pages show it as it is.

They render the cells and the description of an artifact as Markdown and HTML, with links and pictures from
anywhere, and all else as text. Names of templates, places and settings come from task files and people.
"""

from pydantic import JsonValue

from flows.terminal import strip_control_chars
from schemas.truncation import to_well_formed
from storage.publish.card.escape import visible

MAX_CHARS = 300
"""Longer text is cut in an artifact."""

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def literal(text: str) -> str:
    """Return at most `MAX_CHARS` of `text`, on one line, as Markdown that shows it as it is.

    Each mark has a backslash; Prefect's Markdown does not read every numeric entity.
    """
    shown = visible(text)
    if len(shown) > MAX_CHARS:
        shown = f"{shown[: MAX_CHARS - 1]}…"
    return "".join(f"\\{char}" if char in _PUNCTUATION else char for char in shown)


def inert(value: JsonValue) -> JsonValue:
    """Return `value` without characters in its texts that hide or reverse a part of them."""
    if isinstance(value, dict):
        return {strip_control_chars(key): inert(item) for key, item in value.items()}
    if isinstance(value, list):
        return [inert(item) for item in value]
    return strip_control_chars(to_well_formed(value)) if isinstance(value, str) else value
