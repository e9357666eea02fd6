"""A page full of the words by which chat templates switch something: from the page to the prompt."""

import html
from collections.abc import Iterator

import pytest
from support.episodes.factories import make_step
from support.inputs.dialect_variants import VARIANTS, framed, variant

from generators.policy.dialects.protocol import Dialect, InexpressibleAction, Rationale
from generators.policy.dialects.shared.sanitize import (
    break_words,
    break_words_in_reply,
    escape_markup,
)
from generators.policy.dialects.switch_words import (
    EVERY_FAMILY,
    NEMOTRON,
    QWEN2_5_VL,
    QWEN3_5,
    QWEN3_VL,
)
from generators.policy.model import answer_validator, localizer
from schemas.episodes.action import Action, Answer, Click, Goto, TypeText
from schemas.episodes.observation import DialogKind, OpenDialog, PageState

TOKENS = ("<|im_start|>", "<|im_end|>", "<SPECIAL_10>", "<SPECIAL_12>", "<image>", "<image 1>")
WORDS = (*EVERY_FAMILY, *TOKENS)
HOSTILE = " ".join(WORDS) + " /no/no_think_think /th/thinkink http://shop.localhost/thinkpads/x0"
"""Every word of every family, some in others, and an address that holds one by accident."""

PLAIN = "Tom & Jerry > 5 < 7, http://shop.localhost/sinkpads/x0, /thin/king [1] \\u003c"
"""No switch word, and much that is near to one."""


def _page(text: str) -> PageState:
    return PageState(
        url=f"http://shop.localhost/thinkpads/{text}",
        title=text,
        scroll_x=0.0,
        scroll_y=0.0,
        tabs=(text, "b"),
        tab=0,
        dialog=OpenDialog(kind=DialogKind.CONFIRM, title="a", message=text),
    )


def _user_texts(dialect: Dialect, text: str) -> Iterator[str]:
    """Yield everything that a user's turn says of a page, a task or a fault that quotes either."""
    step = make_step(1, picture=1, action=Click(x=1, y=1))
    yield dialect.task_message(text)
    yield from dialect.observation_text(1, _page(text))
    yield dialect.result_text(step.model_copy(update={"result_text": text}))
    yield dialect.result_text(step.model_copy(update={"action_error": text}))
    yield dialect.rejection_text(Answer(text=text), text)
    yield dialect.repair_message(f"there is no tool '{text}'")
    yield localizer.question_text("Where is it?", text, dialect=dialect)
    yield localizer.repair_text(text, dialect=dialect)
    yield from answer_validator.question_texts(text, Answer(text=text), dialect=dialect)
    yield answer_validator.repair_text(text, dialect=dialect)


PLAINLY = Rationale(thought="a", note="b", element="c")


def _words_in(text: str, dialect: Dialect) -> list[str]:
    """Return the switch words that are whole in a text, each as often as it is there.

    A family's own form may have some, as the tags of its calls; a page adds none to them.
    """
    return [word for word in dialect.switch_words for _ in range(text.count(word))]


def _harmless(action: Action) -> dict[str, str]:
    """Return the text fields of an action without any switch word."""
    return {"url": "http://a/"} if isinstance(action, Goto) else {"text": "a"}


@pytest.mark.parametrize("name", VARIANTS)
def test_no_switch_word_of_a_page_reaches_a_prompt_whole(name: str) -> None:
    dialect = variant(name)

    said, plain = list(_user_texts(dialect, HOSTILE)), list(_user_texts(dialect, "x"))

    for text, harmless in zip(said, plain, strict=True):
        assert _words_in(text, dialect) == _words_in(harmless, dialect), text


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_broken_can_still_be_read(name: str) -> None:
    dialect = variant(name)

    for text in (dialect.task_message(HOSTILE), dialect.rejection_text(Click(x=1, y=1), HOSTILE)):
        assert HOSTILE in html.unescape(text)


@pytest.mark.parametrize("name", [name for name in VARIANTS if variant(name).drives_engine])
def test_a_reply_that_repeats_a_page_carries_no_switch_word_into_later_prompts(name: str) -> None:
    dialect = variant(name)
    frame, words = framed(dialect), Rationale(thought=HOSTILE, note=HOSTILE, element=HOSTILE)
    actions: list[Action] = [
        Goto(url="http://shop.localhost/thinkpads/x0"),
        TypeText(text=HOSTILE, x=1, y=1, overwrite=True, enter=True),
        Answer(text=HOSTILE),
    ]

    for action in actions:
        try:
            reply = dialect.format_action(action, frame, words)
        except InexpressibleAction:
            continue
        plain = dialect.format_action(action.model_copy(update=_harmless(action)), frame, PLAINLY)
        assert _words_in(reply, dialect) == _words_in(plain, dialect)
        parsed = dialect.parse(reply, frame)
        assert (parsed.canonical_reply, parsed.thought, parsed.note) == (reply, HOSTILE, HOSTILE)
        if isinstance(action, Goto | Answer):
            assert parsed.action == action


@pytest.mark.parametrize("name", VARIANTS)
def test_a_page_without_switch_words_reads_as_if_there_were_none(name: str) -> None:
    dialect = variant(name)

    assert break_words(PLAIN, EVERY_FAMILY) == PLAIN == break_words_in_reply(PLAIN, EVERY_FAMILY)
    for text in (dialect.task_message(PLAIN), dialect.rejection_text(Click(x=1, y=1), PLAIN)):
        assert PLAIN in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("holotron", NEMOTRON),
        ("holo1", QWEN2_5_VL),
        ("holo1_5", QWEN2_5_VL),
        ("holo2", QWEN3_VL),
        ("holo3", QWEN3_5),
        ("holo3_1", QWEN3_5),
        ("holo4", QWEN3_5),
        ("holotron3", NEMOTRON),
        ("holotron4", NEMOTRON),
        ("qwen3_vl", QWEN3_VL),
        ("gui_owl", QWEN3_VL),
        ("fara", QWEN2_5_VL),
        ("opencua", QWEN2_5_VL),
        ("ui_tars", QWEN2_5_VL),
        ("computer_use", QWEN3_VL),
    ],
)
def test_a_dialect_names_the_words_of_its_familys_template(
    name: str, words: tuple[str, ...]
) -> None:
    assert variant(name).switch_words == words


def test_an_address_with_a_switch_word_is_the_address_with_an_entity() -> None:
    before, _ = variant("holotron").observation_text(0, _page("x0"))

    assert before.startswith("<observation>\nURL: http://shop.localhost&#47;thinkpads/x0\n")


def test_breaking_twice_is_breaking_once_and_words_may_overlap() -> None:
    words = ("aba", "/think")

    for write in (break_words, break_words_in_reply):
        once = write("ababa/think", words)
        assert write(once, words) == once
        assert not [word for word in words if word in once]
    assert break_words("ababa/think", words) == "&#97;b&#97;ba&#47;think"
    assert break_words("ababa", ()) == "ababa"


def test_a_word_that_only_appears_once_a_page_was_cut_or_put_on_a_line_is_broken_too() -> None:
    cut = escape_markup("x" * 9 + "/thinkpads", 16, switch_words=NEMOTRON)

    assert cut == "x" * 9 + "&#47;think…"
