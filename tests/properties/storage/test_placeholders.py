"""Words that trainers take for pictures: what escapes them can be undone, and leaves none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.episodes.placeholders import PLACEHOLDER, escape, unescape

LITERALS = (
    "<image>",
    "<video>",
    "<audio>",
    "<img>",
    "</img>",
    "<bbox>",
    "<ref-object>",
    "<cot-process>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<|vision_start|>",
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<IMG_CONTEXT>",
    "<image_soft_token>",
    "<start_of_image>",
    "<|image|>",
    "<|media_pad|>",
    "[IMG]",
    "[IMG_BREAK]",
    "[INST]",
)
"""What trainers split strings at and processors count, by their code."""

WORDS = st.sampled_from(
    [*LITERALS, "<", ">", "[", "]", "&", "amp;", "lt;", "#60;", "#91;", "|", "image", "a"]
)
TEXTS = st.lists(WORDS | st.text(max_size=3)).map("".join)


@given(TEXTS)
def test_an_escaped_text_has_no_placeholder_and_can_be_read_again(text: str) -> None:
    made = escape(text)

    assert unescape(made) == text
    assert not PLACEHOLDER.search(made)
    assert not any(word.lower() in made.lower() for word in LITERALS)


@given(TEXTS, TEXTS)
def test_a_picture_between_two_texts_is_the_only_one(before: str, after: str) -> None:
    assert f"{escape(before)}<image>{escape(after)}".count("<image>") == 1


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "<b>bold</b>",
        "<observation>",
        "x[0]",
        "&lt;b>",
        "&lt;image>",
        "if (a<image)",
        "Fish & chips",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert escape(text) == text


def test_the_bracket_becomes_an_entity_and_an_entity_another() -> None:
    assert escape("Type <image> and [IMG].") == "Type &#60;image> and &#91;IMG]."
    assert escape("&#60;image>") == "&amp;#60;image>"
