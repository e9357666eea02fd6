import pytest
from support.browsers.page_trees import node, page

from generators.policy.teacher.page import SkillError, say


def test_the_goal_is_no_part_of_the_page() -> None:
    now = page(node("div", node("span", text="Okay"), id="query"), node("button", text="Okay"))

    assert [found.tag for found in now.all(text="Okay")] == ["button"]


def test_what_is_not_rendered_is_left_out_unless_asked_for() -> None:
    now = page(node("p", text="seen"), node("p", text="unseen", shown=False))

    assert [found.text for found in now.all("p")] == ["seen"]
    assert [found.text for found in now.all("p", shown=False)] == ["seen", "unseen"]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(SkillError, match=r"^I see no button that says Go$"):
        page(node("p")).one("button", cls="red", text="Go")
    with pytest.raises(SkillError, match=r"^I see no entry or link of the kind that I look for$"):
        page(node("p")).one("li", "a", cls="ui-tabs-anchor")
    with pytest.raises(SkillError, match=r"^I see no thing of the kind that I look for$"):
        page(node("p")).one("div", where=lambda found: found.attrs.get("id") == "area")


def test_a_thing_is_said_in_one_way_on_one_page_and_in_all_ways_over_many() -> None:
    ways = ("I see it.", "It is here.", "Here it stands.")
    pages = [page(node("p", text=f"word {n}"), goal="Look.") for n in range(40)]

    assert {say(one, *ways) for one in pages} == {*ways}
    assert [say(one, *ways) for one in pages] == [say(one, *ways) for one in pages]
    assert len({say(page(goal=f"Look for {n}."), *ways) for n in range(40)}) == len(ways)


def test_the_nearest_box_that_scrolls_is_found() -> None:
    item = node("li", text="deep")
    inner = node("ul", item, scroll=(0, 0, 20, 100), id="inner")
    now = page(node("div", inner, scroll=(0, 0, 20, 900), id="outer"))
    scroller = now.scroller(item)

    assert scroller is inner


def test_a_node_of_another_reading_has_no_place_on_this_page() -> None:
    other = node("p")

    assert page(node("p")).parent(other) is None
