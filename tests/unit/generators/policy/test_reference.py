"""Things are found by the words on them or beside them, and acted on by pixels and keys."""

from dataclasses import dataclass

import pytest
from factories import make_screenshot

from generators.browser.protocol import Node
from generators.policy.protocol import PolicyInput
from generators.policy.reference import MAX_SCROLLS, ReferencePolicy, find
from schemas.action import Action, Answer, Click, Direction, Goto, Key, Scroll, Select, TypeText
from schemas.errors import FailureKind, RolloutFailure
from schemas.observation import Observation, PageState
from schemas.reference import REFERENCE, ReferenceStep

AWAY = None
"""The point of what is out of sight."""

SEEN = Observation(
    screenshot=make_screenshot(1),
    width=64,
    height=48,
    page=PageState(url="http://shop.localhost/shop", title="", scroll_x=0, scroll_y=0),
    observe_ms=0,
)


def node(
    tag: str,
    text: str = "",
    *children: Node,
    at: tuple[float, float] | None = (1.0, 2.0),
    shown: bool = True,
    top: float = 0.0,
    **attrs: str,
) -> Node:
    inside = " ".join([text, *(child.text for child in children)]).strip()
    return Node(
        tag=tag,
        attrs={name.rstrip("_"): value for name, value in attrs.items()},
        text=inside,
        own_text=text,
        box=(0.0, top, 10.0, 10.0),
        point=at,
        shown=shown,
        style={},
        inner=(500.0, 400.0),
        children=list(children),
    )


PAGE = node(
    "body",
    "",
    node("p", "Add what you like"),
    node("tr", "", node("td", "Lamp"), node("button", "Add", at=(10.0, 11.0))),
    node("tr", "", node("td", "Table lamp"), node("button", "Add", at=(20.0, 21.0))),
    node("label", "Your name", for_="who"),
    node("input", "", at=(30.0, 31.0), id="who"),
    node("input", "", at=(40.0, 41.0), placeholder="Search"),
    node("select", "Small Large", at=(50.0, 51.0), name="size"),
    node("select", "Small Large", at=(50.0, 51.0), name="one size", size="1"),
    node("select", "Small Large", at=(60.0, 61.0), name="sizes", size="4"),
    node("input", "", at=(70.0, 71.0), type="search", value="Lamp shades"),
    node("input", "", at=(80.0, 81.0), type="submit", value="Lamp shades"),
    node("button", "Hidden", shown=False),
)


@dataclass
class Reader:
    root: Node

    async def read(self) -> Node:
        return self.root


def step(**stated: str) -> ReferenceStep:
    (one,) = REFERENCE.validate_python([stated])
    return one


async def acted(*steps: ReferenceStep, root: Node = PAGE) -> list[Action]:
    policy = ReferencePolicy(steps)
    turn = PolicyInput("Do it.", (), SEEN, Reader(root))
    return [(await policy.act(turn)).action for _ in range(len(steps) + 1)]


@pytest.mark.parametrize(
    ("stated", "action"),
    [
        ({"do": "click", "on": "Add"}, Click(x=10, y=11)),
        ({"do": "click", "on": "add", "within": "Table lamp"}, Click(x=20, y=21)),
        (
            {"do": "type", "on": "Your name", "text": "Mia"},
            TypeText(x=30, y=31, text="Mia", overwrite=True),
        ),
        (
            {"do": "type", "on": "search", "text": "x"},
            TypeText(x=40, y=41, text="x", overwrite=True),
        ),
        ({"do": "select", "on": "sizes", "text": "Large"}, Select(x=60, y=61, option="Large")),
        (
            {"do": "type", "on": "#who", "text": "Mia"},
            TypeText(x=30, y=31, text="Mia", overwrite=True),
        ),
        ({"do": "click", "on": "Lamp shades"}, Click(x=80, y=81)),
        ({"do": "press", "text": "Enter"}, Key(key="Enter")),
        ({"do": "open", "text": "/basket"}, Goto(url="http://shop.localhost/basket")),
        ({"do": "answer", "text": "12"}, Answer(text="12")),
    ],
)
async def test_a_step_becomes_an_ordinary_action(stated: dict[str, str], action: Action) -> None:
    turn = PolicyInput("Do it.", (), SEEN, Reader(PAGE))

    assert (await ReferencePolicy([step(**stated)]).act(turn)).action == action


@pytest.mark.parametrize("name", ["size", "one size"])
async def test_a_list_that_shows_one_option_is_opened_and_told_the_name_by_keys(name: str) -> None:
    policy = ReferencePolicy([step(do="select", on=name, text="Large"), step(do="click", on="Add")])
    turn = PolicyInput("Do it.", (), SEEN, Reader(PAGE))

    assert [(await policy.act(turn)).action for _ in range(4)] == [
        Click(x=50, y=51),
        TypeText(text="Large"),
        Key(key="Enter"),
        Click(x=10, y=11),
    ]


async def test_after_the_last_step_an_empty_answer_is_given() -> None:
    assert (await acted(step(do="click", on="Add")))[1] == Answer()


@pytest.mark.parametrize(
    "stated",
    [
        {"do": "click", "on": "Remove"},
        {"do": "click", "on": "Add", "within": "Kettle"},
        {"do": "click", "on": "Hidden"},
        {"do": "type", "on": "Add", "text": "x"},
        {"do": "click", "on": "#whom"},
        {"do": "click", "on": "who"},
    ],
)
async def test_what_the_page_does_not_show_fails_the_policy_by_name(stated: dict[str, str]) -> None:
    with pytest.raises(RolloutFailure, match=f"step 1 .* no '{stated['on']}'") as caught:
        await acted(step(**stated))

    assert caught.value.kind is FailureKind.POLICY


async def test_what_is_out_of_sight_is_scrolled_to_and_given_up_if_it_does_not_come() -> None:
    below = node("body", "", node("button", "Order", at=AWAY, top=1_000.0))
    above = node("body", "", node("button", "Order", at=AWAY, top=-1_000.0))
    policy = ReferencePolicy([step(do="click", on="Order")])
    turn = PolicyInput("Do it.", (), SEEN, Reader(below))

    first = (await policy.act(turn)).action
    assert first == Scroll(direction=Direction.DOWN, amount=805)
    upwards = await ReferencePolicy([step(do="click", on="Order")]).act(
        PolicyInput("Do it.", (), SEEN, Reader(above))
    )
    assert upwards.action == Scroll(direction=Direction.UP, amount=1_195)
    for _ in range(MAX_SCROLLS - 1):
        await policy.act(turn)
    with pytest.raises(RolloutFailure, match="'Order' cannot be brought into sight"):
        await policy.act(turn)


def test_exact_words_go_before_a_part_and_what_is_acted_on_before_other_text() -> None:
    page = node(
        "body",
        "",
        node("p", "Order"),
        node("a", "order", at=(5.0, 5.0)),
        node("a", "Order history", at=(3.0, 3.0)),
        node("button", "Order", at=(4.0, 4.0)),
    )

    exact = find(page, step(do="click", on="Order"))
    part = find(page, step(do="click", on="history"))

    assert exact is not None
    assert exact.point == (4.0, 4.0)
    assert part is not None
    assert part.point == (3.0, 3.0)
