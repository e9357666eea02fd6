"""A thought of ours quotes what its action types or points at: for each way not to, a step that is told."""

import time

import pytest
from support.episodes.factories import make_step

from generators.verify.thoughts import contradiction, is_put_together, quote, quotes
from schemas.episodes.action import (
    Action,
    Answer,
    Click,
    Drag,
    Hover,
    Key,
    Scroll,
    Select,
    TypeText,
)
from schemas.episodes.action import Direction as Way
from schemas.episodes.episode import Step, ThoughtSource
from schemas.episodes.observation import Box, Element, Sight, Target

HERE: Box = (10, 10, 60, 20)
THERE: Box = (10, 100, 60, 20)
PRESS = Click(x=20, y=20)
OTHER = Element(
    role="button",
    name="Cancel",
    tag="button",
    text="Cancel",
    bbox=THERE,
    interactive=True,
    visible=1,
    covered=False,
)


def step(
    thought: str | None,
    action: Action,
    *,
    text: str | None = None,
    name: str | None = None,
    role: str | None = "button",
    source: ThoughtSource | None = ThoughtSource.TEMPLATE,
    sights: tuple[Sight, ...] | None = (),
) -> Step:
    """Return a step that points at a button, beside which another one says Cancel."""
    target = Target(tag="div", role=role, name=name, text=text, bbox=HERE, visible=1)
    return make_step(0, picture=0, action=action).model_copy(
        update={
            "thought": thought,
            "thought_source": source,
            "target": target,
            "elements": (OTHER,),
            "sights": sights,
        }
    )


TRUE = {
    "it quotes nothing": step("I press the button.", PRESS, text="OK"),
    "what is written there": step("I press 'OK'.", PRESS, text="OK"),
    "a part of it": step("I open the mail by 'Ada'.", PRESS, text="Ada Nulla facilisis"),
    "more than is shown of it": step("I press 'OK then'.", PRESS, text="OK"),
    "words beside": step("'Cancel' is wrong, so I press 'OK'.", PRESS, text="OK"),
    "in another case": step("I press 'ok'.", PRESS, text="OK"),
    "the label of a box": step("I tick 'red'.", PRESS, name="red", role="checkbox"),
    "words within, beyond where the text is cut": step(
        "I mark it up to 'end'.",
        Drag(x=20, y=20, to_x=60, to_y=20),
        text="Nulla",
        sights=(Sight(text="the end", bbox=(30, 15, 20, 10)),),
    ),
    "what is to go into a field": step("'Ada' goes in here.", PRESS, text="Bo", role="textbox"),
    "what was seen, where nothing is written": step("'17' was here.", PRESS),
    "the typed text": step("I type 'Ada'.", TypeText(text="Ada\n")),
    "a text with a quotation mark": step("I type 'a 'b' c'.", TypeText(text="a 'b' c")),
    "parts of the typed text": step("'rm' deletes 'a.txt'.", TypeText(text="rm a.txt")),
    "a number beside what is quoted": step("'3' and '9' make 12.", TypeText(text="12")),
    "an empty answer": step("There is no 'Ada'.", Answer()),
    "the option": step("I choose 'Peru'.", Select(x=20, y=20, option="Peru"), text="Chile"),
    "a key": step("'OK' has the focus, so I press Enter.", Key(key="Enter"), text="OK"),
    "the wheel": step("I see no 'OK' yet.", Scroll(direction=Way.DOWN, amount=9), text="No"),
    "a model's own": step("I press 'No'.", PRESS, text="OK", source=ThoughtSource.POLICY),
    "a model's rewriting": step("I press 'No'.", PRESS, text="OK", source=ThoughtSource.REWRITTEN),
    "no thought": step(None, PRESS, text="OK", source=None),
}

FALSE = {
    "another button": (
        "names 'Cancel' and it points at 'OK'",
        step("I press 'Cancel'.", PRESS, text="OK"),
    ),
    "part of a word": ("names 'O'", step("I press 'O'.", PRESS, text="OK")),
    "another thing hovered over": (
        "names 'File'",
        step("I point at 'File'.", Hover(x=20, y=20), text="Edit"),
    ),
    "another thing dragged": (
        "names '7'",
        step("I drag '7'.", Drag(x=20, y=20, to_x=60, to_y=90), text="5"),
    ),
    "another box": (
        "names 'blue' and it points at 'red'",
        step("I tick 'blue'.", PRESS, name="red", role="checkbox"),
    ),
    "words outside of what is pointed at": (
        "names 'end'",
        step("'end' it is.", PRESS, text="OK", sights=(Sight(text="end", bbox=THERE),)),
    ),
    "another button, where nothing is written": (
        "'Cancel', which stands beside where it points",
        step("I press 'Cancel'.", PRESS),
    ),
    "a button, where a field is": (
        "'cancel', which stands beside where it points",
        step("I press 'cancel'.", PRESS, text="Bo", role="textbox"),
    ),
    "another text": (
        "names 'thaddeus', but not 'tsaddeus'",
        step("I type 'thaddeus'.", TypeText(text="tsaddeus")),
    ),
    "a text in another case": ("not 'ADA'", step("I type 'ada'.", TypeText(text="ADA"))),
    "a part of what is typed": ("not 'rm a.txt'", step("'rm' it is.", TypeText(text="rm a.txt"))),
    "a text that is not quoted": ("not 'in'", step("'Ada' goes in.", TypeText(text="in"))),
    "another answer": ("not 'Bo'", step("It is 'Ada'.", Answer(text="Bo"))),
    "another option": (
        "names 'Peru', but not 'Chile'",
        step("I choose 'Peru'.", Select(x=20, y=20, option="Chile"), text="Chile"),
    ),
}


