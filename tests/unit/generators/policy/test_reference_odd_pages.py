"""Plans that are wrong, and pages that change, hide, fail or do not tell things apart: each ends, and says why."""

import pytest
from support.browsers.reference_pages import SEEN, Reader, node, scrolled, step

from generators.browser.protocol import Node
from generators.policy.protocol import Decision, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.troubles import MAX_ANSWERS
from schemas.episodes.action import Action, Answer, Click, Scroll, TypeText, Wait
from schemas.episodes.observation import Sight
from schemas.errors import RolloutFailure
from schemas.tasks.reference import ReferenceStep

LAMP = step(do="find", on="Lamp", text="Next")
OPEN = step(do="click", on="Lamp")
END = step(do="answer", text="")


async def _act(policy: ReferencePolicy, root: Node, url: str = "/1") -> Decision:
    page = SEEN.page.model_copy(update={"url": f"http://shop.localhost{url}"})
    seen = SEEN.model_copy(update={"page": page})
    return await policy.act(PolicyInput("Do it.", (), seen, Reader(root)))


def _listed(*names: str, top: float = 0.0, height: float = 400.0, more: bool = False) -> Node:
    button = [node("button", "Next", at=(3.0, 3.0))] if more else []
    links = [node("a", name, at=(9.0, 10.0 + 20 * at)) for at, name in enumerate(names)]
    return scrolled(node("body", "", *links, *button), top, height=height)


async def test_a_plan_that_says_a_row_is_where_it_is_not_fails_by_the_rows_name() -> None:
    policy = ReferencePolicy([LAMP, OPEN, END])
    assert (await _act(policy, _listed("Chair", more=True))).action == Click(x=3, y=3)
    with pytest.raises(
        RolloutFailure, match="step 1 of the reference: the list ends without 'Lamp'"
    ):
        await _act(policy, _listed("Table"), "/2")


async def test_a_list_that_grows_while_it_is_read_is_read_on() -> None:
    policy = ReferencePolicy([step(do="read"), END])
    grown = [_listed("Chair", top=300.0 * at, height=700.0 + 300.0 * at) for at in range(4)]
    taken = [(await _act(policy, one)).action for one in grown]
    assert all(isinstance(one, Scroll) for one in taken)
    last = _listed("Chair", top=1_200.0, height=1_600.0)
    assert isinstance((await _act(policy, last)).action, Answer)


@pytest.mark.parametrize(
    ("found", "ends"), [((), True), (("Chair", "Lamp", "Table"), False)], ids=["nothing", "all"]
)
async def test_a_search_that_finds_nothing_or_all_is_read_as_it_is(
    found: tuple[str, ...], *, ends: bool
) -> None:
    policy = ReferencePolicy([step(do="type", on="Search", text="Lamp"), LAMP, OPEN, END])
    field = node("input", "", at=(5.0, 6.0), placeholder="Search", type="search")
    typed = await _act(policy, scrolled(node("body", "", field), height=400.0))
    assert isinstance(typed.action, TypeText)
    if ends:
        with pytest.raises(RolloutFailure, match="the list ends without 'Lamp'"):
            await _act(policy, _listed(*found), "/1?q=Lamp")
    else:
        assert (await _act(policy, _listed(*found), "/1?q=Lamp")).action == Click(x=9, y=30)


async def test_a_search_that_is_slow_is_waited_for() -> None:
    policy = ReferencePolicy([LAMP, OPEN, END])
    loads = scrolled(node("body", "", node("p", "Loading…")), height=400.0)
    assert isinstance((await _act(policy, loads)).action, Wait)
    assert (await _act(policy, _listed("Lamp"))).action == Click(x=9, y=10)


async def test_a_search_that_never_ends_is_given_up() -> None:
    policy = ReferencePolicy([LAMP, OPEN, END])
    loads = scrolled(node("body", "", node("p", "Loading…")), height=400.0)
    for _ in range(MAX_ANSWERS):
        await _act(policy, loads)
    with pytest.raises(
        RolloutFailure, match='the site has gone wrong 13 times, at last: "Loading…"'
    ):
        await _act(policy, loads)


async def test_of_two_rows_that_nothing_tells_apart_the_first_is_taken_each_time() -> None:
    for _ in range(2):
        policy = ReferencePolicy([LAMP, OPEN, END])
        assert (await _act(policy, _listed("Lamp", "Lamp"))).action == Click(x=9, y=10)


