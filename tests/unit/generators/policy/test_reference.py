"""Things are found by the words on them or beside them, and acted on by pixels and keys."""

import pytest
from support.browsers.reference_pages import AWAY, PAGE, SEEN, Reader, acted, node, scrolled, step
from support.episodes.said import says

from generators.browser.protocol import Node
from generators.policy.named_elements import find
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import (
    Action,
    Answer,
    Click,
    Direction,
    Drag,
    DropFile,
    Goto,
    Hover,
    Key,
    Scroll,
    Select,
    TypeText,
)
from schemas.episodes.episode import ThoughtSource
from schemas.errors import FailureKind, RolloutFailure


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
        (
            {"do": "type", "on": "Note", "text": "x"},
            TypeText(x=90, y=91, text="x", overwrite=True),
        ),
        (
            {"do": "drag", "on": "Lamp", "text": "Note"},
            Drag(x=1, y=2, to_x=90, to_y=91),
        ),
        ({"do": "drop", "on": "Note", "text": "a.txt"}, DropFile(x=90, y=91, name="a.txt")),
        ({"do": "click", "on": "Lamp shades"}, Click(x=80, y=81)),
        ({"do": "type", "text": "Mia"}, TypeText(text="Mia")),
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


async def test_of_a_closed_list_nothing_but_the_wanted_name_decides_the_keys() -> None:
    options = [node("option", f"Size {n}", shown=False) for n in range(9)]
    page = node("body", "", node("select", "", *options, at=(50.0, 51.0), name="size"))
    policy = ReferencePolicy([step(do="select", on="size", text="Size 2")])
    turn = PolicyInput("Do it.", (), SEEN, Reader(page))

    actions = [(await policy.act(turn)).action for _ in range(3)]

    assert actions == [Click(x=50, y=51), TypeText(text="Size 2"), Key(key="Enter")]


async def test_after_the_last_step_an_empty_answer_is_given() -> None:
    assert (await acted(step(do="click", on="Add")))[1] == Answer()


@pytest.mark.parametrize(
    "stated",
    [
        {"do": "click", "on": "Remove"},
        {"do": "click", "on": "Add", "within": "Kettle"},
        {"do": "click", "on": "Hidden"},
        {"do": "type", "on": "Add", "text": "x"},
        {"do": "type", "on": "Fixed", "text": "x"},
        {"do": "type", "on": "Old words", "text": "x"},
        {"do": "drag", "on": "Hidden", "text": "Add"},
        {"do": "click", "on": "#whom"},
        {"do": "click", "on": "who"},
    ],
)
async def test_what_the_page_does_not_show_fails_the_policy_by_name(stated: dict[str, str]) -> None:
    with pytest.raises(RolloutFailure, match=f"step 1 .* no '{stated['on']}'") as caught:
        await acted(step(**stated))

    assert caught.value.kind is FailureKind.POLICY


async def test_the_pointer_is_moved_off_what_opened_over_a_thing_where_nothing_scrolls() -> None:
    def page(*, is_open: bool) -> Node:
        menu = node("nav", "Help", node("a", "Close"))
        menu.style, menu.box = {"position": "absolute"}, (0.0, 0.0, 90.0, 90.0)
        order = node("button", "Order", at=AWAY if is_open else (1.0, 2.0), key=1)
        parts = [node("h1", "Lamp", at=(9.0, 8.0)), node("a", "Menu"), order]
        return scrolled(node("body", "", *parts, *([menu] if is_open else [])), height=400.0)

    steps = [step(do="click", on="Menu"), step(do="click", on="Order", why="I order it.")]
    policy = ReferencePolicy(steps)
    taken = [
        await policy.act(PolicyInput("Do it.", (), SEEN, Reader(page(is_open=is_open))))
        for is_open in (False, True, False)
    ]

    assert [one.action for one in taken[1:]] == [Hover(x=9, y=8), Click(x=1, y=2)]
    assert says(taken[1].thought, "policy.covered", on="Lamp")
    assert "I order it." in (taken[2].thought or "")


