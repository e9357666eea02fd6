"""Expressions that refer to one thing in a picture: what they say, and that they mean nothing else."""

import random

import pytest
from support.episodes.referents import inside, middle, referents
from support.episodes.scenes import NAMED, clicking, element, line_of, said_of, written

from generators.training.grounding import PHRASINGS
from generators.training.scene import MAX_LISTED, MAX_QUOTED
from schemas.episodes.episode import Step
from schemas.episodes.observation import Box

OWN = element("Save", (10, 10, 20, 10))


ODD = [element("Odd", (2, top, 20, 8)) for top in (2, 14, 26)]
FIELDS = [element("", (22, top, 30, 8), role="textbox") for top in (2, 14)]
TICKS = [element("", (2, top, 8, 8), role="checkbox") for top in (12, 22, 32)]
DOTS = [element("", (x, y, 6, 6), role="circle") for y in (2, 20, 40) for x in (2, 26, 50)]


@pytest.mark.parametrize(
    ("step", "expression"),
    [
        (clicking(ODD[1], ODD[0], ODD[2]), 'the second "Odd" button from the top'),
        (clicking(ODD[2], *ODD[:2]), "the bottommost button"),
        (clicking(ODD[0], ODD[1], texts=(("7", (30, 3, 5, 6)),)), 'the button to the left of "7"'),
        (clicking(FIELDS[0]), "the only text field"),
        (
            clicking(
                FIELDS[1], FIELDS[0], texts=(("Name", (1, 3, 18, 6)), ("Town", (1, 15, 18, 6)))
            ),
            'the text field to the right of "Town"',
        ),
        (
            clicking(TICKS[1], TICKS[0], TICKS[2], texts=(("Colour", (1, 2, 20, 6)),)),
            'the second checkbox below "Colour"',
        ),
        (
            clicking(DOTS[4], *DOTS[:4], *DOTS[5:]),
            "the second circle from the left in the second row of circles from the top",
        ),
        (clicking(DOTS[0], *DOTS[1:]), "the circle in the top left of the picture"),
        (
            clicking(
                TICKS[1].model_copy(update={"name": "red"}),
                TICKS[0],
                texts=(("red", (12, 22, 9, 8)),),
            ),
            'the checkbox labelled "red"',
        ),
    ],
)
def test_what_has_no_name_of_its_own_is_told_by_kind_place_or_neighbour(
    step: Step, expression: str
) -> None:
    found = {said for n in range(12) for said in line_of(step, attempt=n)["expressions"]}

    assert expression in found


def test_words_are_drawn_by_the_line_alone_and_vary() -> None:
    step = clicking(ODD[0], ODD[1], ODD[2], texts=(("7", (30, 3, 5, 6)),))
    lines = [line_of(step, attempt=n) for n in range(20)]

    assert [line_of(step, attempt=n) for n in range(20)] == lines
    assert len({line["instruction"] for line in lines}) > PHRASINGS
    assert all(len({*line["expressions"]}) == PHRASINGS for line in lines)


def _wrong(step: Step) -> list[str]:
    """Return the expressions of a step's line that mean something else as well, or nothing."""
    lines, _ = written(step)
    out = []
    for line in lines:
        told = [(said, line["box"]) for said in line["expressions"]]
        told += [(other["expression"], other["box"]) for other in line["negatives"]]
        for said, (left, top, right, bottom) in told:
            for loose in (False, True):
                places = referents(step, said, (64, 48), loose=loose)
                box = (left - 1, top - 1, right - left + 2, bottom - top + 2)
                if len(places) != 1 or not inside(box, middle(places[0].box)):
                    out.append(said)
    return out


def _page(draw: random.Random) -> Step:
    """Return a click on a page of things of few kinds, names and places, some of them hidden."""
    places: list[Box] = [
        (x * 10.0 + draw.choice((0, 0, 0, 3)), y * 8.0 + draw.choice((0, 0, 0, 2)), 7.0, 6.0)
        for x in range(6)
        for y in range(6)
    ]
    items, texts = [], []
    for bbox in draw.sample(places, draw.randint(2, 14)):
        role = draw.choice(("button", "checkbox", "textbox", "circle", "text", "div"))
        words = "" if role in ("checkbox", "circle") else draw.choice(("", "A", "B", "A b"))
        if role == "text":
            texts.append((words or "C", bbox))
        else:
            items.append(element(words, bbox, role=role, covered=draw.random() < 0.1))
    items = items or [OWN]
    return clicking(*items, texts=tuple(texts))


