"""The `grounding` format: what is meant, where it is, and what is not meant."""

from collections import Counter
from typing import Any

import pytest
from support.episodes.factories import make_step
from support.episodes.scenes import NAMED, clicking, element, said_of, written

from generators.training.grounding import ALIKE, NEAR
from schemas.episodes.action import Action, Click, Direction, Scroll, Select, TypeText, Wait
from schemas.episodes.episode import Actor, Step
from schemas.episodes.observation import Box, Element, Sight, Target

SAVE = Target(tag="button", role="button", name="Save", bbox=(10, 10, 20, 10))


OWN = element("Save", (10, 10, 20, 10))


def pointing(
    *elements: Element,
    action: Action | None = None,
    target: Target | None = SAVE,
    **more: object,
) -> Step:
    """Return a step that clicks the middle of the button `Save`."""
    step = make_step(0, picture=1, action=action or Click(x=20, y=15))
    return step.model_copy(update={"elements": (OWN, *elements), "target": target, **more})


def sights(*shown: tuple[str, Box]) -> dict[str, Any]:
    """Return what a picture shows: the button's words, and what is said."""
    told = (("Save", (10.0, 10.0, 20.0, 10.0)), *shown)
    return {"sights": tuple(Sight(text=text, bbox=box) for text, box in told)}


def test_a_click_is_words_a_point_and_a_box() -> None:
    [line], _ = written(pointing())

    assert line["instruction"] == f"Click {line['expressions'][0]}"
    assert {*line["expressions"]} == NAMED | {'the button labelled "Save"'}
    assert line["by"] == "name"
    assert line["goal"] == "Click the button."
    assert (line["width"], line["height"]) == (64, 48)
    assert line["point"] == [20, 15]
    assert line["box"] == [10, 10, 30, 20]
    assert line["point_norm"] == [0.3125, 0.3125]
    assert line["box_norm"] == [0.15625, 0.20833, 0.46875, 0.41667]


def test_places_are_pixels_of_the_picture_whatever_css_pixels_are() -> None:
    [line], _ = written(pointing(), scale=2)

    assert line["point"] == [40, 30]
    assert line["box"] == [20, 20, 60, 40]
    assert line["point_norm"] == [0.3125, 0.3125]


def test_a_box_ends_where_the_picture_does() -> None:
    wide = SAVE.model_copy(update={"bbox": (-5, 10, 500, 10)})
    [line], _ = written(pointing(target=wide))

    assert line["box"] == [0, 10, 64, 20]


def test_negatives_are_alike_or_near_and_never_what_is_meant() -> None:
    form = element("Everything", (0, 0, 64, 48), role="form")
    far, near = element("Cancel", (40, 30, 10, 10)), element("Delete", (32, 10, 10, 10))
    label = element("Title", (10, 22, 20, 5), role="heading", interactive=False)
    hidden = element("Ghost", (33, 12, 5, 5), covered=True)
    [line], _ = written(pointing(form, far, label, hidden, near))

    assert [(item["why"], item["name"]) for item in line["negatives"]] == [
        ("alike", "Delete"),
        ("alike", "Cancel"),
        ("near", "Title"),
    ]
    assert line["negatives"][0]["box"] == [32, 10, 42, 20]


