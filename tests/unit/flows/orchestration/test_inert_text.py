"""Text for Prefect's pages: Markdown that is nothing but the text, and values that hide nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import JsonValue
from support.inputs.hostile_texts import HOSTILE

from flows.orchestration.inert_text import MAX_CHARS, inert, literal
from storage.publish.card.escape import visible


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_markdown_of_text_alone(text: str) -> None:
    _is_text_alone(text)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_markdown_of_text_alone(text: str) -> None:
    _is_text_alone(text)


def _is_text_alone(text: str) -> None:
    page = MarkdownIt("gfm-like", {"linkify": False}).parse(literal(text))
    shown = visible(text)
    short = shown if len(shown) <= MAX_CHARS else f"{shown[: MAX_CHARS - 1]}…"

    assert {token.type for token in page} <= {"paragraph_open", "inline", "paragraph_close"}
    parts = [part for token in page for part in token.children or []]
    assert {part.type for part in parts} <= {"text", "text_special"}
    assert "".join(part.content for part in parts) == short.strip()


def test_a_value_is_the_same_without_what_hides_a_part_of_it() -> None:
    value: JsonValue = {"\u202ea": ["b\x1b[31m", {"c": "half \ud83d"}, 1, None, True, "d\ne"]}

    assert inert(value) == {"�a": ["b�[31m", {"c": "half �"}, 1, None, True, "d\ne"]}
