"""Text of others on its way into a prompt, and text of models on its way into records.

A page is hostile: its title may hold a tag that ends the observation, or a token that ends the
turn. Both begin with an angle bracket, so one that could begin either is written as an entity
wherever a page's words go into a prompt, and as a JSON escape wherever a model's own words come
back into it. Nothing else of the words is touched, as a task may ask to type them.
"""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters other than tab and line ends, and unpaired surrogates."""

TAG_OPENING = re.compile(r"<(?![\s\d=])")
"""An angle bracket that may begin a tag or a token; one before a blank, digit or `=` may not."""

_CUT = "…"


def replace_control_chars(text: str) -> str:
    """Return a model's words fit for a record: control characters become replacement characters."""
    return _CONTROL.sub("\ufffd", text)


def find_control_char(text: str) -> str | None:
    """Return the first control character, as `U+0007`; None if the text has none."""
    found = _CONTROL.search(text)
    return f"U+{ord(found.group()):04X}" if found else None


def truncate(text: str, max_chars: int) -> str:
    """Return at most `max_chars` characters of `text`, with an ellipsis where it was cut."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + _CUT


def escape_markup(text: str, max_chars: int) -> str:
    """Return the first `max_chars` characters of a page's text, unable to end a tag or a turn."""
    return TAG_OPENING.sub("&lt;", replace_control_chars(truncate(text, max_chars)))


def one_line(text: str, max_chars: int) -> str:
    """Return a page's text on a single line, shortened and escaped as by `escape_markup`."""
    return escape_markup(" ".join(text[: 4 * max_chars].split()), max_chars)
