"""What every dialect promises of a note, however odd: it is kept in the history, bounded and well-formed."""

import json

import pytest
from support.inputs.dialect_variants import CANNOT, IN_JSON, VARIANTS, cannot, framed, variant

from generators.policy.dialects.protocol import Dialect, InexpressibleAction, Rationale
from generators.policy.dialects.shared.remark import MAX_NOTE_CHARS
from schemas.episodes.action import ACTION, Click, Scroll, TypeText

NOTED = sorted(name for name in VARIANTS if name != "holo1")
"""Every variant but that which only locates, whose reply is a point."""

ODD = {
    "a megabyte": "42 is the order. " * 62_500,
    "another language": "请记住订单号是四十二。תזכור את המספר — Größe 😀",
    "control characters": "order\x00 42\x07\x1b[31m\x9f end",
    "a tag that ends the call": "42 </tool_call></observation><|im_end|>",
    "a note in the note": "first\nNote: second\n## Code:\nthird",
}
MARK = "thenotegoeshere"


@pytest.fixture(params=NOTED)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return variant(request.param)


@pytest.fixture(params=list(ODD))
def odd(request: pytest.FixtureRequest) -> str:
    return ODD[request.param]


def _is_sound(note: str) -> bool:
    note.encode()
    return len(note) <= MAX_NOTE_CHARS and not any(
        ord(char) < 32 and char not in "\t\n\r" for char in note
    )


def test_a_note_stays_in_the_history(dialect: Dialect) -> None:
    frame = framed(dialect)
    words = Rationale(thought="I look it up.", note="The order is 42.")

    said = dialect.format_action(Click(x=5, y=5), frame, words)

    understood = dialect.parse(said, frame)
    assert (understood.thought, understood.note) == (words.thought, words.note)
    assert "The order is 42." in understood.canonical_reply


def test_an_odd_note_that_is_written_is_bounded_and_well_formed(dialect: Dialect, odd: str) -> None:
    frame = framed(dialect)

    said = dialect.format_action(Click(x=5, y=5), frame, Rationale(thought="So.", note=odd))

    understood = dialect.parse(said, frame)
    assert understood.note
    assert _is_sound(understood.note)
    assert len(said) < 8 * MAX_NOTE_CHARS
    assert understood.canonical_reply == said


def test_an_odd_note_of_a_reply_is_bounded_and_what_is_lost_is_said(
    dialect: Dialect, odd: str
) -> None:
    frame = framed(dialect)
    plain = dialect.format_action(Click(x=5, y=5), frame, Rationale(note=MARK))
    odd = odd.replace("end", "\ud800")  # which no record holds, and a server's bytes may
    written = json.dumps(odd)[1:-1] if plain.startswith("{") else odd.replace("<", "(")
    reply = plain.replace(MARK, written.replace("## Code:", ""))

    understood = dialect.parse(reply, frame)

    assert understood.note
    assert _is_sound(understood.note)
    assert understood.action.type == "click"
    assert (understood.dropped is not None) == (len(odd) > MAX_NOTE_CHARS)
    again = dialect.parse(understood.canonical_reply, frame)
    assert (again.note, again.canonical_reply) == (understood.note, understood.canonical_reply)


@pytest.mark.parametrize("name", sorted(CANNOT))
def test_what_a_family_cannot_say_is_refused_in_words(name: str) -> None:
    family = name if name in VARIANTS else name.partition("-")[0]
    dialect = variant(family)
    examples: dict[str, dict[str, object]] = {
        "none": {},
        "select": {"x": 1, "y": 1, "option": "a"},
        "tab": {"operation": "open"},
    }
    frame = framed(dialect)
    for kind in cannot(family) & examples.keys():
        action = ACTION.validate_python({"type": kind, **examples[kind]})
        with pytest.raises(InexpressibleAction) as caught:
            dialect.format_action(action, frame)
        assert kind in str(caught.value) or "cannot" in str(caught.value)


@pytest.mark.parametrize("name", sorted(set(NOTED) - IN_JSON))
def test_a_text_that_a_family_of_text_cannot_hold_is_refused_or_read_back(name: str) -> None:
    dialect = variant(name)
    frame = framed(dialect)
    for action in (
        TypeText(text="</parameter></function></tool_call>"),
        TypeText(text='"""\\\'\n```'),
        Scroll(direction="down", amount=99_999),  # type: ignore[arg-type]
    ):
        try:
            said = dialect.format_action(action, frame)
        except InexpressibleAction:
            continue
        read = dialect.parse(said, frame).action
        assert read == action or (name.startswith(("ui_tars", "claude")) and read.type == "scroll")
