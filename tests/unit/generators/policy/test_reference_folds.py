"""A navigation that a narrow window folds away is opened by its button, where that is what a step needs."""

import pytest
from support.browsers.reference_pages import AWAY, SEEN, Reader, acted, node, scrolled, step

from generators.browser.protocol import Node
from generators.policy.approach import MAX_SCROLLS
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import Action, Click, Direction, Scroll
from schemas.errors import RolloutFailure

MENU, LINK = (5.0, 5.0), (7.0, 7.0)


def navigation(*, opened: bool = False, at: tuple[float, float] | None = MENU) -> Node:
    """Return a navigation with a link to orders, and the button that folds it."""
    folded = "true" if opened else "false"
    button = node("button", "Pages", at=at, aria_expanded=folded, aria_controls="links")
    link = node("a", "Orders", at=LINK if opened else AWAY, shown=opened)
    return node("nav", "", button, node("ul", "", link, shown=opened, id="links"))


async def after(policy: ReferencePolicy, root: Node) -> Action:
    return (await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))).action


async def test_a_link_that_is_folded_away_is_clicked_once_its_button_has_shown_it() -> None:
    policy = ReferencePolicy([step(do="click", on="Orders", why="I go there.")])

    folded = PolicyInput("Do it.", (), SEEN, Reader(node("body", "", navigation())))
    first = await policy.act(folded)
    second = await after(policy, node("body", "", navigation(opened=True)))

    assert (first.action, second) == (Click(x=5, y=5), Click(x=7, y=7))
    assert first.thought is not None
    assert '"Pages"' in first.thought
    assert "Orders" not in first.thought


async def test_a_heading_of_the_same_name_does_not_stand_for_the_link() -> None:
    root = node("body", "", navigation(), node("h1", "Orders", at=(9.0, 9.0)))

    assert (await acted(step(do="click", on="Orders"), root=root))[0] == Click(x=5, y=5)


@pytest.mark.parametrize("on", ["Orders", "Add"])
async def test_what_the_page_shows_is_clicked_and_nothing_unfolded(on: str) -> None:
    shown = node("a", on, at=(9.0, 9.0))

    found = await acted(step(do="click", on=on), root=node("body", "", navigation(), shown))

    assert found[0] == Click(x=9, y=9)


async def test_after_an_entry_the_form_is_looked_through_before_the_navigation() -> None:
    field = node("input", "", at=(9.0, 30.0), placeholder="Name")
    for height, expected in ((900.0, Scroll), (400.0, Click)):
        root = scrolled(node("body", "", navigation(), field), height=height)
        policy = ReferencePolicy(
            [step(do="type", on="Name", text="Ada"), step(do="click", on="Save")]
        )
        await after(policy, root)
        assert isinstance(await after(policy, root), expected)


async def test_an_option_within_a_field_is_clicked_whatever_the_navigation_folds() -> None:
    field = node("div", "", node("label", "Works for"), node("li", "Shops", at=(9.0, 9.0)))
    do = step(do="click", on="Shops", within="Works for")

    assert (await acted(do, root=node("body", "", navigation(), field)))[0] == Click(x=9, y=9)


async def test_a_button_that_folds_something_else_is_opened_once_and_then_left_alone() -> None:
    policy = ReferencePolicy([step(do="click", on="Invoices")])

    assert await after(policy, node("body", "", navigation())) == Click(x=5, y=5)
    longer = scrolled(node("body", "", navigation(opened=True)))
    assert isinstance(await after(policy, longer), Scroll)
    with pytest.raises(RolloutFailure, match="shows no 'Invoices'"):
        await after(policy, scrolled(node("body", "", navigation()), height=400.0))


async def test_what_is_folded_away_is_known_only_by_what_was_shown() -> None:
    policy = ReferencePolicy([step(do="click", on="Orders"), step(do="click", on="Orders")])
    await after(policy, node("body", "", navigation()))
    assert await after(policy, node("body", "", navigation(opened=True))) == Click(x=7, y=7)
    bare = node("body", "", node("nav", "", navigation().children[0]))

    assert await after(policy, bare) == Click(x=5, y=5)


async def test_the_button_is_gone_back_to_where_it_is_out_of_sight() -> None:
    policy = ReferencePolicy([step(do="look", on="Total"), step(do="click", on="Orders")])
    await after(policy, scrolled(node("body", "", navigation())))
    away = navigation(at=AWAY)
    away.children[0].box = (0.0, -300.0, 10.0, 10.0)
    root = scrolled(node("body", "", away, node("p", "Total")), 300.0)

    assert await after(policy, root) == Scroll(direction=Direction.UP, amount=300)


async def test_a_button_that_shows_nothing_is_given_up() -> None:
    steps = [step(do="click", on="Orders")] * (MAX_SCROLLS + 1)

    with pytest.raises(RolloutFailure, match="cannot be brought into sight"):
        await acted(*steps, root=node("body", "", navigation()))
