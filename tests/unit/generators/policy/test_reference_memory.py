"""What is not in sight is looked for by what was shown: on a page, in its parts, and through lists."""

import pytest
from support.browsers.reference_pages import AWAY, SEEN, Reader, node, scrolled, step
from support.episodes.said import says

from generators.browser.protocol import Node
from generators.policy.approach import MAX_SCROLLS
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import Action, Answer, Click, Direction, Key, Scroll, TypeText
from schemas.errors import RolloutFailure
from schemas.tasks.reference import ReferenceStep


async def test_what_is_out_of_sight_is_looked_for_downwards_and_then_upwards() -> None:
    policy = ReferencePolicy([step(do="click", on="Order")])
    taken = []
    for top in (600.0, 900.0, 1_000.0, 700.0, 400.0, 100.0):
        root = scrolled(node("body", ""), top, height=1_400.0)
        taken.append((await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))).action)

    down, up = (Scroll(direction=way, amount=300) for way in (Direction.DOWN, Direction.UP))
    assert taken == [down, down, up, up, up, up]
    last = PolicyInput("Do it.", (), SEEN, Reader(scrolled(node("body", ""), height=1_400.0)))
    with pytest.raises(RolloutFailure, match="the page shows no 'Order'"):
        await policy.act(last)


@pytest.mark.parametrize("top", [500.0, 5_000.0, -900.0])
async def test_what_was_never_in_sight_decides_nothing(top: float) -> None:
    root = scrolled(node("body", "", node("button", "Order", at=AWAY, top=top)), 1_000.0)
    policy = ReferencePolicy([step(do="click", on="Order")])

    first = await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))

    assert first.action == Scroll(direction=Direction.DOWN, amount=300)


@pytest.mark.parametrize(
    ("top", "back"),
    [
        (300.0, Scroll(direction=Direction.UP, amount=300)),
        (900.0, Key(key="Home")),
    ],
)
async def test_what_was_in_sight_is_gone_back_to(top: float, back: Action) -> None:
    order = node("button", "Order", key=1)
    seen = scrolled(node("body", "", order, node("button", "Add")))
    away = node("button", "Order", at=AWAY, top=-top, key=1)
    later = scrolled(node("body", "", away, node("p", "Total")), top)
    policy = ReferencePolicy([step(do="look", on="Total"), step(do="click", on="Order")])
    await policy.act(PolicyInput("Do it.", (), SEEN, Reader(seen)))

    assert (await policy.act(PolicyInput("Do it.", (), SEEN, Reader(later)))).action == back


async def test_a_row_of_a_list_that_was_in_sight_is_gone_back_to() -> None:
    seen = scrolled(node("body", "", node("a", "Lamp", key=1), node("a", "Chair")))
    away = node("a", "Lamp", at=AWAY, top=-300.0, key=1)
    later = scrolled(node("body", "", away, node("a", "Table")), 300.0)
    find, then = (step(do="find", on=one, text="Next") for one in ("Table", "Lamp"))
    policy = ReferencePolicy([find, then])
    taken = [await _decide(policy, root) for root in (seen, later)]

    assert taken[1] == Scroll(direction=Direction.UP, amount=300)


def _listed(*names: str, top: float, height: float = 1_000.0, more: str | None = "Next") -> Node:
    """Return a page of a list, of which only these names and a button to more are in sight."""
    at = height - top - 20.0
    point = (1.0, at) if at < 400 else AWAY
    button = [node("button", more, at=point, top=at, key=1)] if more else []
    return scrolled(
        node("body", "", *(node("a", name) for name in names), *button), top, height=height
    )


async def _decide(policy: ReferencePolicy, root: Node, url: str = "/1") -> Action:
    page = SEEN.page.model_copy(update={"url": f"http://shop.localhost{url}"})
    turn = PolicyInput("Do it.", (), SEEN.model_copy(update={"page": page}), Reader(root))
    return (await policy.act(turn)).action


async def test_a_list_is_gone_through_page_by_page_until_the_row_is_in_sight() -> None:
    find = step(do="find", on="Lamp", text="Next")
    policy = ReferencePolicy([find, step(do="click", on="Lamp")])
    pages = [
        ("/1", _listed("Chair", top=0.0)),
        ("/1", _listed("Table", top=300.0)),
        ("/1", _listed("Bed", top=600.0)),
        ("/2", _listed("Lamp", top=0.0)),
    ]
    taken = [await _decide(policy, root, url) for url, root in pages]

    assert [type(one) for one in taken] == [Scroll, Scroll, Click, Click]