async def test_what_a_page_showed_and_hides_is_not_acted_on() -> None:
    policy = ReferencePolicy([step(do="look", on="Lamp"), step(do="click", on="Chair"), OPEN, END])
    assert isinstance((await _act(policy, _listed("Lamp", "Chair"))).action, Click)
    with pytest.raises(RolloutFailure, match="step 3 of the reference: the page shows no 'Lamp'"):
        await _act(policy, _listed("Chair"))


async def test_a_task_whose_only_way_fails_each_time_is_given_up_by_what_the_page_says() -> None:
    policy = ReferencePolicy([step(do="click", on="Save"), END])
    said = "This could not be saved just now. Please try again."
    save = node("button", "Save", at=(5.0, 6.0))
    failed = node("body", "", node("h1", "Lamp"), node("div", said, role="alert"), save)
    for _ in range(MAX_ANSWERS + 1):
        assert (await _act(policy, scrolled(failed, height=400.0))).action == Click(x=5, y=6)
    with pytest.raises(
        RolloutFailure, match='the site has gone wrong 13 times, at last: "This could'
    ):
        await _act(policy, scrolled(failed, height=400.0))


@pytest.mark.parametrize(("shown", "claims"), [("Ada", True), ("Bo", False)])
async def test_success_is_claimed_only_of_what_the_page_shows(shown: str, *, claims: bool) -> None:
    saved = "The page shows the change."
    steps = [step(do="type", on="Name", text="Ada"), step(do="click", on="Save")]
    policy = ReferencePolicy([*steps, step(do="answer", text="", why=saved)])
    field, save = node("input", "", at=(5.0, 6.0), placeholder="Name"), node("button", "Save")
    form = scrolled(node("body", "", field, save), height=400.0)
    await _act(policy, form)
    await _act(policy, form)
    page = scrolled(node("body", "", node("p", shown)), height=400.0)
    seen = SEEN.model_copy(
        update={
            "page": SEEN.page.model_copy(update={"url": "http://shop.localhost/2"}),
            "sights": (Sight(text=shown, bbox=(0, 0, 10, 10)),),
        }
    )
    end = await policy.act(PolicyInput("Do it.", (), seen, Reader(page)))
    assert isinstance(end.action, Answer)
    assert (end.thought == saved) is claims


@pytest.mark.parametrize("kind", ["search", "text"])
async def test_what_is_in_sight_already_is_not_searched_for(kind: str) -> None:
    searched = [step(do="type", on="Search", text="Lamp"), step(do="click", on="Apply")]
    policy = ReferencePolicy([*searched, LAMP, OPEN, END])
    field = node("input", "", at=(5.0, 6.0), placeholder="Search", type=kind)
    root = scrolled(node("body", "", field, node("a", "Lamp", at=(9.0, 10.0))), height=400.0)
    first = (await _act(policy, root)).action
    assert first == Click(x=9, y=10) if kind == "search" else isinstance(first, TypeText)


@pytest.mark.parametrize("current", ["page", "false"])
async def test_a_link_to_the_page_that_is_shown_is_not_clicked_where_what_follows_is_there(
    current: str,
) -> None:
    policy = ReferencePolicy([step(do="click", on="Lamps"), step(do="click", on="Add"), END])
    link = node("a", "Lamps", at=(5.0, 6.0), aria_current=current)
    root = scrolled(node("body", "", link, node("button", "Add", at=(9.0, 10.0))), height=400.0)
    first = (await _act(policy, root)).action
    assert first == (Click(x=9, y=10) if current == "page" else Click(x=5, y=6))


FILTER = step(do="select", on="Status", text="Open")
ORDER = step(do="click", on="Name, ascending")
APPLY = step(do="click", on="Apply")


def _controls(method: str) -> Node:
    """Return the form that filters and orders a list, or one that is sent by another method."""
    field = node("select", "Open Packed", at=(5.0, 6.0), aria_label="Status")
    order = node("label", "Name, ascending", at=(7.0, 6.0))
    return node("form", "", field, order, node("button", "Apply", at=(8.0, 6.0)), method=method)


