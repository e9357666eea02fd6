from dataclasses import replace

import pytest
from support.browsers.page_trees import node, page, play

from generators.policy.protocol import Decision
from generators.policy.teacher.page import Page, SkillError
from generators.policy.teacher.primitives import (
    button,
    by_id,
    click,
    fill,
    locator,
    select_option,
)
from generators.policy.teacher.scrolling import (
    MAX_SCROLLS,
    Plan,
    scroll_into_view,
    scroll_through,
)
from schemas.episodes.action import Click, Direction, Key, Scroll, TypeText
from schemas.episodes.episode import ThoughtSource


def _decisions(plan: Plan, *pages: Page) -> list[Decision]:
    rest = iter(pages)
    return list(play(plan, lambda _: next(rest)))


def test_a_press_clicks_where_it_reaches() -> None:
    now = page(node("button", text="Go", box=(100, 50, 40, 20)))
    (decision,) = _decisions(click(now, button("Go"), "Why not."), now)

    assert decision.action == Click(x=120, y=60)
    assert decision.thought == "Why not."
    assert decision.thought_source is ThoughtSource.TEMPLATE


def at(top: float, *, reachable: bool, scrolled: float = 0) -> Page:
    low = node("button", text="Low", box=(0, top, 40, 20), reachable=reachable)
    frame = node("div", low, box=(0, 0, 100, 200), scroll=(0, scrolled, 100, 900))
    return page(frame)


def test_what_is_out_of_view_is_looked_for_downwards_whatever_the_way_to_it() -> None:
    first, second, third = _decisions(
        click(at(690, reachable=False), button("Low"), "It is there."),
        at(550, reachable=False, scrolled=140),
        at(90, reachable=True, scrolled=600),
        at(90, reachable=True, scrolled=600),
    )

    assert first.action == Scroll(direction=Direction.DOWN, amount=140, x=50, y=100)
    assert second.action == first.action
    assert third.action == Click(x=20, y=100)


def test_what_was_never_in_sight_is_looked_for_to_the_end_of_all_that_scrolls() -> None:
    def now(top: float, *, found: bool) -> Page:
        low = [node("button", text="Low", box=(0, 150, 40, 20))] if found else []
        frame = node("div", *low, box=(0, 0, 100, 200), scroll=(0, top, 100, 500))
        frame.key = 1
        return page(frame)

    first, second, third = _decisions(
        click(now(0, found=False), button("Low"), "It is there."),
        now(140, found=False),
        now(280, found=True),
        now(280, found=True),
    )

    assert (
        first.action == second.action == Scroll(direction=Direction.DOWN, amount=140, x=50, y=100)
    )
    assert third.action == Click(x=20, y=160)
    with pytest.raises(SkillError, match="looked through all of the page"):
        _decisions(click(now(300, found=False), button("Low"), "Why."), now(0, found=False))


def test_what_is_not_below_is_looked_for_above() -> None:
    (first, _) = _decisions(
        click(at(-300, reachable=False, scrolled=700), button("Low"), "It is there."),
        at(90, reachable=True),
        at(90, reachable=True),
    )

    assert first.action == Scroll(direction=Direction.UP, amount=140, x=50, y=100)


def test_what_is_cut_off_is_scrolled_into_view_whole() -> None:
    (first, second) = _decisions(
        click(at(190, reachable=True), button("Low"), "It is there."),
        at(180, reachable=True, scrolled=10),
        at(180, reachable=True, scrolled=10),
    )

    assert first.action == Scroll(direction=Direction.DOWN, amount=10, x=50, y=100)
    assert isinstance(second.action, Click)


@pytest.mark.parametrize(
    ("top", "said"),
    [
        (188, "I see Low only in part, cut off at the lower edge, so I scroll down."),
        (195, ", so I scroll down."),
        (-8, "I see Low only in part, cut off at the upper edge, so I scroll up."),
    ],
)
def test_what_is_mostly_cut_off_is_not_said_to_be_seen(top: float, said: str) -> None:
    (first, _) = _decisions(
        click(at(top, reachable=True, scrolled=50), button("Low"), "It is there."),
        *[at(90, reachable=True)] * 2,
    )

    unseen = ("I do not see Low here", "Nothing in sight is Low")
    assert first.thought in [f"{why}{said}" for why in (unseen if said[0] == "," else ("",))]


def test_an_option_of_a_list_that_shows_none_is_named_by_keys() -> None:
    closed = page(replace(node("select", box=(0, 0, 80, 20)), selected="Peru"))

    chosen = page(replace(node("select", box=(0, 0, 80, 20)), selected="Chile"))
    opened, named, taken = _decisions(
        select_option(closed, locator("select"), "Chile", "It is asked for."),
        closed,
        closed,
        chosen,
    )

    assert isinstance(opened.action, Click)
    assert named.action == TypeText(text="Chile")
    assert taken.action == Key(key="Enter")
    assert opened.thought == "It is asked for. The list shows 'Peru', so I open it."
    assert _decisions(select_option(closed, locator("select"), "Peru", "")) == []