async def test_a_row_is_opened_where_it_comes_into_sight_whatever_a_plan_reckons() -> None:
    policy = ReferencePolicy([step(do="find", on="Lamp", text="Next"), step(do="click", on="Lamp")])

    assert isinstance(await _decide(policy, _listed("Lamp", top=0.0)), Click)


async def test_a_list_without_the_row_fails_the_policy() -> None:
    policy = ReferencePolicy([step(do="find", on="Lamp", text="Next")])
    end = _listed("Chair", top=0.0, height=400.0, more=None)

    with pytest.raises(RolloutFailure, match="the list ends without 'Lamp'"):
        await _decide(policy, end)


async def test_a_list_is_read_to_its_end_and_rows_that_it_gains_below_alone() -> None:
    policy = ReferencePolicy([step(do="read", text="More"), step(do="answer", text="3")])
    pages = [
        _listed("Chair", top=0.0, height=600.0, more="More"),
        _listed("Chair", top=200.0, height=600.0, more="More"),
        _listed("Table", top=200.0, height=900.0, more="More"),
        _listed("Table", top=500.0, height=900.0, more=None),
    ]
    taken = [await _decide(policy, root) for root in pages]

    assert [type(one) for one in taken] == [Scroll, Click, Scroll, Answer]
    assert taken[2] == Scroll(direction=Direction.DOWN, amount=300)


def _with_footer(*names: str, top: float, height: float = 900.0) -> Node:
    """Return a page of a list whose button to more stands at 300 px, with a footer far below it."""
    at = 300.0 - top
    point = (1.0, at) if 0 <= at < 400 else AWAY
    rows = [node("a", name) for name in names]
    more = node("button", "Next", at=point, top=at, key=1)
    return scrolled(node("body", "", *rows, more), top, height=height)


@pytest.mark.parametrize(
    "looks", [step(do="find", on="Lamp", text="Next"), step(do="read", text="Next")]
)
async def test_a_list_ends_where_its_pager_is_in_sight_whatever_stands_below_it(
    looks: ReferenceStep,
) -> None:
    first = await _decide(ReferencePolicy([looks]), _with_footer("Chair", top=0.0))

    assert first == Click(x=1.0, y=300.0)


async def test_a_list_that_was_read_to_a_pager_without_a_next_page_is_at_its_end() -> None:
    root = _with_footer("Chair", top=0.0)
    more = next(one for one in root.walk() if one.text == "Next" and one.tag == "button")
    more.attrs["aria-disabled"] = "true"

    reads = ReferencePolicy([step(do="read", text="Next"), step(do="answer", text="1")])
    assert isinstance(await _decide(reads, root), Answer)
    with pytest.raises(RolloutFailure, match="the list ends without 'Lamp'"):
        await _decide(ReferencePolicy([step(do="find", on="Lamp", text="Next")]), root)


async def test_a_pager_that_is_cut_off_is_what_is_scrolled_for() -> None:
    more = node("button", "Next", at=(1.0, 399.0), top=395.0, key=1)
    root = scrolled(node("body", "", node("a", "Chair"), more), height=900.0)
    policy = ReferencePolicy([step(do="read", text="Next", why="I read on.")])

    first = await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))

    assert says(first.thought, "policy.partly_down")


@pytest.mark.parametrize("look", ["pages", "ui pagination menu", "uk-pagination", "page-item"])
async def test_a_last_page_ends_at_a_pager_that_leads_back_alone(look: str) -> None:
    back = node("a", "Previous", at=(1.0, 305.0), top=300.0)
    pager = node("ul", "", back, top=300.0, class_=look)
    root = scrolled(node("body", "", node("a", "Chair"), pager), height=900.0)

    policy = ReferencePolicy([step(do="read", text="Next"), step(do="answer", text="1")])

    assert isinstance(await _decide(policy, root), Answer if look != "page-item" else Scroll)


