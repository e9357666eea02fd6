"""What is said is read as it was meant, by every family and at every size."""

import json
from typing import cast

import pytest
from effort import THOROUGH
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy
from pydantic import JsonValue
from support.inputs.dialect_variants import COMPLETE, IN_JSON, VARIANTS, cannot, framed, variant
from support.inputs.strategies import actions, json_values

from generators.browser.keyboard import parse_chord
from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import Tiled
from generators.policy.dialects.protocol import (
    Dialect,
    InexpressibleAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.shared.arguments import Scale
from generators.policy.dialects.shared.keys import NAMED_KEYS
from generators.policy.dialects.shared.sanitize import TAG_OPENING
from generators.policy.dialects.shared.text_dialect import as_keys
from generators.policy.dialects.shared.tools import NOTCH, page_px
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Back,
    Button,
    Click,
    Direction,
    Drag,
    DropFile,
    Forward,
    Goto,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    Reload,
    Restart,
    Scroll,
    Select,
    Tab,
    TypeText,
    Wait,
)


def examples(count: int) -> int:
    """Return how many are tried: so many at the large size, and a third of them at the small one."""
    return count if THOROUGH else count // 3


every_variant = pytest.mark.parametrize("name", VARIANTS)

sizes = st.integers(100, 4_096)
words = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), max_size=20)
key_names = st.sampled_from(NAMED_KEYS) | st.characters(min_codepoint=33, max_codepoint=126)


@st.composite
def frames(draw: st.DrawFn, dialect: Dialect) -> Frame:
    scale = draw(st.sampled_from((0.5, 1.0, 1.25, 1.5, 2.0, 3.0)))
    return framed(dialect, draw(sizes), draw(sizes), scale=scale)


def on_picture(frame: Frame) -> SearchStrategy[Action]:
    """Everything that an ordinary hand and keyboard do on a page of that size."""
    x = st.floats(0, frame.viewport_width)
    y = st.floats(0, frame.viewport_height)
    buttons = st.sampled_from(Button)
    before = st.lists(key_names.filter(lambda key: key != "+"), max_size=4)
    chords = st.tuples(before, key_names).map(lambda keys: "+".join([*keys[0], keys[1]]))
    point = st.tuples(x, y) | st.just((None, None))
    typed = st.tuples(words, point, st.booleans(), st.booleans()).map(
        lambda p: TypeText(text=p[0], x=p[1][0], y=p[1][1], overwrite=p[2], enter=p[3])
    )
    scrolled = st.tuples(st.sampled_from(Direction), st.integers(1, 100_000), point).map(
        lambda p: Scroll(direction=p[0], amount=p[1], x=p[2][0], y=p[2][1])
    )
    tabs = st.sampled_from(
        (
            *(Tab.model_validate({"operation": "switch", "index": n}) for n in (None, 0, 100)),
            *(Tab.model_validate({"operation": "close", "index": n}) for n in (None, 0, 100)),
            *(Tab.model_validate({"operation": "open", "url": u}) for u in (None, "http://a/")),
        )
    )
    return cast(
        "SearchStrategy[Action]",
        st.one_of(
            st.builds(Click, x=x, y=y, button=buttons, count=st.integers(1, 3)),
            st.builds(Hover, x=x, y=y),
            st.builds(Drag, x=x, y=y, to_x=x, to_y=y, button=buttons),
            typed,
            st.builds(Select, x=x, y=y, option=words),
            st.builds(Key, key=chords),
            st.builds(KeyDown, key=key_names),
            st.builds(KeyUp, key=key_names),
            scrolled,
            st.builds(Goto, url=words.filter(bool)),
            tabs,
            st.builds(AnswerDialog, accept=st.booleans(), text=st.none() | words),
            st.builds(DropFile, x=x, y=y, name=words.filter(bool)),
            st.builds(Wait, ms=st.integers(1, 600_000)),
            st.builds(Answer, text=words),
            st.sampled_from((Back(), Forward(), Reload(), Restart())),
        ),
    )


