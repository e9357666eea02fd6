"""Escapes text of pages for prompts, and text of models for records.

A page is hostile: its title may contain a tag that ends the observation, or a token that ends the
turn. Both begin with an angle bracket. A bracket that could begin one becomes an entity where text of
a page goes into a prompt, and a JSON escape where a model's own text goes back into it. Nothing else is
changed, because a task may ask to type that text.
"""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters other than tab and line ends, and unpaired surrogates."""

TAG_OPENING = re.compile(r"<(?![\s\d=])")
"""An angle bracket that may begin a tag or a token: not one before a space, digit or `=`."""

_CUT = "…"


def replace_control_chars(text: str) -> str:
    """Return text of a model for a record: control characters become replacement characters."""
    return _CONTROL.sub("\ufffd", text)


def find_control_char(text: str) -> str | None:
    """Return the first control character, as `U+0007`; None if the text has none."""
    match = _CONTROL.search(text)
    return f"U+{ord(match.group()):04X}" if match else None


def truncate(text: str, max_chars: int) -> str:
    """Return at most `max_chars` characters of `text`, with an ellipsis where it was cut."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + _CUT


def escape_markup(text: str, max_chars: int) -> str:
    """Return the first `max_chars` characters of a page's text, escaped so that no tag can end."""
    return TAG_OPENING.sub("&lt;", replace_control_chars(truncate(text, max_chars)))


def one_line(text: str, max_chars: int) -> str:
    """Return a page's text on a single line, shortened and escaped as by `escape_markup`."""
    return escape_markup(" ".join(text[: 4 * max_chars].split()), max_chars)
