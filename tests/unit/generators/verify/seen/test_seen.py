"""The `seen` verifier: for everything that it looks at, an episode that only it rejects."""

import pytest
from support.episodes.seen_episodes import (
    BUTTON,
    FIELD,
    LINE,
    at,
    judge,
    look,
    picture,
    press,
    rewrite,
    write,
)

from schemas.episodes.action import (
    Answer,
    Click,
    Hover,
    Key,
    Scroll,
    Select,
    Wait,
)
from schemas.episodes.action import Direction as Way
from schemas.episodes.episode import Step, ThoughtSource
from schemas.episodes.observation import Screenshot, Sight, Target
from schemas.verdicts.verdict import Status

OPEN = press("Welcome")

IN_FIELD = (12, 202, 90, 14)

BASED: dict[str, tuple[Step, ...]] = {
    "a word of the goal": (write("Ada Lovelace"),),
    "a word of the goal in another case": (write("ADA LOVELACE"),),
    "a date without its strokes": (write("07042017"),),
    "a time with a nought before it": (write("0930AM"),),
    "a word of this picture": (write("porttitor", "Eu porttitor venenatis"),),
    "a word of an earlier picture": (press("Eu porttitor venenatis"), write("porttitor")),
    "a sentence over two lines": (
        write("one two three four", "one two", ("three four", (10, 30, 80, 14))),
    ),
    "letters that stand apart": (write("xyz", ("x", (10, 10, 9, 14)), ("yz", (30, 10, 20, 14))),),
    "lines of two pictures": (
        look("one two three four", do=Scroll(direction=Way.DOWN, amount=50)),
        write("one two three four five six seven", "four five six seven"),
    ),
    "a dialog's words": (
        press(result_text="The page said: the code is tulip"),
        write("tulip"),
    ),
    "a sum": (write("12", "3 + 9 =", thought="3 + 9 = 12, so I type 12."),),
    "a sum in a script without spaces": (
        write("12", "有3个红的和9个蓝的", thought="3 + 9 = 12, so I type 12."),
    ),
    "an unknown": (write("4", "x + 3 = 7", thought="From x + 3 = 7 follows x = 4."),),
    "a mean": (write("7", "higher than 4", "0-9", thought="Between 4 and 9 lies 7."),),
    "a count": (
        write(
            "3", *(("", (10 + 30 * n, 40, 12, 12)) for n in range(3)), thought="I count 3 blocks."
        ),
    ),
    "what it puts together": (
        write("rm a.txt", "a.txt b.txt", ("rm", (10, 30, 90, 14)), thought="'rm' deletes 'a.txt'."),
    ),
    "a text with another number in it": (
        rewrite("Load limit: 30 t at most", ("Load limit: 57 t at most", IN_FIELD)),
    ),
    "a text without a passage": (rewrite("Load limit", ("Load limit: none", IN_FIELD)),),
    "a text with more at its end": (
        rewrite("Load limit: 57 t, Ada Lovelace", ("Load limit: 57 t", IN_FIELD)),
    ),
    "another script": (write("日本", "これは日本です"),),
    "a rare letter of it": (write("野家", "𠮷野家"),),
    "a script with marks": (write("हिन्दी", "यह हिन्दी है"),),
    "a script from right to left": (write("مرحبا", "قل مرحبا الآن"),),
    "a script without spaces": (write("ไทย", "ภาษาไทย"),),
    "an answer": (look("It is tulip time", do=Answer(text="tulip")),),
    "an empty answer": (look(do=Answer()),),
    "a chosen option": (
        look(
            ("Peru", (12, 202, 60, 14)),
            do=Select(x=20, y=210, option="Peru"),
            target=at(FIELD, "Peru"),
        ),
    ),
    "an option that the goal names": (
        look(
            ("Chile", (12, 202, 60, 14)),
            do=Select(x=20, y=210, option="Ada Lovelace"),
            target=at(FIELD, "Chile"),
        ),
    ),
    "a name key by key": (look("tu lip", do=Key(key="t")), look(do=Key(key="u"))),
    "a blank button": (
        look(("", (40, 40, 30, 30)), do=Click(x=50, y=50), target=at((40, 40, 30, 30))),
    ),
    "a card that showed its number": (
        look(("17", (45, 45, 20, 14)), do=Wait(ms=1)),
        look(
            ("", (40, 40, 30, 30)),
            do=Click(x=55, y=52),
            target=at((40, 40, 30, 30)),
            thought="'17' was here.",
        ),
    ),
    "a field without a frame": (
        look(
            ("to:", (276, 103, 20, 14)),
            do=Click(x=320, y=110),
            target=Target(tag="input", bbox=(300, 100, 90, 20), visible=1.0),
        ),
    ),
    "the code of a colour": (write("c83214", ("", (300, 20, 30, 30)), thought="This colour."),),
    "the code of a colour by name": (
        write("ffd700", thought="In hexadecimal it is that.", result_text=None),
    ),
    "a refused action": (
        write("nonsense", thought="I type it.", action_error="it is outside the viewport"),
    ),
    "a model's own words": (
        press(thought="Perhaps 'Settings' helps.", source=ThoughtSource.POLICY),
    ),
}

