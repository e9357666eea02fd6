"""What changed in the fields of a page between two steps, and which later step took it back."""

from typing import Any

import pytest
from support.episodes.factories import make_step

from generators.verify.changes import Edit, aimed_at, edits, marks_text, taken_back
from schemas.episodes.action import Action, Click, Drag, Hover, Key, Select, TypeText
from schemas.episodes.episode import Step
from schemas.episodes.observation import Box, Element, Target


def field(
    value: str | None, *, tag: str = "input", frame: str | None = None, box: Box = (0, 0, 9, 9)
) -> Element:
    return Element(
        role="",
        name="",
        tag=tag,
        text="",
        bbox=box,
        value=value,
        interactive=True,
        visible=1,
        covered=False,
        frame=frame,
    )


def edit(key: tuple[str | None, str, int], before: str, after: str) -> Edit:
    """Return a change of a field that stands alone."""
    return Edit(key, before, after, field(before))


def step(*fields: Element, do: Action | None = None, **changes: Any) -> Step:
    made = make_step(0, picture=0, action=do or Click(x=1, y=1))
    return made.model_copy(update={"elements": fields, "target": None, **changes})


def test_a_field_is_known_by_its_frame_its_tag_and_its_place() -> None:
    first = ("1", "2", "3", "4", "5")
    after = ("1", "b", "c", "4", "e")

    def page(values: tuple[str, ...]) -> Step:
        one, two, three, four, five = values
        return step(
            field(one),
            field(None, tag="a"),
            field(two),
            field(three, tag="select"),
            field(four, frame="f"),
            field(five),
        )

    assert edits(page(first), page(after)) == (
        Edit((None, "input", 1), "2", "b", field("2")),
        Edit((None, "select", 0), "3", "c", field("3", tag="select")),
        Edit((None, "input", 2), "5", "e", field("5")),
    )
    assert edits(page(first), page(first)) == ()
    assert edits(page(first), step(field("1"))) == ()


ONE, OTHER = (None, "input", 0), (None, "input", 1)
OWN = edit(ONE, "", "anna")
BUTTON = Target(tag="button")

LATER: dict[str, tuple[Action, Edit | None, Target | None, bool]] = {
    "the value before, by a key": (Key(key="Delete"), edit(ONE, "anna", ""), None, True),
    "the value before, by Enter": (Key(key="Enter"), edit(ONE, "anna", ""), None, False),
    "the value before, by the other Enter": (
        Key(key="NumpadEnter"),
        edit(ONE, "anna", ""),
        None,
        False,
    ),
    "emptied by a click": (Click(x=1, y=1), edit(ONE, "anna", ""), None, False),
    "written over": (TypeText(text="bo"), edit(ONE, "anna", "bo"), None, True),
    "written on": (TypeText(text="bel"), edit(ONE, "anna", "annabel"), None, False),
    "emptied as it was sent": (TypeText(text="x", enter=True), edit(ONE, "anna", ""), None, True),
    "another field": (TypeText(text="bo"), edit(OTHER, "anna", "bo"), None, False),
}


@pytest.mark.parametrize(("do", "change", "target", "back"), LATER.values(), ids=LATER.keys())
def test_a_text_is_taken_back_by_what_writes_over_it(
    do: Action, change: Edit, target: Target | None, *, back: bool
) -> None:
    own = step(do=TypeText(text="anna"))
    later = [(step(do=do, target=target), (edit(OTHER, "1", "2"), change))]

    assert taken_back(own, [OWN], later) is back


@pytest.mark.parametrize(
    ("do", "before", "after", "back"),
    [
        (TypeText(text="x"), "x", "", True),
        (TypeText(text="x", enter=True), "x", "", False),
        (Select(x=1, y=1, option="a"), "b", "a", True),
        (Drag(x=1, y=1, to_x=2, to_y=2), "b", "a", True),
        (Click(x=1, y=1), "false", "true", True),
        (Click(x=1, y=1), "x", "", False),
        (Hover(x=1, y=1), "x", "a", False),
    ],
)
def test_a_value_is_given_back_by_a_step_that_acts_on_the_field(
    do: Action, before: str, after: str, *, back: bool
) -> None:
    """What was set is `before`, and what stood there earlier `after`; nothing writes over it."""
    own = edit(ONE, after, before)
    restored = edit(ONE, "other", after)

    assert taken_back(step(), [own], [(step(do=do), (restored,))]) is back


@pytest.mark.parametrize(
    ("between", "target", "back"),
    [
        (None, None, True),
        (None, BUTTON, False),
        (None, Target(tag="div", role="button"), False),
        (None, Target(tag="div"), True),
        (edit(ONE, "anna", "other"), None, False),
        (edit(ONE, "anna", "annabel"), None, True),
    ],
)
def test_what_happens_between_decides(
    between: Edit | None, target: Target | None, *, back: bool
) -> None:
    """A button was pressed, or the page changed the text: it had been tried."""
    changes = () if between is None else (between,)
    later = [
        (step(do=Click(x=1, y=1), target=target), changes),
        (step(do=Key(key="Delete")), (edit(ONE, "anna", ""),)),
    ]

    assert taken_back(step(do=TypeText(text="anna")), [OWN], later) is back


def test_a_box_that_was_checked_anew_is_followed_on() -> None:
    own = edit(ONE, "false", "true")
    later = [
        (step(do=Hover(x=1, y=1)), (edit(ONE, "true", "mixed"),)),
        (step(do=Click(x=1, y=1)), (edit(ONE, "mixed", "false"),)),
    ]

    assert taken_back(step(), [own], later)
    assert not taken_back(step(), [own], [])
    assert not taken_back(step(), [], later)
    assert not taken_back(step(do=Hover(x=1, y=1)), [own], later)


@pytest.mark.parametrize(
    ("target", "marks"),
    [(None, True), (Target(tag="p"), True), (Target(tag="canvas"), False)],
)
def test_a_drawing_is_no_text_that_was_marked(target: Target | None, *, marks: bool) -> None:
    assert marks_text(step(target=target), step()) is marks


@pytest.mark.parametrize(
    ("x", "y", "there"),
    [
        *((10, 30, True), (9, 30, False), (30, 30, True), (31, 30, False)),
        *((20, 25, True), (20, 24, False), (20, 35, True), (20, 36, False)),
    ],
)
def test_an_element_holds_its_edges(x: int, y: int, *, there: bool) -> None:
    one = field(None, box=(10, 25, 20, 10))

    assert aimed_at(step(one, do=Click(x=x, y=y))) == (one if there else None)


def test_of_nested_elements_the_smallest_is_aimed_at() -> None:
    small, wide, high = (field(None, box=(0, 0, *size)) for size in ((9, 9), (90, 5), (5, 90)))

    for elements in ((small, wide, high), (high, wide, small), (wide, small, high)):
        assert aimed_at(step(*elements)) is small