SIMPLE: tuple[Action, ...] = (
    Click(x=5, y=6),
    Hover(x=5, y=6),
    TypeText(text="a"),
    Key(key="Control+a"),
    Scroll(direction=Direction.DOWN, amount=100, x=5, y=6),
    Wait(ms=2_000),
)
"""What every family with JSON in its replies can say."""


BY_KEYS = (
    "claude",
    "computer_use",
    "ui_tars",
    "qwen3_vl-published",
    "fara-published",
    "opencua-published",
)
"""Who answer a dialog by keys."""


def says_everything(name: str) -> bool:
    return cannot(name) == {"none"}


def off_by(
    said: Action, read: Action, frame: Frame, convention: Convention, *, family: str
) -> None:
    """Assert that two actions are the same but for half a unit of the convention.

    Of a scroll, Claude counts clicks of the wheel, one at least, and UI-TARS says the direction alone. Families
    of keyboards answer a dialog by its keys.
    """
    if family in BY_KEYS and isinstance(said, AnswerDialog):
        said = as_keys(said)
        if family == "ui_tars" and isinstance(said, TypeText):
            said = TypeText(text=said.text.removesuffix("\n"), enter=True)
    across, down = frame.span(convention)
    digits = 4 if convention is Convention.UNIT else 0
    sides = {"x": (frame.viewport_width, across), "y": (frame.viewport_height, down)}
    meant, got = said.model_dump(), read.model_dump()
    for name in ("x", "y", "to_x", "to_y"):
        before, after = meant.pop(name, None), got.pop(name, None)
        if before is None or after is None:
            assert before is after is None
            continue
        size, span = sides[name[-1]]
        unit = size / span * 10.0**-digits
        at_the_far_edge = before > size - unit / 2
        assert abs(before - after) <= (unit if at_the_far_edge else unit / 2) + 1e-6
    if isinstance(said, Scroll) and family in ("claude", "ui_tars"):
        before, after = meant.pop("amount"), got.pop("amount")
        if family == "ui_tars":
            assert (
                before
                <= after
                == page_px(said.direction, Scale(frame=frame, convention=convention))
            )
        else:
            click = NOTCH * frame.viewport_height / frame.sent_height
            assert abs(before - after) <= max(click / 2, click - before) + 1
    if "key" in meant:
        assert parse_chord(meant.pop("key")) == parse_chord(got.pop("key"))
    assert meant == got


@every_variant
@settings(max_examples=examples(60))
@given(data=st.data())
def test_what_is_said_is_read_as_it_was_meant(name: str, data: DataObject) -> None:
    dialect = variant(name)
    frame = data.draw(frames(dialect))
    action = data.draw(on_picture(frame))
    try:
        said = dialect.format_action(
            action, frame, Rationale(thought="So I act.", note=None, element=None)
        )
    except InexpressibleAction:
        assert not says_everything(name)
        return

    understood = dialect.parse(said, frame)

    assert action.type not in cannot(name)
    assert understood.canonical_reply == said
    family = name if name in BY_KEYS else dialect.name
    off_by(action, understood.action, frame, dialect.convention, family=family)
    again = dialect.parse(dialect.format_action(understood.action, frame), frame)
    assert again.action == understood.action


@pytest.mark.parametrize("name", sorted(COMPLETE & IN_JSON))
@settings(max_examples=examples(60))
@given(data=st.data())
def test_words_come_back_as_they_were_said(name: str, data: DataObject) -> None:
    dialect = variant(name)
    frame = framed(dialect)
    thought, note, element = (data.draw(words.filter(bool)) for _ in range(3))
    said = dialect.format_action(
        Click(x=5, y=5), frame, Rationale(thought=thought, note=note, element=element)
    )

    understood = dialect.parse(said, frame)

    assert (understood.thought, understood.note) == (thought, note)
    assert understood.element == element
    assert TAG_OPENING.search(said) is None