async def test_what_is_in_sight_in_part_is_scrolled_to_as_far_as_it_comes() -> None:
    cut = scrolled(node("body", "", node("button", "Order", at=(5.0, 398.0), top=395.0, key=1)))
    nearer = scrolled(node("body", "", node("button", "Order", at=(5.0, 396.0), top=394.0, key=1)))
    policy = ReferencePolicy([step(do="click", on="Order")])
    taken = [
        (await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))).action
        for root in (cut, nearer, nearer)
    ]

    assert taken == [
        Scroll(direction=Direction.DOWN, amount=300),
        Scroll(direction=Direction.DOWN, amount=300),
        Click(x=5, y=396),
    ]


async def test_what_is_in_a_part_that_scrolls_by_itself_is_scrolled_to_over_that_part() -> None:
    button = node("button", "Order", at=AWAY, top=300.0)
    panel = node("aside", "", button, top=40.0)
    panel.box, panel.inner, panel.scroll = (
        (100.0, 40.0, 200.0, 160.0),
        (200.0, 160.0),
        (0, 0, 200, 500),
    )
    panel.style = {"overflow-y": "auto"}
    policy = ReferencePolicy([step(do="click", on="Order")])

    first = await policy.act(PolicyInput("Do it.", (), SEEN, Reader(node("body", "", panel))))

    assert first.action == Scroll(direction=Direction.DOWN, amount=100, x=200, y=120)


async def test_a_native_field_of_a_date_is_typed_from_its_first_part_on() -> None:
    root = node("body", "", node("input", "", at=(250.0, 5.0), type="date", name="due"))
    policy = ReferencePolicy((step(do="type", on="due", text="03/09/2026"),))
    decision = await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))

    assert decision.action == TypeText(x=18.0, y=5.0, text="03/09/2026", overwrite=True)


async def test_what_lies_over_the_page_is_not_scrolled_by_what_is_around_it() -> None:
    day = node("button", "9", at=(1.0, 390.0), top=385.0)
    part = node("div", "", node("div", "", day, popover="manual"))
    part.style["overflow-y"] = "auto"
    part.scroll = (0.0, 0.0, 10.0, 900.0)
    part.inner = (10.0, 10.0)
    policy = ReferencePolicy((step(do="click", on="9"),))
    decision = await policy.act(PolicyInput("Do it.", (), SEEN, Reader(node("body", "", part))))

    assert decision.action == Click(x=1.0, y=390.0)


async def test_a_look_scrolls_to_what_is_out_of_sight_and_does_nothing_else() -> None:
    away = scrolled(node("body", "", node("p", "Total", at=AWAY, top=900.0), node("button", "Add")))
    policy = ReferencePolicy(
        [step(do="look", on="Total", why="I read on."), step(do="click", on="Add")]
    )
    taken = [
        await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))
        for root in (away, node("body", "", node("p", "Total"), node("button", "Add")))
    ]

    assert [type(one.action) for one in taken] == [Scroll, Click]
    assert taken[0].thought == "I read on."


async def test_a_look_goes_no_further_where_nothing_more_comes_into_sight() -> None:
    away = scrolled(
        node(
            "body", "", node("p", "Total", at=(1.0, 398.0), top=395.0, key=1), node("button", "Add")
        )
    )
    taken = await acted(step(do="look", on="Total"), step(do="click", on="Add"), root=away)

    assert [type(one) for one in taken] == [Scroll, Click, Answer]


async def test_a_drag_waits_until_both_of_its_ends_are_in_sight() -> None:
    card = node("li", "Lamp", at=(5.0, 6.0))
    below = scrolled(node("body", "", card, node("section", "Done", at=AWAY, top=1_000.0)))
    seen = node("body", "", card, node("section", "Done", at=(7.0, 8.0)))
    policy = ReferencePolicy([step(do="drag", on="Lamp", text="Done")])

    first = await policy.act(PolicyInput("Do it.", (), SEEN, Reader(below)))
    second = await policy.act(PolicyInput("Do it.", (), SEEN, Reader(seen)))

    assert first.action == Scroll(direction=Direction.DOWN, amount=300)
    assert second.action == Drag(x=5, y=6, to_x=7, to_y=8)


