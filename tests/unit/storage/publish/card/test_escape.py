"""Whatever foreign text holds, it stays text."""

import ast

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from storage.publish.card.escape import MAX_CHARS, markdown, python_string, visible, yaml_string

_ANY = st.text(st.characters(exclude_categories=()))
"""Any text at all, lone surrogates and control characters included."""

_NASTY = st.text(st.sampled_from("|`*_[](){}<>#!\\~-+.:/@&;=$'\"\n\r\t wa1"))
"""Text made of what means something somewhere."""


def _cells(text: str) -> list[str]:
    """Return the text of the cells of a table that has `text` in its one cell, and inline kinds."""
    page = MarkdownIt("gfm-like", {"linkify": False}).parse(f"| a |\n|---|\n| {text} |\n\nafter")
    row = [token for token in page if token.type == "inline"]
    assert [token.content for token in row[:1]] == ["a"]
    assert row[-1].content == "after"
    cells = row[1:-1]
    assert all(
        child.type in {"text", "text_special"} for cell in cells for child in cell.children or []
    )
    return ["".join(child.content for child in cell.children or []) for cell in cells]


@given(_ANY | _NASTY)
def test_markdown_is_one_cell_of_plain_text(text: str) -> None:
    shown = visible(text)
    short = shown if len(shown) <= MAX_CHARS else shown[: MAX_CHARS - 1] + "…"

    assert _cells(markdown(text)) == ([short.strip()] if short.strip() else [""])


@given(_ANY | _NASTY)
def test_yaml_reads_back_the_visible_text(text: str) -> None:
    page = f"before: 1\nkey: {yaml_string(text)}\nafter: 2\n"

    assert yaml.safe_load(page) == {"before": 1, "key": visible(text), "after": 2}


@given(_ANY | _NASTY)
def test_python_reads_back_the_text(text: str) -> None:
    written = python_string(text)

    assert ast.literal_eval(written) == text
    assert written.isascii()
    assert written.isprintable()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("click-test", "click-test"),
        ("Chromium 140.0.7339", "Chromium 140.0.7339"),
        ("snake_case", "snake_case"),
        ("www.evil.example", "www&#46;evil&#46;example"),
        ("<b>|`x`", "&#60;b&#62;&#124;&#96;x&#96;"),
        ("a\nb\tc", "a b c"),
        ("\u202eabc\x00", "\N{REPLACEMENT CHARACTER}abc\N{REPLACEMENT CHARACTER}"),
        ("replay: failed", "replay: failed"),
    ],
)
def test_markdown_stays_readable(text: str, written: str) -> None:
    assert markdown(text).replace("&#65533;", "\N{REPLACEMENT CHARACTER}") == written