def _lamp(method: str = "get") -> Node:
    listed = node("a", "Lamp", at=(9.0, 10.0))
    return scrolled(node("body", "", _controls(method), listed), height=400.0)


async def _first(*steps: ReferenceStep, root: Node, goal: str = "Open it.") -> Action:
    policy = ReferencePolicy([*steps, APPLY, LAMP, OPEN, END])
    return (await policy.act(PolicyInput(goal, (), SEEN, Reader(root)))).action


async def test_a_row_in_sight_is_not_filtered_for() -> None:
    assert await _first(FILTER, root=_lamp()) == Click(x=9, y=10)
    away = scrolled(node("body", "", _controls("get")), height=400.0)
    assert await _first(FILTER, root=away) == Click(x=5, y=6)


async def test_a_form_that_changes_something_is_filled_in_whatever_is_in_sight() -> None:
    assert await _first(FILTER, root=_lamp("post")) == Click(x=5, y=6)


async def test_an_order_is_needless_only_for_a_row_that_is_known_by_name() -> None:
    named, unnamed = 'Open "Lamp".', "Which comes first?"

    assert await _first(ORDER, root=_lamp(), goal=named) == Click(x=9, y=10)
    assert await _first(ORDER, root=_lamp(), goal=unnamed) == Click(x=7, y=6)
    assert await _first(FILTER, ORDER, root=_lamp(), goal=named) == Click(x=9, y=10)
    assert await _first(FILTER, ORDER, root=_lamp(), goal=unnamed) == Click(x=5, y=6)


async def test_what_was_chosen_is_applied_whatever_is_in_sight() -> None:
    policy = ReferencePolicy([FILTER, APPLY, LAMP, OPEN, END])
    field = scrolled(node("body", "", _controls("get")), height=400.0)
    taken = [
        (await policy.act(PolicyInput("Open it.", (), SEEN, Reader(root)))).action
        for root in (field, _lamp())
    ]

    assert taken[0] == Click(x=5, y=6)
    assert taken[1] != Click(x=9, y=10)


SET = [FILTER, ORDER]


def _away(checked: str = "name") -> Node:
    """Return a list without the row, with fields that have names as the address says them."""
    field = node("select", "Open Packed", at=(5.0, 6.0), aria_label="Status", name="status")
    order = node("label", "Name, ascending", at=(7.0, 6.0), for_="by-name")
    radio = node("input", at=(6.0, 6.0), id="by-name", type="radio", name="sort", value=checked)
    send = node("button", "Apply", at=(8.0, 6.0))
    form = node("form", "", field, radio, order, send, method="get")
    return scrolled(node("body", "", form, node("a", "Chair", at=(9.0, 10.0))))


@pytest.mark.parametrize(
    ("query", "steps", "is_set"),
    [
        ("?q=&status=Open&sort=name", SET, True),
        ("?sort=name", [ORDER], True),
        ("?status=Open&sort=", [FILTER], True),
        ("?status=Packed&sort=name", SET, False),
        ("?status=Open&sort=name", [ORDER], False),
        ("?sort=name&page=2", [ORDER], False),
        ("", [ORDER], False),
    ],
)
async def test_a_list_that_is_narrowed_so_already_is_gone_through_as_it_is(
    query: str, steps: list[ReferenceStep], *, is_set: bool
) -> None:
    policy = ReferencePolicy([*steps, APPLY, LAMP, OPEN, END])

    first = (await _act(policy, _away(), f"/products{query}")).action

    assert isinstance(first, Scroll) is is_set


async def test_what_was_chosen_last_is_sent_though_the_rest_is_set_already() -> None:
    policy = ReferencePolicy([FILTER, ORDER, APPLY, LAMP, OPEN, END])
    taken = [(await _act(policy, _away(), "/products?sort=name")).action for _ in range(2)]

    assert taken[0] == Click(x=5, y=6)
    assert not isinstance(taken[1], Scroll)


async def test_controls_that_are_not_in_sight_are_not_taken_as_set() -> None:
    policy = ReferencePolicy([FILTER, ORDER, APPLY, LAMP, OPEN, END])
    root = _away()
    form = next(one for one in root.walk() if one.tag == "form")
    form.children = [one for one in form.children if one.tag not in ("label", "input")]

    assert (await _act(policy, root, "/products?status=Open")).action == Click(x=5, y=6)