def test_there_are_never_too_many_negatives() -> None:
    crowd = [element(f"Button {n}", (31 + n, 30, 1, 1)) for n in range(30)]
    links = [element(f"Link {n}", (31 + n, 35, 1, 1), role="link") for n in range(30)]
    [line], _ = written(pointing(*crowd, *links))

    assert Counter(item["why"] for item in line["negatives"]) == {"alike": ALIKE, "near": NEAR}


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (pointing(element("Save", (40, 30, 10, 10))), "ambiguous"),
        (pointing(target=SAVE.model_copy(update={"name": None}), elements=()), "unseen"),
        (pointing(target=SAVE.model_copy(update={"bbox": None})), "without_box"),
        (pointing(target=SAVE.model_copy(update={"bbox": (40, 40, 5, 5)})), "without_box"),
        (pointing(target=SAVE.model_copy(update={"bbox": (20, 15, 0, 0)})), "without_box"),
        (pointing(element(" Save ", (40, 30, 10, 10))), "ambiguous"),
        (pointing(sights=()), "unseen"),
        (
            clicking(element("", (0, 0, 60, 40), role="div"), element("A", (2, 2, 9, 9))),
            "of_several",
        ),
        (pointing(element("More", (11, 11, 4, 4))), "of_several"),
        (
            pointing(
                action=Select(x=20, y=15, option="Peru"),
                target=Target(tag="option", role="option", name="Chile", bbox=(10, 10, 20, 10)),
            ),
            "another_option",
        ),
    ],
)
def test_a_step_that_means_no_one_place_is_left_out_and_counted(step: Step, why: str) -> None:
    assert written(step) == ([], {why: 1})


@pytest.mark.parametrize(
    "step",
    [
        pointing(action=Wait()),
        pointing(action=TypeText(text="a")),
        pointing(action=Scroll(direction=Direction.DOWN, amount=10, x=20, y=15)),
        pointing(target=None),
        pointing(action_error="covered"),
        pointing(actor=Actor.USER),
    ],
)
def test_a_step_that_points_at_nothing_is_none_of_its_business(step: Step) -> None:
    assert written(step) == ([], {})


def test_an_option_is_asked_for_where_it_is_what_is_chosen() -> None:
    option = Target(tag="option", role="option", name="Chile", bbox=(10, 10, 20, 10))
    choose = Select(x=20, y=15, option="Chile")

    assert len(written(pointing(action=choose, target=option))[0]) == 1
    listed = option.model_copy(update={"tag": "select"})
    other = Select(x=20, y=15, option="Peru")
    assert len(written(pointing(action=other, target=listed))[0]) == 1


def test_controls_within_are_others_only_if_they_say_something_else() -> None:
    icon, same = element("", (11, 11, 4, 4)), element("Save", (12, 11, 9, 9))
    plain = element("More", (11, 11, 4, 4), interactive=False)

    assert written(pointing(icon, same, plain))[1] == {"lines": 1}


def test_negatives_are_named_by_what_is_in_sight() -> None:
    face_down, shown = element("17", (40, 30, 10, 10)), element("Close", (32, 10, 8, 8))
    beside = element("red", (40, 10, 8, 8), role="checkbox")
    told = sights(("x", (33.0, 11.0, 4.0, 4.0)), ("red", (50.0, 10.0, 8.0, 8.0)), ("", beside.bbox))
    [line], _ = written(pointing(face_down, shown, beside, **told))

    named = {(item["kind"], item["name"]) for item in line["negatives"]}
    assert named == {("button", "x"), ("text", "red"), ("checkbox", "red")}


def test_a_name_that_nobody_sees_makes_nothing_ambiguous() -> None:
    ghost = element("Save", (40, 30, 10, 10))
    told = sights(("Close", (41.0, 31.0, 8.0, 8.0)))

    assert said_of(pointing(ghost, **told)) >= NAMED


def test_what_is_alike_by_name_but_of_another_kind_is_a_negative() -> None:
    [line], _ = written(pointing(element("Save", (40, 30, 10, 10), role="link")))

    assert [(item["role"], item["name"]) for item in line["negatives"]] == [("link", "Save")]


def test_neither_a_part_of_what_is_meant_nor_its_label_is_a_negative() -> None:
    icon = element("", (22, 12, 6, 6), role="img", interactive=False)
    label = element("Save", (32, 10, 10, 10), role="label")
    other = element("Title", (32, 22, 10, 10), role="label")
    [line], _ = written(pointing(icon, label, other))

    assert [(item["role"], item["name"]) for item in line["negatives"]] == [("label", "Title")]
