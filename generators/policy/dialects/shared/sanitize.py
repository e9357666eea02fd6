"""Escapes text of pages for prompts, and text of models for prompts and records.

A page is hostile: its title may contain a tag that ends the observation, a token that ends the
turn, or a word by which a chat template switches thinking. A bracket that could begin a tag becomes an
entity where text of a page goes into a prompt, and a JSON escape where a model's own text goes back
into it. So does the first character of each word that the dialect's family treats specially: a page at
`/thinkpads` is `&#47;thinkpads` in the prompt. An entity is the mark because models have read pages
written so, it is what the bracket becomes, everything after it stays as it was, and it says which
character the page had. Nothing else is changed, because a task may ask to type that text.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

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


def escape_markup(text: str, max_chars: int, *, switch_words: Sequence[str]) -> str:
    """Return the first `max_chars` characters of a page's text, escaped so that no tag can end.

    No word of `switch_words`, the dialect's own, is left whole in it.
    """
    escaped = TAG_OPENING.sub("&lt;", replace_control_chars(truncate(text, max_chars)))
    return break_words(escaped, switch_words)


def one_line(text: str, max_chars: int, *, switch_words: Sequence[str]) -> str:
    """Return a page's text on a single line, shortened and escaped as by `escape_markup`."""
    words = " ".join(text[: 4 * max_chars].split())
    return escape_markup(words, max_chars, switch_words=switch_words)


def break_words(text: str, switch_words: Sequence[str]) -> str:
    """Return text of a page with the first character of each switch word as an entity; twice is as once."""
    return _openings(tuple(switch_words)).sub(_entity, text)


def break_words_in_reply(text: str, switch_words: Sequence[str]) -> str:
    """Return a model's own text with the first character of each switch word as a JSON escape.

    A reply in JSON means the same as before. Twice is as once.
    """
    return _openings(tuple(switch_words)).sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _entity(found: re.Match[str]) -> str:
    character = found.group()
    return "&lt;" if character == "<" else f"&#{ord(character)};"


@lru_cache(maxsize=32)
def _openings(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return what matches the first character alone, so that words may overlap."""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(re.escape(word[1:]))
    found = "|".join(f"{re.escape(first)}(?={'|'.join(rest)})" for first, rest in rests.items())
    return re.compile(found or r"(?!)")
