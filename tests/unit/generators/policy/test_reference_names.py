"""Which of several things with the same words a reference takes, and where a click reaches it."""

import pytest
from support.browsers.reference_pages import AWAY, SEEN, Reader, acted, node, step

from generators.browser.protocol import Node
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import Click, TypeText
from schemas.episodes.observation import Sight


async def test_of_elements_with_the_same_words_around_each_other_the_innermost_is_clicked() -> None:
    inner = node("span", "Archive", at=(5.0, 5.0))
    page = node("body", "", node("div", "", inner, at=(50.0, 50.0)), at=(90.0, 90.0))

    assert (await acted(step(do="click", on="Archive"), root=page))[0] == Click(x=5, y=5)


async def test_a_button_is_clicked_and_not_what_stands_in_it() -> None:
    button = node("button", "", node("span", "Archive", at=(5.0, 5.0)), at=(7.0, 7.0))

    found = (await acted(step(do="click", on="Archive"), root=node("body", "", button)))[0]

    assert found == Click(x=7, y=7)


async def test_a_label_is_that_of_the_nearest_field_of_its_id() -> None:
    fields = [
        node("div", "", node("label", name, for_="input"), node("input", at=at, id="input"))
        for name, at in (("Name", (1.0, 1.0)), ("Town", (2.0, 2.0)))
    ]

    typed = await acted(step(do="type", on="Name", text="Ada"), root=node("body", "", *fields))

    assert typed[0] == TypeText(x=1, y=1, text="Ada", overwrite=True)


async def test_words_that_a_button_paints_over_are_clicked_by_the_button() -> None:
    title = node("span", "Payment", at=AWAY)
    button = node("button", "2", title, node("i"), at=(7.0, 7.0))
    page = node("body", "", button, at=(90.0, 90.0))

    title.words = (("Payment", title.box),)
    observation = SEEN.model_copy(update={"sights": (Sight(text="Payment", bbox=title.box),)})
    policy = ReferencePolicy([step(do="click", on="Payment")])
    decision = await policy.act(PolicyInput("Do it.", (), observation, Reader(page)))

    assert decision.action == Click(x=7, y=7)


async def test_a_list_that_the_page_draws_itself_is_opened_and_its_option_clicked() -> None:
    field = node("input", at=(5.0, 5.0), role="combobox", placeholder="City")
    page = node("body", "", field, node("div", "Paris", at=(6.0, 6.0), role="option"))

    assert await acted(step(do="select", on="City", text="Paris"), root=page) == [
        Click(x=5, y=5),
        Click(x=6, y=6),
    ]


async def test_such_a_list_need_be_no_field() -> None:
    page = node("body", "", node("div", "City", at=(5.0, 5.0)), node("li", "Paris", at=(6.0, 6.0)))

    assert await acted(step(do="select", on="City", text="Paris"), root=page) == [
        Click(x=5, y=5),
        Click(x=6, y=6),
    ]


async def test_words_beside_an_icon_name_what_they_stand_in_last() -> None:
    header = node("th", "Tree", node("i", "arrow_upward"), at=(5.0, 5.0))

    assert (await acted(step(do="click", on="tree"), root=node("body", "", header)))[0] == Click(
        x=5, y=5
    )
    called = node("body", "", header, node("button", "Tree", at=(6.0, 6.0)))
    assert (await acted(step(do="click", on="Tree"), root=called))[0] == Click(x=6, y=6)


async def test_what_stands_for_a_field_as_small_as_a_point_is_clicked() -> None:
    field = node("input", at=AWAY, id="three", type="radio")
    field.box = (7.0, 7.0, 1.0, 1.0)
    page = node("body", "", node("label", "3 Stars", at=(5.0, 5.0), for_="three"), field)

    assert (await acted(step(do="click", on="3 Stars"), root=page))[0] == Click(x=5, y=5)


SEARCH_FIELD = node("input", at=(1.0, 1.0), placeholder="Search", type="search")
SEARCH_BUTTONS = (
    node("button", "Search", at=(2.0, 2.0)),
    node("a", "Search", at=(2.0, 2.0)),
    node("input", at=(2.0, 2.0), type="submit", value="Search"),
    node("span", "Search", at=(2.0, 2.0), role="button"),
)


@pytest.mark.parametrize("button", SEARCH_BUTTONS, ids=["button", "link", "input", "role"])
async def test_a_click_takes_the_button_before_a_field_of_which_only_the_placeholder_says_so(
    button: Node,
) -> None:
    for things in ((SEARCH_FIELD, button), (button, SEARCH_FIELD)):
        page = node("body", "", *things)

        assert (await acted(step(do="click", on="Search"), root=page))[0] == Click(x=2, y=2)
    page = node("body", "", SEARCH_FIELD, button)
    typed = await acted(step(do="type", on="Search", text="oil"), root=page)
    assert typed[0] == TypeText(x=1, y=1, text="oil", overwrite=True)


KEPT = {
    "a button whose name only contains it": (
        SEARCH_FIELD,
        node("button", "Search all", at=(2.0, 2.0)),
    ),
    "a button that differs in case": (SEARCH_FIELD, node("button", "SEARCH", at=(2.0, 2.0))),
    "plain words": (SEARCH_FIELD, node("p", "Search", at=(2.0, 2.0))),
    "a field that is labelled so too": (
        node("input", at=(1.0, 1.0), placeholder="Search", aria_label="Search"),
        node("button", "Search", at=(2.0, 2.0)),
    ),
    "a field that is called so and has no placeholder": (
        node("input", at=(1.0, 1.0), title="Search"),
        node("button", "Search", at=(2.0, 2.0)),
    ),
}
"""Things beside a field that is clicked all the same."""


@pytest.mark.parametrize("things", KEPT.values(), ids=KEPT)
async def test_otherwise_a_click_takes_the_field_as_before(things: tuple[Node, Node]) -> None:
    page = node("body", "", *things)

    assert (await acted(step(do="click", on="Search"), root=page))[0] == Click(x=1, y=1)


@pytest.mark.parametrize(
    ("other", "wanted"),
    [("Your Weekly Digest", "Our Weekly Digest"), ("Orders", "Order"), ("Order 123", "Order 12")],
)
async def test_a_name_that_ends_or_goes_on_within_a_word_is_another_one(
    other: str, wanted: str
) -> None:
    things = [node("a", other, at=(5.0, 5.0), href="/1"), node("p", wanted, at=(7.0, 7.0))]

    found = (await acted(step(do="click", on=wanted), root=node("body", "", *things)))[0]

    assert found == Click(x=7, y=7)


async def test_a_name_may_stand_within_words_of_a_script_that_does_not_part_them() -> None:
    page = node("body", "", node("button", "予約一覧を表示", at=(5.0, 5.0)))

    assert (await acted(step(do="click", on="表示"), root=page))[0] == Click(x=5, y=5)
