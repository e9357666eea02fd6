"""Escapes foreign text for a card: in Markdown, in YAML, in BibTeX and in a Python literal.

Names of templates, sites, models and runs come from pages, task files and people. They are data: their
characters are shown as they are, and can neither end a table cell nor start a heading, a link, a tag or
another key.
"""

import json
import unicodedata

MAX_CHARS = 80
"""Longer text is cut in Markdown, with an ellipsis, unless the caller allows more."""

_UNPRINTABLE = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
"""Unicode categories of invisible characters: controls, direction marks, surrogates, separators."""


def visible(text: str) -> str:
    """Return `text` on one line, with invisible characters replaced."""
    line = " ".join(text.split())
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char) in _UNPRINTABLE else char
        for char in line
    )


def markdown(text: str, *, max_chars: int = MAX_CHARS) -> str:
    """Return at most `max_chars` of `text` as literal Markdown, for a sentence or a table cell."""
    shown = visible(text)
    if len(shown) > max_chars:
        shown = shown[: max_chars - 1] + "…"
    return "".join(_literal(shown, place) for place in range(len(shown)))


def _literal(text: str, place: int) -> str:
    """Return the character at `place`, escaped unless Markdown gives it no meaning there."""
    char = text[place]
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    harmless = {
        ".": before.isdigit() and after.isdigit(),
        "_": before.isalnum() and after.isalnum(),
        ":": after == " ",
    }
    if char.isalnum() or char in "- ," or harmless.get(char, False):
        return char
    return f"&#{ord(char)};"


def bibtex(text: str) -> str:
    """Return at most `MAX_CHARS` of `text` as a BibTeX value, without special characters of TeX or a fence."""
    return "".join(
        f"\\{char}" if char in "#$%&_" else char
        for char in visible(text)[:MAX_CHARS]
        if char not in "\\{}~^`"
    )


def yaml_string(text: str) -> str:
    """Return `text` as a double-quoted YAML scalar on one line."""
    return json.dumps(visible(text), ensure_ascii=False)


def python_string(text: str) -> str:
    """Return `text` as a Python literal of printable ASCII characters."""
    return json.dumps(text) if text.isascii() and text.isprintable() else ascii(text)