async def test_what_is_dragged_nowhere_fails_the_policy() -> None:
    with pytest.raises(RolloutFailure, match=r"step 1 .* no 'Kettle'"):
        await acted(step(do="drag", on="Lamp", text="Kettle"))


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


def test_a_place_that_has_the_words_alone_goes_before_one_that_has_more() -> None:
    page = node(
        "body",
        "",
        node("fieldset", "", node("legend", "Paid by"), node("label", "Yes", at=(1.0, 1.0))),
        node("fieldset", "", node("legend", "Paid"), node("label", "Yes", at=(2.0, 2.0))),
    )

    exact = find(page, step(do="click", on="Yes", within="Paid"))
    part = find(page, step(do="click", on="Yes", within="paid by"))

    assert exact is not None
    assert exact.point == (2.0, 2.0)
    assert part is not None
    assert part.point == (1.0, 1.0)


def test_what_has_the_role_of_something_to_act_on_goes_before_what_is_around_it() -> None:
    option = node("li", "Large", at=(2.0, 2.0), role="option")
    page = node("body", "", node("div", "", node("ul", "", option, role="listbox"), at=(1.0, 1.0)))

    found = find(page, step(do="click", on="Large"))

    assert found is option


async def test_an_action_has_the_thought_of_its_step() -> None:
    steps = (
        step(do="click", on="Add", why="I add it."),
        step(do="click", on="Add"),
        step(do="answer", text="", why="It is done."),
    )
    policy = ReferencePolicy(steps)
    turn = PolicyInput("Do it.", (), SEEN, Reader(PAGE))
    taken = [await policy.act(turn) for _ in range(4)]

    assert [one.thought for one in taken] == ["I add it.", None, "It is done.", None]
    stated = ThoughtSource.TEMPLATE
    assert [one.thought_source for one in taken] == [stated, None, stated, None]


async def test_a_thought_while_a_thing_is_out_of_sight_does_not_name_it() -> None:
    root = scrolled(node("body", "", node("button", "Add", at=AWAY, top=900.0)))
    policy = ReferencePolicy((step(do="click", on="Add", why='I see "Add".'),))
    decision = await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))

    assert isinstance(decision.action, Scroll)
    assert decision.thought is not None
    assert "Add" not in decision.thought


async def test_keys_through_a_list_have_a_thought_where_its_step_has_one() -> None:
    lists = node(
        "body", "", node("select", "S M", node("option", "S"), node("option", "M"), name="size")
    )
    turn = PolicyInput("Do it.", (), SEEN, Reader(lists))
    thoughts = list[str | None]()
    for why in ("Size is M.", None):
        said = {"do": "select", "on": "size", "text": "M"} | ({} if why is None else {"why": why})
        policy = ReferencePolicy((step(**said),))
        thoughts += [(await policy.act(turn)).thought for _ in range(3)]

    opened, led, marked, *others = thoughts
    assert opened == "Size is M."
    assert says(led, "policy.option_typed", on="size", text="M")
    assert says(marked, "policy.option_marked", on="size", text="M")
    assert others == [None] * 3


NAMED_FIELDS = node(
    "body",
    "",
    node("label", "Note", node("input", id="enclosed")),
    node("p", "Town", id="town"),
    node("input", id="labelled", aria_labelledby="town"),
    node("tr", "", node("td", "Weight:"), node("td", "", node("input", id="beside"))),
    node("input", id="empty", placeholder="Remark"),
)


@pytest.mark.parametrize(
    ("name", "field"),
    [("Note", "enclosed"), ("Town", "labelled"), ("Weight", "beside"), ("Remark", "empty")],
)
def test_a_field_is_found_by_what_a_page_calls_it(name: str, field: str) -> None:
    found = find(NAMED_FIELDS, step(do="type", on=name, text="x"))

    assert found is not None
    assert found.attrs["id"] == field


def test_words_beside_a_field_name_it_only_as_a_whole() -> None:
    assert find(NAMED_FIELDS, step(do="type", on="Weigh", text="x")) is None