async def test_a_fact_of_a_row_is_looked_at_on_its_page_and_not_as_a_filter_of_the_list() -> None:
    label = node("label", "State", at=AWAY, top=-300.0, key=1)
    seen = scrolled(node("body", "", node("label", "State", key=1), node("a", "Lamp")))
    beside = node("aside", "", node("dl", "", node("dt", "State", key=5), node("dd", "Sold")))
    later = scrolled(node("body", "", label, node("a", "Lamp"), beside), 300.0)
    policy = ReferencePolicy([step(do="click", on="Lamp"), step(do="look", on="State")])
    await _decide(policy, seen)

    assert not isinstance(await _decide(policy, later), Scroll | Key)


@pytest.mark.parametrize("top", [399.0, 380.0])
async def test_a_pager_of_which_only_the_edge_is_in_sight_may_lead_on(top: float) -> None:
    def pager(scroll: float, *links: Node) -> Node:
        nodes = node("a", "Chair"), node("ul", "", *links, top=top, key=9, class_="pages")
        nodes[1].box = (0.0, top - scroll, 200.0, 60.0)
        return scrolled(node("body", "", *nodes), scroll, height=900.0)

    policy = ReferencePolicy([step(do="find", on="Lamp", text="Next")])
    more = node("a", "Next", at=(1.0, 330.0), top=320.0)

    assert await _decide(policy, pager(0.0)) == Scroll(direction=Direction.DOWN, amount=300)
    assert await _decide(policy, pager(100.0, more)) == Click(x=1.0, y=330.0)


async def test_the_beginning_of_a_list_is_looked_at_before_its_pager_is_used() -> None:
    policy = ReferencePolicy([step(do="read", text="Next")])
    taken = [
        await _decide(policy, _with_footer("Table", top=200.0)),
        await _decide(policy, _with_footer("Chair", top=0.0)),
    ]

    assert taken == [Scroll(direction=Direction.UP, amount=300), Click(x=1.0, y=300.0)]


async def test_a_pager_in_a_part_that_scrolls_by_itself_does_not_end_the_page() -> None:
    rows = node("div", "", node("button", "Next", at=(150.0, 200.0), top=190.0, key=1), top=100.0)
    rows.box, rows.inner, rows.scroll = (
        (100.0, 100.0, 300.0, 200.0),
        (300.0, 200.0),
        (0, 0, 300, 600),
    )
    rows.style = {"overflow-y": "auto"}
    root = scrolled(node("body", "", rows), 0.0, height=900.0)

    first = await _decide(ReferencePolicy([step(do="read", text="Next")]), root)

    assert isinstance(first, Scroll)
    assert first.x is not None
    assert not 100 <= first.x <= 400, "the page is scrolled, and not the part"


async def test_a_list_that_never_ends_is_given_up() -> None:
    policy = ReferencePolicy([step(do="read")])

    for at in range(MAX_SCROLLS):
        await _decide(policy, _listed("Chair", top=300.0 * at, height=1e6, more=None))
    last = _listed("Chair", top=300.0 * MAX_SCROLLS, height=1e6, more=None)
    with pytest.raises(RolloutFailure, match="cannot be brought into sight"):
        await _decide(policy, last)


async def test_the_page_is_scrolled_beside_a_part_that_scrolls_by_itself() -> None:
    panel = node("aside", "", top=100.0)
    panel.box, panel.inner, panel.scroll = (
        (200.0, 100.0, 250.0, 250.0),
        (250.0, 250.0),
        (0, 250, 250, 500),
    )
    panel.style = {"overflow-y": "auto"}
    root = scrolled(node("body", "", panel))
    scroll = await _decide(ReferencePolicy([step(do="click", on="Order")]), root)

    assert isinstance(scroll, Scroll)
    assert scroll.x is not None
    assert not 200 <= scroll.x <= 450 or not 100 <= (scroll.y or 0) <= 350


