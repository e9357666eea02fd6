"""Things are brought to where nothing lies over them, and what is read as a whole is brought into sight as a whole."""

from dataclasses import replace

import pytest
from support.browsers.reference_pages import SEEN, Reader, node

from generators.browser.protocol import Node
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import (
    Click,
    Direction,
    Scroll,
)
from schemas.tasks.reference import REFERENCE


def moved(*children: Node, scroll: tuple[float, float, float, float] | None = None) -> Node:
    """A page of 500 by 400 px, with what is on it at their places."""
    return replace(node("html", "", *children, at=None), box=(0, 0, 500, 400), scroll=scroll)


def placed(one: Node, left: float, top: float, width: float, height: float, **style: str) -> Node:
    return replace(one, box=(left, top, width, height), style=style)


MIDDLE = (0.0, 300.0, 500.0, 2000.0)
"""Of a page that goes on above and below."""

BAR = placed(node("div", "We use cookies"), 0, 340, 500, 60, position="fixed")
CORNER = placed(node("div", "How are we doing?"), 380, 300, 110, 90, position="fixed")
HEADER = placed(node("header", "Shop"), 0, 0, 500, 50, position="sticky")


@pytest.mark.parametrize(
    ("over", "top", "wanted"),
    [
        pytest.param(BAR, 330, ("down", 200), id="a bar below"),
        pytest.param(HEADER, 40, ("up", 200), id="a header above"),
        pytest.param(CORNER, 330, None, id="a box beside it"),
        pytest.param(placed(BAR, 0, 0, 500, 400, position="fixed"), 330, None, id="all over"),
        pytest.param(placed(BAR, 0, 340, 500, 60), 330, None, id="what goes along"),
    ],
)
async def test_a_thing_is_brought_out_of_what_lies_over_the_page(
    over: Node, top: float, wanted: tuple[str, int] | None
) -> None:
    policy = ReferencePolicy(REFERENCE.validate_python([{"do": "click", "on": "Go"}]))
    button = placed(node("button", "Go"), 20, top, 80, 20)
    decision = await policy.act(
        PolicyInput("Do it.", (), SEEN, Reader(moved(button, over, scroll=MIDDLE)))
    )

    scroll = decision.action
    told = (scroll.direction.value, scroll.amount) if isinstance(scroll, Scroll) else None
    assert told == wanted


async def test_a_page_that_goes_no_further_is_not_scrolled() -> None:
    policy = ReferencePolicy(REFERENCE.validate_python([{"do": "click", "on": "Go"}]))
    button = placed(node("button", "Go"), 20, 330, 80, 20)
    decision = await policy.act(
        PolicyInput("Do it.", (), SEEN, Reader(moved(button, BAR, scroll=(0, 600, 500, 1000))))
    )

    assert isinstance(decision.action, Click)


LISTED = {
    "the row of a title": node(
        "tr", "", placed(node("a", "Lamp"), 20, 380, 50, 15), node("td", "12 pieces")
    ),
    "the value of a label": node(
        "div", "", placed(node("dt", "Lamp"), 20, 380, 50, 15), node("dd", "12 pieces")
    ),
}


@pytest.mark.parametrize("what", LISTED)
async def test_what_is_read_is_brought_into_sight_as_a_whole(what: str) -> None:
    policy = ReferencePolicy(REFERENCE.validate_python([{"do": "look", "on": "Lamp"}]))
    decision = await policy.act(
        PolicyInput(
            "Do it.", (), SEEN, Reader(moved(placed(LISTED[what], 0, 375, 500, 60), scroll=MIDDLE))
        )
    )

    assert decision.action == Scroll(direction=Direction.DOWN, amount=300)