def test_every_expression_means_one_thing_wherever_things_stand() -> None:
    draw = random.Random(0)
    pages = [_page(draw) for _ in range(80)]

    assert [said for page in pages for said in _wrong(page)] == []
    assert sum(len(written(page)[0]) for page in pages) > len(pages) / 2


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("the only button", clicking(ODD[0], ODD[1])),
        ("the topmost button", clicking(ODD[1], ODD[0])),
        ('the "Odd" button', clicking(ODD[1], ODD[0])),
    ],
)
def test_the_judge_of_expressions_finds_what_is_wrong(said: str, step: Step) -> None:
    places = referents(step, said, (64, 48), loose=False)

    assert len(places) != 1 or places[0].box != ODD[1].bbox


def test_places_are_not_counted_where_one_of_a_kind_is_not_known_to_show() -> None:
    hidden = element("", (2, 40, 20, 6), role="checkbox")
    step = clicking(TICKS[0], TICKS[1], texts=(("Colour", (1, 2, 20, 6)),))
    more = step.model_copy(update={"elements": (*step.elements, hidden)})

    assert "the topmost checkbox" in said_of(step)
    assert written(more)[1] == {"ambiguous": 1}


def test_rows_are_not_counted_where_things_stand_askew() -> None:
    askew = [element("", (26, 5, 6, 6), role="circle"), *DOTS[3:]]

    assert not any("row" in said for said in said_of(clicking(DOTS[0], *askew)))


@pytest.mark.parametrize("text", ['say "A"', "A" * (MAX_QUOTED + 1), "A\u200b"])
def test_a_text_that_nobody_could_quote_is_not_quoted(text: str) -> None:
    step = clicking(element(text, (2, 2, 20, 8)), texts=((text, (2, 30, 20, 8)),))

    assert said_of(step) == {"the only button"}


def test_a_page_of_which_not_all_is_listed_leaves_names_alone() -> None:
    crowd = [element("", (2, 30, 1, 1), role="img")] * (MAX_LISTED - 1)
    step = clicking(OWN, *crowd)

    assert said_of(step) == NAMED | {'the button that says "Save"'}


GOAL = element("Click the button.", (0, 0, 64, 10), role="div", interactive=False)


def test_what_tells_the_goal_is_neither_meant_nor_a_negative() -> None:
    bold = element("button", (30, 1, 20, 8), role="b", interactive=False)
    step = clicking(ODD[1], bold, element("Even", (2, 30, 20, 8)))
    told = step.model_copy(update={"elements": (GOAL, *step.elements)})
    names = {other["name"] for other in written(step)[0][0]["negatives"]}

    assert names == {"button", "Even"}
    assert {other["name"] for other in written(told)[0][0]["negatives"]} == {"Even"}
    on_it = clicking(bold).model_copy(update={"elements": (GOAL, bold)})
    assert written(on_it)[1] == {"goal": 1}


def test_nothing_is_told_by_a_text_of_the_goal_alone() -> None:
    filled = element("A", (2, 12, 30, 8), role="textbox")
    fields = [element("", (2, top, 30, 8), role="textbox") for top in (22, 32)]
    texts: tuple[tuple[str, Box], ...] = (("A", (2, 2, 8, 6)), ("B", (40, 2, 8, 6)))
    step = clicking(fields[1], filled, fields[0], texts=texts)
    told = step.model_copy(update={"elements": (GOAL, *step.elements)})

    assert {'the third text field below "A"', 'the second text field below "A"'}.isdisjoint(
        said_of(step)
    ), "it stands above all of them, and in the first"
    assert 'the third text field below "B"' not in said_of(told)
    assert "the third text field from the top" in said_of(told)


def test_words_that_a_trainer_takes_for_a_picture_are_escaped() -> None:
    named = element("<image>", (2, 2, 20, 8))
    step = clicking(named, element("<video>", (2, 20, 20, 8)))
    line = line_of(step, attempt=0)
    told = [*line["expressions"], line["instruction"], line["name"]]
    told += [line["negatives"][0][key] for key in ("expression", "name")]

    assert {*line["expressions"]} & {'the button "&#60;image>"', 'the "&#60;image>" button'}
    assert line["negatives"][0]["name"] == "&#60;video>"
    assert not any("<" in one for one in told)