async def test_a_part_that_goes_on_above_the_window_is_followed_by_the_page() -> None:
    panel = node("aside", "", node("button", "Order", at=AWAY, top=-150.0))
    panel.box, panel.inner, panel.scroll = (
        (100.0, -200.0, 300.0, 500.0),
        (300.0, 500.0),
        (0, 0, 300, 500 + 2),
    )
    panel.style = {"overflow-y": "auto"}
    root = scrolled(node("body", "", panel), 800.0)
    scroll = await _decide(ReferencePolicy([step(do="click", on="Order")]), root)
    panel.scroll = (0, 2, 300, 502)
    scrolled(root, 800.0, height=1_200.0)
    up = await _decide(policy := ReferencePolicy([step(do="click", on="Order")]), root)

    assert isinstance(scroll, Scroll)
    assert scroll.direction is Direction.DOWN
    assert isinstance(up, Scroll)
    assert up.direction is Direction.UP
    panel.scroll = (0, 0, 300, 502)
    above = await _decide(policy, root)
    assert isinstance(above, Scroll)
    assert above.x is not None
    assert not 100 <= above.x <= 400, "the page is scrolled beside the part"


async def test_a_change_is_looked_for_before_the_end() -> None:
    steps = [
        step(do="type", on="who", text="Ada Byron"),
        step(do="click", on="Add"),
        step(do="answer", text="", why="Done."),
    ]
    policy = ReferencePolicy(steps)
    form = node("body", "", node("input", "", name="who"), node("button", "Add"))
    taken = [await _decide(policy, form, "/form"), await _decide(policy, form, "/form")]
    taken.append(await _decide(policy, scrolled(node("body", ""), height=700.0), "/saved"))
    taken.append(await _decide(policy, scrolled(node("body", ""), 300.0, height=700.0), "/saved"))

    assert [type(one) for one in taken] == [TypeText, Click, Scroll, Answer]


async def test_a_page_that_does_not_move_is_given_up() -> None:
    policy = ReferencePolicy([step(do="click", on="Order")])
    turn = PolicyInput("Do it.", (), SEEN, Reader(scrolled(node("body", ""), 0.0)))

    assert isinstance((await policy.act(turn)).action, Scroll)
    with pytest.raises(RolloutFailure, match="the page shows no 'Order'"):
        await policy.act(turn)


async def test_an_option_of_a_list_that_is_drawn_over_the_page_is_clicked_in_it() -> None:
    field = node("select", "Small Large", name="size", size="1")
    size = step(do="select", on="size", text="Large", why="I open the list.")
    policy = ReferencePolicy([size, step(do="click", on="Go")])
    drawn = node("stepmill-list", "", node("div", "Large", at=(7.0, 8.0), role="option"))
    same = node("button", "Large", at=(1.0, 1.0))
    opened = node("body", "", field, same, node("button", "Go"), drawn)
    closed = node("body", "", field, same, node("button", "Go"))
    taken = [await _decide(policy, root) for root in (closed, opened, closed)]

    assert taken[1:] == [Click(x=7, y=8), Click(x=1, y=2)]


async def test_an_option_of_a_list_that_nothing_draws_is_typed() -> None:
    options = [node("option", "Small"), node("option", "Large")]
    root = node("body", "", node("select", "", *options, name="size", size="1"))
    policy = ReferencePolicy([step(do="select", on="size", text="Large")])
    taken = [await _decide(policy, root) for _ in range(3)]

    assert [type(one) for one in taken] == [Click, TypeText, Key]


@pytest.mark.parametrize(
    ("on", "goal", "purpose", "told"),
    [
        ("17", "Book a day.", "add", "the day that I need"),
        ("Add", "Book a day.", "add", "the way to a new one"),
        ("Level", "Set the level to high.", "type", 'the field "Level"'),
        ("Level", "Make it hard.", "type", 'the field for "hard"'),
        ("Level", "Make it so.", "type", "the field that comes next"),
        ("Lamp", "Open the lamp.", "row", '"Lamp"'),
        ("Lamp", "Put a lamp there.", "attach", '"Lamp"'),
        ("Lamp", "Put it there.", "attach", "what I have to drag"),
        ("Lamp", "Open the cheapest.", "row", "the one that I have to open"),
    ],
)
async def test_what_is_out_of_sight_is_called_by_what_is_known_of_it(
    on: str, goal: str, purpose: str, told: str
) -> None:
    typed = {"text": "hard"} if purpose in ("type", "attach") else {}
    do = {"type": "type", "attach": "drag"}.get(purpose, "click")
    policy = ReferencePolicy([step(do=do, on=on, why="So.", purpose=purpose, **typed)])
    root = scrolled(node("body", ""), height=1_400.0)
    found = await policy.act(PolicyInput(goal, (), SEEN, Reader(root)))
    assert says(found.thought, "policy.unseen_down", thing=told)