@pytest.mark.parametrize("what", TRUE)
def test_what_a_thought_may_quote(what: str) -> None:
    assert contradiction(TRUE[what]) is None


@pytest.mark.parametrize("what", FALSE)
def test_what_contradicts_the_action(what: str) -> None:
    said, wrong = FALSE[what]

    assert said in (contradiction(wrong) or "")


@pytest.mark.parametrize(
    "changes",
    [{"interactive": False}, {"tag": "label"}, {"visible": 0.0}, {"covered": True}, {"bbox": HERE}],
    ids=lambda changes: next(iter(changes)),
)
def test_only_another_control_in_sight_is_a_thing_that_was_not_pressed(
    changes: dict[str, object],
) -> None:
    wrong = step("I press 'Cancel'.", PRESS)

    assert contradiction(wrong) is not None
    other = OTHER.model_copy(update=changes)
    assert contradiction(wrong.model_copy(update={"elements": (other,)})) is None


def test_quotations_are_found_in_all_their_marks() -> None:
    assert quotes("Ann's 'one' and \"two\", “three”, \u2018four\u2019; it's") == [
        "one",
        "two",
        "three",
        "four",
    ]


@pytest.mark.parametrize(
    ("x", "y", "there"),
    [
        *((10, 50, True), (9, 50, False), (70, 50, True), (71, 50, False)),
        *((30, 40, True), (30, 39, False), (30, 60, True), (30, 61, False)),
    ],
)
def test_words_are_on_a_target_that_has_their_middle(x: int, y: int, *, there: bool) -> None:
    target = Target(tag="div", role="button", text="Nulla", bbox=(10, 40, 60, 20), visible=1)
    words = Sight(text="the end", bbox=(x - 4, y - 6, 8, 12))
    pointed = step("I mark 'end'.", PRESS, sights=(words,)).model_copy(update={"target": target})

    assert (contradiction(pointed) is None) is there
    nowhere = target.model_copy(update={"bbox": None})
    assert contradiction(pointed.model_copy(update={"target": nowhere})) is not None


@pytest.mark.parametrize(
    ("x", "y", "beside"),
    [
        *((10, 100, False), (70, 100, False), (9, 100, True), (71, 100, True)),
        *((20, 120, False), (20, 99, True), (20, 121, True)),
    ],
)
def test_a_control_is_another_one_where_the_action_does_not_point(
    x: int, y: int, *, beside: bool
) -> None:
    pointed = step("I press 'Cancel'.", Click(x=x, y=y))

    assert (contradiction(pointed) is not None) is beside


def test_a_control_is_known_by_its_name_where_it_has_no_text() -> None:
    named = OTHER.model_copy(update={"text": ""})

    told = step("I press 'Cancel'.", PRESS).model_copy(update={"elements": (named,)})

    assert contradiction(told) is not None


def test_parts_stand_one_after_another_from_the_beginning_on() -> None:
    assert is_put_together("abc", ["ab", "c", ""])
    assert not is_put_together("xabc", ["ab", "c"])
    assert not is_put_together("ab", ["ab"])


def test_a_long_text_is_quoted_short() -> None:
    assert quote("a" * 60) in (repr("a" * 60), repr("a" * 59 + "…"))
    assert quote("a" * 500).endswith("a…'")
    assert quote("Ada") == "'Ada'"


def test_marks_that_nothing_closes_take_no_time() -> None:
    for unit in ("“", "\u2018", "'a ", '"“', "“\n", "“a'"):
        began = time.process_time()
        quotes(unit * 50_000)
        assert time.process_time() - began < 5, unit


def test_quoted_texts_end_with_their_lines() -> None:
    said = "“a” 'b' it's \"c\" “d\n” \u2018e\u2019 “f “g” ''h''"

    assert quotes(said) == ["a", "b", "c", "e", "f “g", "'h"]
