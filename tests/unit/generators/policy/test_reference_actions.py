"""What people do beside clicks: each word of a reference becomes that action, and waiting follows from what is in sight."""

import pytest
from support.browsers.reference_pages import AWAY, PAGE, SEEN, Reader, acted, node, scrolled, step
from support.episodes.said import says

from generators.policy.approach import MAX_SCROLLS
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.reference_actions import WAIT_MS, slide
from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Button,
    Click,
    Drag,
    Hover,
    Select,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.errors import RolloutFailure


@pytest.mark.parametrize(
    ("stated", "action"),
    [
        ({"do": "hover", "on": "Add"}, Hover(x=10, y=11)),
        ({"do": "double_click", "on": "Add"}, Click(x=10, y=11, count=2)),
        ({"do": "right_click", "on": "Add"}, Click(x=10, y=11, button=Button.RIGHT)),
        (
            {"do": "enter", "on": "Your name", "text": "Mia"},
            TypeText(x=30, y=31, text="Mia", overwrite=True, enter=True),
        ),
        ({"do": "enter", "text": "Mia"}, TypeText(text="Mia", enter=True)),
        ({"do": "choose", "on": "size", "text": "Large"}, Select(x=50, y=51, option="Large")),
        ({"do": "back"}, Back()),
        ({"do": "tab", "text": "close"}, Tab(operation=TabOperation.CLOSE)),
        ({"do": "tab", "text": "0"}, Tab(operation=TabOperation.SWITCH, index=0)),
    ],
)
async def test_a_word_becomes_its_action(stated: dict[str, str], action: Action) -> None:
    assert await acted(step(**stated)) == [action, Answer()]


async def turns(policy: ReferencePolicy, *pages: object) -> list[Action]:
    seen = [PolicyInput("Do it.", (), SEEN, Reader(page)) for page in pages]  # type: ignore[arg-type]
    return [(await policy.act(turn)).action for turn in seen]


async def test_a_wait_goes_on_for_as_long_as_the_page_says_so() -> None:
    busy, done = node("body", "", node("p", "Searching…")), PAGE
    steps = step(do="wait", on="Searching…"), step(do="click", on="Add")

    taken = await turns(ReferencePolicy(steps), busy, busy, done)

    assert taken == [Wait(ms=WAIT_MS), Wait(ms=WAIT_MS), Click(x=10, y=11)]


async def test_a_wait_says_each_time_why() -> None:
    busy = PolicyInput("Do it.", (), SEEN, Reader(node("body", "", node("p", "Searching…"))))
    policy = ReferencePolicy((step(do="wait", on="Searching…", why="It is not there yet."),))

    first, again = [(await policy.act(busy)).thought for _ in range(2)]

    assert first == "It is not there yet."
    assert says(again, "policy.waits_on", on="Searching…")


async def test_nothing_is_waited_for_that_is_not_in_sight() -> None:
    below = scrolled(node("body", "", node("p", "Searching…", at=AWAY, top=900.0), PAGE))

    (taken,) = await turns(
        ReferencePolicy((step(do="wait", on="Searching…"), step(do="click", on="Add"))), below
    )

    assert taken == Click(x=10, y=11)


async def test_a_wait_without_an_end_is_a_failure() -> None:
    busy = PolicyInput("Do it.", (), SEEN, Reader(node("body", "", node("p", "Searching…"))))
    policy = ReferencePolicy((step(do="wait", on="Searching…"),))
    taken = [(await policy.act(busy)).action for _ in range(MAX_SCROLLS)]

    with pytest.raises(RolloutFailure, match="cannot be brought into sight"):
        await policy.act(busy)
    assert {*map(type, taken)} == {Wait}


async def test_it_goes_back_until_what_it_looks_for_is_in_sight() -> None:
    alone = node("body", "", node("h1", "Lamp"), node("h2", "Add"))  # words alone are of no use
    steps = step(do="back", on="Add"), step(do="click", on="Add")

    taken = await turns(ReferencePolicy(steps), alone, alone, PAGE)

    assert taken == [Back(), Back(), Click(x=10, y=11)]


@pytest.mark.parametrize(("direction", "to_x"), [("ltr", 92.0), ("rtl", 8.0)])
def test_a_handle_is_dragged_from_where_it_stands(direction: str, to_x: float) -> None:
    slider = node("input", "", type="range", min="0", max="10")
    slider.box, slider.value = (0.0, 40.0, 100.0, 20.0), "5"

    drag = slide(slider, "10", right_to_left=direction == "rtl")

    assert drag == Drag(x=50.0, y=50.0, to_x=to_x, to_y=50.0)


async def test_a_slide_is_a_drag_of_its_slider() -> None:
    slider = node("input", "", type="range", min="0", max="10", aria_label="Hours")
    slider.box, slider.value = (0.0, 40.0, 100.0, 20.0), "0"

    taken = await acted(step(do="slide", on="Hours", text="5"), root=node("body", "", slider))

    assert taken[0] == Drag(x=8.0, y=50.0, to_x=50.0, to_y=50.0)