@pytest.mark.parametrize("name", sorted(COMPLETE - IN_JSON))
@settings(max_examples=examples(60))
@given(
    said=words,
    noted=words,
    more=st.sampled_from(("", "Note: b", "## Code:", "&lt;", "/think", "<i>")),
)
def test_words_before_a_call_come_back_as_they_were_said(
    name: str, said: str, noted: str, more: str
) -> None:
    dialect = variant(name)
    frame = framed(dialect)
    thought, note = f"{said}\n{more}", f"{noted}\n{more}"

    reply = dialect.format_action(Click(x=5, y=5), frame, Rationale(thought=thought, note=note))
    understood = dialect.parse(reply, frame)

    assert (understood.thought or "") == thought.strip()
    assert (understood.note or "") == note.strip()
    assert understood.canonical_reply == reply


@every_variant
@settings(max_examples=examples(30))
@given(action=actions, data=st.data())
def test_any_action_is_said_or_there_are_no_words_for_it(
    name: str, action: Action, data: DataObject
) -> None:
    dialect = variant(name)
    frame = data.draw(frames(dialect))
    try:
        said = dialect.format_action(
            action, frame, Rationale(thought=data.draw(st.text(max_size=20)))
        )
    except InexpressibleAction:
        return

    assert action.type not in cannot(name)
    assert dialect.parse(said, frame).canonical_reply == said


@every_variant
@settings(max_examples=examples(40))
@given(reply=st.text(max_size=200))
def test_any_text_is_understood_or_unreadable(name: str, reply: str) -> None:
    dialect = variant(name)
    frame = framed(dialect)
    try:
        understood = dialect.parse(reply, frame)
    except UnreadableReply as error:
        str(error).encode()
    else:
        understood.canonical_reply.encode()


@pytest.mark.parametrize("name", ["holotron", "holotron-unit", "holo1_5", "computer_use", "claude"])
@settings(max_examples=examples(60))
@given(data=st.data())
def test_any_value_in_any_place_is_understood_or_unreadable(name: str, data: DataObject) -> None:
    dialect = variant(name)
    frame = framed(dialect)
    said = dialect.format_action(data.draw(st.sampled_from(SIMPLE)), frame)
    start = said.index("{")
    whole, end = json.JSONDecoder().raw_decode(said, start)
    _put(whole, data)
    try:
        reply = said[:start] + json.dumps(whole) + said[end:]
        understood = dialect.parse(reply, frame)
    except UnreadableReply as error:
        str(error).encode()
    else:
        assert (
            dialect.parse(understood.canonical_reply, frame).canonical_reply
            == understood.canonical_reply
        )


def _put(whole: dict[str, JsonValue], data: DataObject) -> None:
    """Put any value at, or beside, any place of a reply."""
    inner = [value for value in whole.values() if isinstance(value, dict)]
    deeper: bool = data.draw(st.booleans())
    at = inner[0] if inner and deeper else whole
    at[data.draw(st.sampled_from([*at, "new"]))] = data.draw(json_values)


@settings(max_examples=examples(150))
@given(width=sizes, height=sizes, scale=st.integers(1, 4), tiles=st.integers(1, 12))
def test_the_server_tiles_what_is_sent_as_it_would_tile_the_screenshot(
    width: int, height: int, scale: int, tiles: int
) -> None:
    rule = Tiled(max_tiles=tiles)
    size = (width * scale, height * scale)
    sent = rule.sent_size(*size)

    assert rule.grid(*sent) == rule.grid(*size)
    assert sent[0] * sent[1] <= max(tiles * rule.side**2, 1)


@pytest.mark.parametrize("name", ["holo1_5", "holo2", "ui_tars", "computer_use"])
@settings(max_examples=examples(60))
@given(width=sizes, height=sizes)
def test_a_resized_picture_is_whole_patches_and_stays_as_it_is(
    name: str, width: int, height: int
) -> None:
    dialect = variant(name)
    sent = dialect.sent_size(width, height)

    assert dialect.sent_size(*sent) == sent
    assert dialect.image_tokens(*sent) == dialect.image_tokens(width, height)