BASELESS: dict[str, tuple[str, tuple[Step, ...]]] = {
    "a passage that nobody saw": (
        "the text 'Load limit: 58",
        (rewrite("Load limit: 58 t", ("Load limit: 57 t", IN_FIELD)),),
    ),
    "two passages": (
        "the text 'Load 9",
        (rewrite("Load 9 limit 30 t", ("Load 1 limit 57 t", IN_FIELD)),),
    ),
    "a text around a passage that is out of sight": (
        "the text 'Load limit: 30",
        (rewrite("Load limit: 30 t", ("57 t", IN_FIELD)),),
    ),
    "a text around a passage that stands elsewhere": (
        "the text 'Load limit: 30",
        (rewrite("Load limit: 30 t", "Load limit: 57 t"),),
    ),
    "a text that is typed beside the one with the passage": (
        "the text 'Load limit: 30",
        (rewrite("Load limit: 30 t", ("Load limit: 57 t", IN_FIELD), overwrite=False),),
    ),
    "invented text": ("the text 'made up'", (write("made up", "Welcome"),)),
    "an invented answer": ("the text '42'", (look("Welcome", do=Answer(text="42")),)),
    "part of a word": ("the text 'port'", (write("port", "porttitor"),)),
    "part of a word with marks": ("the text 'مح'", (write("مح", "مُحَمَّد"),)),
    "a word with other marks": ("the text 'कि'", (write("कि", "की"),)),
    "a word of another script": ("the text '東京'", (write("東京", "これは日本です"),)),
    "words in another order": (
        "the text 'two one",
        (write("two one four three", "one two three four"),),
    ),
    "white space that nobody sees": ("the text 'Eu '", (write("Eu ", "Eu porttitor"),)),
    "text that comes only after": (
        "the text 'porttitor'",
        (write("porttitor", "Welcome"), press("Eu porttitor")),
    ),
    "text that a dialog says only after": (
        "the text 'tulip'",
        (write("tulip", result_text="The page said: tulip"),),
    ),
    "text where the picture is flat": (
        "the text 'porttitor'",
        (write("porttitor", "Eu porttitor", flat=[LINE]),),
    ),
    "text outside the picture": (
        "the text 'porttitor'",
        (write("porttitor", ("porttitor", (10, 900, 80, 14))),),
    ),
    "a picture that is cut": (
        "the text 'porttitor'",
        (
            look(
                "porttitor", do=Wait(ms=1), screenshot=Screenshot(bytes=b"\xff\xd8", path="x.jpg")
            ),
            write("porttitor", "Welcome"),
        ),
    ),
    "a picture that is missing": (
        "the text 'porttitor'",
        (
            look("porttitor", do=Wait(ms=1), screenshot=Screenshot(bytes=b"", path="x.jpg")),
            write("porttitor", "Welcome"),
        ),
    ),
    "a picture that is cut in the middle": (
        "the text 'porttitor'",
        (
            look(
                *("porttitor", ("Welcome", (10, 390, 80, 9))),
                do=Wait(ms=1),
                screenshot=Screenshot(bytes=picture([LINE, FIELD]).bytes[:1_500], path="x.jpg"),
            ),
            write("porttitor", "Welcome"),
        ),
    ),
    "a sum whose parts are not named": ("the text '12'", (write("12", "3 + 9 ="),)),
    "a sum of what was not in sight": (
        "the text '12'",
        (write("12", "Welcome", thought="5 + 7 = 12, so I type 12."),),
    ),
    "a wrong sum": ("the text '13'", (write("13", "3 + 9 =", thought="3 + 9 = 13."),)),
    "a wrong count": (
        "the text '4'",
        (write("4", *(("", (10 + 30 * n, 40, 12, 12)) for n in range(3)), thought="I count 4."),),
    ),
    "parts that are not named": (
        "the text 'rm a.txt'",
        (write("rm a.txt", "a.txt", ("rm", (10, 30, 90, 14))),),
    ),
    "a part that was not in sight": (
        "the text 'rm a.txt'",
        (write("rm a.txt", "rm", thought="I type 'rm a.txt', since 'rm' is the word."),),
    ),
    "an invented text key by key": (
        "the text 'no'",
        (look(do=Key(key="n")), look(do=Key(key="o"))),
    ),
    "nothing at the point": ("nothing where it points", (press(target=None),)),
    "a target that is covered": (
        "'Submit' on the target",
        (look(do=Click(x=20, y=210), target=at(FIELD, "Submit")),),
    ),
    "a target face down": (
        "'17' on the target",
        (look(("", (40, 40, 30, 30)), do=Click(x=50, y=50), target=at((40, 40, 30, 30), "17")),),
    ),
    "a target whose words are flat": ("'Submit' on the target", (press(flat=[BUTTON]),)),
    "a transparent target": (
        "something drawn where it points",
        (look(do=Click(x=320, y=120), target=at((300, 100, 40, 40))),),
    ),
    "a field without a frame or a word": (
        "something drawn where it points",
        (
            look(
                ("to:", (206, 103, 20, 14)),
                do=Click(x=320, y=110),
                target=Target(tag="input", bbox=(300, 100, 90, 20), visible=1.0),
            ),
        ),
    ),
    "the code of another colour": (
        "the text '1432c8'",
        (write("1432c8", ("", (300, 20, 30, 30)), thought="This colour."),),
    ),
    "a target that is scrolled out": (
        "something drawn where it points",
        (look(do=Hover(x=20, y=399), target=at((10, 500, 40, 40))),),
    ),
    "an option that is not displayed": (
        "the option 'Peru' in the list",
        (
            look(
                ("Chile", (12, 202, 60, 14)),
                ("Peru", (300, 20, 60, 14)),
                do=Select(x=20, y=210, option="Peru"),
                target=at(FIELD, "Chile"),
            ),
        ),
    ),
    "a thought of what is not in sight": (
        "'Delete', which its thought names",
        (press("Welcome", thought="The menu has 'Delete', so I press 'Submit'."),),
    ),
    "a thought of another button": (
        "its thought names 'Welcome' and it points at 'Submit'",
        (press("Welcome", thought="I press 'Welcome'."),),
    ),
    "a card that showed another number": (
        "'17', which its thought names, where it points",
        (
            look(("17", (245, 45, 20, 14)), do=Wait(ms=1)),
            look(
                ("", (40, 40, 30, 30)),
                do=Click(x=55, y=52),
                target=at((40, 40, 30, 30)),
                thought="'17' was here.",
            ),
        ),
    ),
}