def test_a_list_that_took_another_option_is_opened_again() -> None:
    peru, cuba, chile = (
        page(replace(node("select", box=(0, 0, 80, 20)), selected=name))
        for name in ("Peru", "Cuba", "Chile")
    )
    plan = select_option(peru, locator("select"), "Chile", "It is asked for.")
    made = _decisions(plan, peru, peru, cuba, cuba, cuba, chile)

    assert [decision.action.type for decision in made] == ["click", "type", "key"] * 2
    assert made[3].thought == "It is asked for. The list shows 'Cuba', so I open it."
    never = select_option(peru, locator("select"), "Chile", "It is asked for.")
    assert len(_decisions(never, *[peru] * 20)) == 9


def test_further_options_of_an_open_list_are_clicked_with_control() -> None:
    options = [node("option", text=name, box=(0, 20, 80, 20)) for name in ("Peru", "Chile")]
    opened = page(node("select", *options, multiple="", box=(0, 0, 80, 90)))

    (first,) = _decisions(select_option(opened, locator("select"), "Peru", "It is."), opened)
    more = _decisions(
        select_option(opened, locator("select"), "Chile", "It is.", more=True), *[opened] * 3
    )

    assert isinstance(first.action, Click)
    assert [decision.action.type for decision in more] == ["key_down", "click", "key_up"]


def test_what_never_comes_into_view_is_given_up() -> None:
    lost = page(node("button", text="Low", box=(0, 900, 40, 20), reachable=False))
    scrolls: list[Decision] = []
    with pytest.raises(SkillError, match="Low does not come into view"):
        scrolls.extend(play(scroll_into_view(lost, button("Low")), lambda _: lost))

    assert len(scrolls) == MAX_SCROLLS


def test_a_field_that_holds_the_text_is_left_alone() -> None:
    now = page(node("input", value="same"))

    assert _decisions(fill(now, locator("input"), "same", "")) == []


def test_a_field_is_clicked_and_looked_at_before_it_is_typed_into() -> None:
    now = page(node("input", value="", box=(0, 0, 20, 10)))
    focused = page(node("input", value="", box=(0, 0, 20, 10), focused=True))
    clicked, typed = _decisions(
        fill(now, locator("input"), "new", "It is asked for."), focused, focused
    )

    assert clicked.action == Click(x=10, y=5)
    assert "field" in (clicked.thought or "")
    assert typed.action == TypeText(text="new")
    assert typed.thought == "It is asked for."


def test_a_field_that_has_the_focus_takes_no_click() -> None:
    now = page(node("input", value="", focused=True))
    (typed,) = _decisions(fill(now, locator("input"), "new", ""), now)

    assert typed.action == TypeText(text="new")


def test_a_field_that_holds_another_text_is_overwritten() -> None:
    now = page(node("input", value="old", focused=True))
    marked, typed = _decisions(fill(now, locator("input"), "new", ""), now, now)

    assert marked.action == Key(key="Control+a")
    assert typed.action == TypeText(text="new")


def test_nothing_is_typed_where_two_clicks_give_no_focus() -> None:
    now, taken = page(node("input", value="")), list[Decision]()

    with pytest.raises(SkillError, match="the field does not take the focus"):
        taken.extend(play(fill(now, locator("input"), "new", ""), lambda _: now))
    assert [decision.action.type for decision in taken] == ["click", "click"]


def test_the_click_says_which_field_it_means() -> None:
    user, key = node("input", id="user"), node("input", type="password", id="key")
    hint, note = node("input", placeholder="Town:"), node("textarea", id="note")
    labels = [node("label", text="Name:"), node("label", text="Remark"), node("p", note)]
    labels[1].attrs["for"] = "note"
    now = page(node("p", labels[0], user), node("p", key), node("p", hint), labels[1], labels[2])

    said = [next(fill(now, by_id(name), "x", "")).thought for name in ("user", "key", "note")]
    said.append(next(fill(now, locator("input", place=3), "x", "")).thought)

    for words, thought in zip(
        ("the field for Name", "the 2nd", "the field for Remark", "the field for Town"),
        said,
        strict=True,
    ):
        assert thought is not None
        assert words in thought.replace("The", "the")


def test_the_innermost_element_that_says_it_is_the_button() -> None:
    inner = node("div", text="Go", id="inner")
    now = page(node("div", inner, id="outer"))

    assert button("Go")(now) is inner


def test_places_count_from_either_end() -> None:
    now = page(*(node("li", text=str(n)) for n in range(3)))

    assert locator("li", place=1)(now).text == "0"
    assert locator("li", place=-1)(now).text == "2"
    with pytest.raises(SkillError):
        locator("li", place=4)(now)


def test_a_text_is_scrolled_to_its_very_end_by_most_of_what_is_in_sight() -> None:
    top = 0.0

    def now() -> Page:
        return page(node("textarea", box=(0, 0, 100, 50), scroll=(0, top, 100, 130)))

    amounts = []
    plan = scroll_through(now(), locator("textarea"), Direction.DOWN, "")
    for decision in play(plan, lambda _: now()):
        assert isinstance(decision.action, Scroll)
        amounts.append(decision.action.amount)
        top += decision.action.amount

    assert amounts == [40, 40]
