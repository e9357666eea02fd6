"""What `seen` says of each thing that an action needs: in which picture it stands, and in which box."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import JsonValue
from support.episodes.factories import make_step

from generators.verify.seen import find_text, missing_basis, needs
from generators.verify.shown import Basis, Picture, Shown, Words
from schemas.episodes.action import Click, Drag, Key, NoAction, Scroll, Select, TypeText, Wait
from schemas.episodes.action import Direction as Way
from schemas.episodes.observation import Element, Target
from schemas.verdicts.verdict import Status


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The episodes of the tests of `seen`."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return import_module("test_seen")


LINE, FIELD = [10.0, 10.0, 120.0, 14.0], [10.0, 200.0, 100.0, 20.0]
ON_FIELD = (0, "something drawn where it points", 0, FIELD)
Found = tuple[int, str, int | None, list[float] | None]

BASES: dict[str, list[Found]] = {
    "a chosen option": [
        (0, "'Peru' on the target", 0, [12.0, 202.0, 60.0, 14.0]),
        (0, "the option 'Peru' in the list", 0, [12.0, 202.0, 60.0, 14.0]),
    ],
    "a card that showed its number": [
        (1, "something drawn where it points", 1, [40.0, 40.0, 30.0, 30.0]),
        (1, "'17', which its thought names", 0, [45.0, 45.0, 20.0, 14.0]),
        (1, "'17', which its thought names, where it points", 0, [45.0, 45.0, 20.0, 14.0]),
    ],
    "the code of a colour": [(0, "the text 'c83214'", 0, [300.0, 20.0, 30.0, 30.0]), ON_FIELD],
    "the code of a colour by name": [(0, "the text 'ffd700'", None, None), ON_FIELD],
    "a count": [(0, "the text '3'", None, None), ON_FIELD],
    "what it puts together": [
        (0, "the text 'rm a.txt'", 0, [10.0, 30.0, 90.0, 14.0]),
        ON_FIELD,
        (0, "'rm', which its thought names", 0, [10.0, 30.0, 90.0, 14.0]),
        (0, "'a.txt', which its thought names", 0, LINE),
    ],
    "a word of an earlier picture": [
        (0, "'Submit' on the target", 0, [10.0, 300.0, 60.0, 20.0]),
        (1, "the text 'porttitor'", 0, LINE),
        (1, "something drawn where it points", 1, FIELD),
    ],
    "a name key by key": [(1, "the text 'tu'", 0, LINE)],
}


@pytest.mark.parametrize("what", BASES)
async def test_each_basis_has_its_picture_and_its_box(told: ModuleType, what: str) -> None:
    found = await told.judge(*told.BASED[what])

    names = ("step", "what", "picture", "bbox")
    assert found.evidence["bases"] == [dict(zip(names, one, strict=True)) for one in BASES[what]]


MISSING = {
    "a target that is covered": "'Submit' on the target",
    "nothing at the point": "there is nothing where it points",
    "a transparent target": "something drawn where it points",
    "an option that is not displayed": "the option 'Peru' in the list",
    "a thought of what is not in sight": "'Delete', which its thought names",
    "a thought of another button": "its thought names 'Welcome' and it points at 'Submit'",
    "a card that showed another number": "'17', which its thought names, where it points",
}


@pytest.mark.parametrize("what", MISSING)
async def test_what_is_missing_is_said_with_its_step(told: ModuleType, what: str) -> None:
    _, steps = told.BASELESS[what]

    found = await told.judge(told.OPEN, *steps)

    assert found.evidence["missing"] == [{"step": len(steps), "what": MISSING[what]}]


async def test_one_thing_that_is_missing_is_said_and_others_are_counted(told: ModuleType) -> None:
    found = await told.judge(told.OPEN, told.write("made up"))
    assert found.reason == "step 1: the text 'made up'"
    found = await told.judge(told.write("made up"), told.write("up made"), told.OPEN)
    assert found.reason == "step 0: the text 'made up', and 1 more"


async def test_an_episode_in_which_nothing_was_done_has_no_score(told: ModuleType) -> None:
    found = await told.judge()

    assert (found.status, found.score) == (Status.PASSED, None)


async def test_every_step_without_sights_is_named(told: ModuleType) -> None:
    blind = told.press().model_copy(update={"sights": None})

    found = await told.judge(told.OPEN, blind, told.press(), blind)

    assert found.evidence == {"missing": "observations.sights", "steps": [1, 3]}


async def test_what_needs_no_sight_has_no_basis(told: ModuleType) -> None:
    idle = (Wait(ms=1), Key(key="Enter"), Scroll(direction=Way.DOWN, amount=5, x=5, y=5))

    found = await told.judge(*[told.look(do=do) for do in idle])

    assert (found.status, found.evidence) == (Status.PASSED, {"missing": [], "bases": []})


LABEL: list[JsonValue] = [266.0, 103.0, 20.0, 14.0]


@pytest.mark.parametrize(("tag", "sound"), [("input", True), ("textarea", True), ("div", False)])
async def test_a_field_without_a_frame_has_the_words_before_it(
    told: ModuleType, tag: str, *, sound: bool
) -> None:
    target = Target(tag=tag, bbox=(300, 100, 90, 20), visible=1.0)
    words = (("a", (256, 103, 8, 14)), ("note", (262, 103, 9, 14)), ("to:", tuple(LABEL)))
    step = told.look(*words, do=Click(x=320, y=110), target=target)

    found = await told.judge(step)

    assert (found.status is Status.PASSED) is sound
    bases = [(one["picture"], one["bbox"]) for one in found.evidence["bases"]]
    assert bases == ([(0, LABEL)] if sound else [])


def element(tag: str, box: tuple[float, float, float, float]) -> Element:
    return Element(
        role="",
        name="",
        tag=tag,
        text="",
        bbox=box,
        interactive=True,
        visible=1,
        covered=False,
    )


@pytest.mark.parametrize(
    ("tag", "box", "sound"),
    [
        ("select", (0, 0, 400, 220), True),
        ("select", (20, 20, 300, 190), True),
        ("select", (0, 20, 20, 190), True),
        ("select", (0, 210, 400, 20), True),
        ("select", (0, 20, 15, 200), False),
        ("ul", (0, 0, 400, 220), False),
        ("select", (21, 0, 379, 220), False),
        ("select", (0, 0, 19, 220), False),
        ("select", (0, 211, 400, 20), False),
        ("select", (0, 0, 400, 209), False),
    ],
)
async def test_an_option_is_in_the_list_that_holds_the_point(
    told: ModuleType, tag: str, box: tuple[float, float, float, float], *, sound: bool
) -> None:
    """The target is a part of the list, and the option stands in another."""
    option = ("Peru", (box[0] + box[2] - 18, box[1] + 3, 16, 14))
    step = told.look(
        *(option, ("Chile", (12, 202, 60, 14))),
        do=Select(x=20, y=210, option="Peru"),
        target=told.at(told.FIELD, "Chile"),
        elements=(element(tag, box),),
    )

    found = await told.judge(step)

    assert (found.status is Status.PASSED) is sound, found.reason
    if sound:
        assert found.evidence["bases"][-1]["bbox"] == [*option[1]]


@pytest.mark.parametrize(
    ("dx", "dy", "sound"),
    [
        *((0, 0, True), (15, 0, True), (0, 15, True), (-15, 0, True), (0, -15, True)),
        *((18, 0, False), (0, 18, False), (-18, 0, False), (0, -18, False)),
    ],
)
async def test_what_is_remembered_stood_near_the_point(
    told: ModuleType, dx: int, dy: int, *, sound: bool
) -> None:
    stood = ("17", (145 + dx, 45 + dy, 20, 14))
    card = (140, 40, 30, 30)

    found = await told.judge(
        told.look(stood, do=Wait(ms=1)),
        told.look(
            ("", card), do=Click(x=155, y=52), target=told.at(card), thought="'17' was here."
        ),
    )

    assert (found.status is Status.PASSED) is sound, found.reason


@pytest.mark.parametrize(
    ("typed", "seen_before", "thought", "sound"),
    [
        ("27", "3 9", "3 * 9 = 27", True),
        ("3", "27 9", "27 / 9 = 3", True),
        ("-6", "3 9", "3 - 9 = -6", True),
        ("6.5", "4 9", "Half of 4 + 9 is 6.5", False),
        ("6", "4 9", "Below the middle of 4 and 9 lies 6", True),
        ("7", "4 9", "Above the middle of 4 and 9 lies 7", True),
        ("0", "5 0", "5 and 0 are there", True),
        ("5 ", "5", "5", False),
        ("007", "7", "7", True),
        ("X7", "7", "7", False),
    ],
)
async def test_a_number_follows_from_two_that_were_in_sight(
    told: ModuleType, typed: str, seen_before: str, thought: str, *, sound: bool
) -> None:
    found = await told.judge(told.write(typed, seen_before, thought=thought))

    named = [one["what"] for one in found.evidence["missing"]]
    assert (f"the text '{typed}'" not in named) is sound, found.reason


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("  two words", True),
        ("\n  two words\n", True),
        ("two words ", False),
        (" words", True),
        ("XX", False),
        ("\ntwo\n", True),
    ],
)
def test_white_space_that_is_typed_stands_so_in_a_text(text: str, *, found: bool) -> None:
    shown = Shown((Words(None, [("Type   two words", None)]),), ())

    assert (find_text(text, "", shown) == Basis(None)) is found


def test_what_an_export_asks_is_the_first_thing_missing(told: ModuleType) -> None:
    step = told.write("made up", "Welcome", thought="I see 'Delete'.")
    shown = Shown((), (Picture(step, scale=1.0),))

    assert missing_basis(step, shown) == "the text 'made up'"
    based = told.write("Welcome", "Welcome")
    assert missing_basis(based, Shown((), (Picture(based, scale=1.0),))) is None
    assert missing_basis(based, Shown((), ())) == "the text 'Welcome'"
    pressed = told.press()
    assert [(one.step, one.what) for one in needs(pressed, Shown((), ()))] == [
        (pressed.step, "the picture of what it points at")
    ]


def test_without_a_picture_nothing_has_a_basis(told: ModuleType) -> None:
    chosen = Select(x=20, y=210, option="Peru")
    steps = [
        told.look(do=chosen, target=told.at(told.FIELD, "Chile")),
        told.look(do=chosen, target=told.at(told.FIELD, "Chile"), thought="It has 'Peru'."),
        told.press(thought="I press 'Submit'."),
    ]

    for step in steps:
        found = list(needs(step, Shown((), ())))
        assert found
        assert [one.basis for one in found] == [None] * len(found)


def test_what_is_told_in_words_needs_no_picture(told: ModuleType) -> None:
    step = told.press(thought="I press 'Submit'.")

    named = list(needs(step, Shown((Words(None, [("Submit", None)]),), ())))[1]

    assert (named.what, named.basis) == ("'Submit', which its thought names", Basis(None))


def test_an_option_of_nothing_has_no_basis(told: ModuleType) -> None:
    step = told.look(do=Select(x=20, y=210, option="Peru"), target=None)

    found = needs(step, Shown((), (Picture(step, scale=1.0),)))

    assert [one.basis for one in found] == [None, None]


def test_words_are_the_same_whatever_parts_them() -> None:
    assert find_text("X two", "", Shown((Words(None, [("X-two", None)]),), ())) == Basis(None)


def test_a_drag_needs_what_it_begins_at_and_a_step_without_an_action_nothing() -> None:
    for action, count in ((Drag(x=1, y=1, to_x=2, to_y=2), 1), (NoAction(), 0)):
        step = make_step(0, picture=0, action=action).model_copy(update={"thought": None})
        assert len(list(needs(step, Shown((), ())))) == count


@pytest.mark.parametrize("sign", ["", "#"])
@pytest.mark.parametrize(("off", "sound"), [(0, True), (8, True), (-8, True), (9, False)])
@pytest.mark.parametrize("channel", [0, 1, 2])
async def test_the_code_of_a_colour_may_be_a_little_off(
    told: ModuleType, channel: int, off: int, sign: str, *, sound: bool
) -> None:
    box = (300, 20, 30, 30)
    drawn = Picture(told.look(("", box), do=Wait(ms=1)), scale=1.0).colour_in(box)
    assert drawn is not None
    drawn[channel] += off
    code = "".join(f"{round(level):02X}" for level in drawn)

    found = await told.judge(told.write(sign + code, ("", box)))

    assert (found.status is Status.PASSED) is sound, found.reason


async def test_a_colour_is_that_of_something_drawn_not_of_words(told: ModuleType) -> None:
    found = await told.judge(told.write("c83214", ("red", (300, 20, 30, 30))))

    assert found.reason == "step 0: the text 'c83214'"


async def test_words_on_a_target_are_found_in_its_own_box(told: ModuleType) -> None:
    """Of a sign that is no word, the box is the target's."""
    box = (10.0, 300.0, 60.0, 20.0)
    for text, where in (("Submit", box), ("→", (10.0, 320.0, 70.0, 30.0))):
        target = Target(tag="div", text=text, bbox=(10, 320, 70, 30), visible=1.0)
        shown = () if text == "Submit" else ((text, (12, 325, 20, 20)),)
        step = told.look(*shown, do=Click(x=20, y=330), target=target)
        found = await told.judge(step)
        bases = [(one["picture"], one["bbox"]) for one in found.evidence["bases"]]
        assert bases == ([(0, [*where])] if text == "→" else []), found.evidence


def test_typing_without_a_point_needs_no_target(told: ModuleType) -> None:
    step = told.look("Welcome", do=TypeText(text="Welcome"))

    assert [one.what for one in needs(step, Shown((), (Picture(step, scale=1.0),)))] == [
        "the text 'Welcome'"
    ]