@pytest.mark.parametrize("what", BASED)
async def test_what_was_in_sight_is_a_basis(what: str) -> None:
    found = await judge(*BASED[what])

    assert found.reason == f"all that {len(BASED[what])} actions need was in sight before"
    assert (found.status, found.score) == (Status.PASSED, 1.0)


@pytest.mark.parametrize("what", BASELESS)
async def test_what_was_not_in_sight_is_none(what: str) -> None:
    said, steps = BASELESS[what]

    found = await judge(*steps)

    assert found.status is Status.FAILED
    assert said in found.reason
    assert ", and " not in found.reason


async def test_the_evidence_says_which_picture_and_which_box() -> None:
    found = await judge(OPEN, write("Welcome", "Other words"))

    bases = found.evidence["bases"]
    assert isinstance(bases, list)
    assert {"step": 1, "what": "the text 'Welcome'", "picture": 0, "bbox": [*LINE]} in (bases)


async def test_the_score_is_the_share_of_actions_with_a_basis() -> None:
    found = await judge(OPEN, write("made up"), press(), press())

    assert found.score == 0.75
    assert found.evidence["missing"] == [{"step": 1, "what": "the text 'made up'"}]


async def test_a_step_without_sights_is_unsupported_and_says_what_is_missing() -> None:
    found = await judge(OPEN, press().model_copy(update={"sights": None}))

    assert found.status is Status.UNSUPPORTED
    assert "step 1" in found.reason
    assert found.evidence["missing"] == "observations.sights"


async def test_a_page_without_text_is_judged_by_what_is_drawn() -> None:
    found = await judge(
        look(do=Click(x=20, y=210), target=at(FIELD)).model_copy(
            update={"sights": (Sight(text="", bbox=FIELD),)}
        )
    )

    assert found.status is Status.PASSED


async def test_a_text_that_another_replaces_in_the_same_field_needs_no_basis() -> None:
    found = await judge(write("Ada Lovelafe"), rewrite("Ada Lovelace"))
    assert found.status is Status.PASSED


@pytest.mark.parametrize("kept", ["never", "elsewhere", "beside"])
async def test_a_text_that_stays_needs_a_basis_whatever_is_typed_later(kept: str) -> None:
    later = {
        "never": rewrite("Ada Lovelace", overwrite=False),
        "elsewhere": rewrite("Ada Lovelace").model_copy(
            update={"target": at((300.0, 20.0, 30.0, 30.0))}
        ),
        "beside": press(),
    }[kept]
    found = await judge(write("Ada Lovelafe"), later)
    assert found.status is Status.FAILED
    assert "Ada Lovelafe" in found.reason
