"""Remarks say what the picture shows wholly, and name nothing beside a field that is clicked."""

from dataclasses import replace
from random import Random
from typing import Any

from support.browsers.reference_pages import AWAY, node, sight_of
from support.episodes.said import says

from generators.browser.protocol import Node
from generators.policy.thoughts.remarks import Remark, Scene, Use, remark
from schemas.episodes.action import Action, Answer, Click, Direction, Scroll, TypeText
from schemas.tasks.reference import Fact

DOWN = Scroll(direction=Direction.DOWN, amount=100)


def remarks(
    action: Action, root: Node, thought: str = "So.", goal: str = "", **known: object
) -> set[str]:
    """Return what may be said beside an action; `known` are fields of a scene."""
    scene = Scene(
        action,
        sight_of(root),
        is_new_page=False,
        use=Use.READ,
        first_row=None,
        is_new_list=True,
        label="",
        entered={},
        entered_last="",
        proofs=(),
        to_enter=0,
        noted=None,
        to_change=frozenset(),
        typed=(),
        known_messages=(),
    )._replace(**known)  # type: ignore[arg-type]
    return {remark(scene, thought, goal, Random(seed)) for seed in range(80)}


def listed(*names: str, at: int = 10) -> Node:
    """Return a page with a list of links."""
    rows = [
        node("tr", "", node("td", "", node("a", name, at=(5.0, at + 20.0 * n), top=20.0 * n)))
        for n, name in enumerate(names)
    ]
    return node("body", "", node("h1", "Lamps"), node("table", "", node("tbody", "", *rows)))


NAMES = ("Lamp small", "Lamp large", "Table lamp", "Lamp shade")


def test_rows_are_told_from_the_first_to_the_last_in_sight() -> None:
    for one in remarks(DOWN, listed(*NAMES)):
        assert '"Lamp small"' in one
        assert '"Lamp shade"' in one


def test_a_name_of_which_a_part_cannot_be_read_is_not_told() -> None:
    root = listed(*NAMES)
    heading, table = root.children
    heading.point, heading.text, heading.own_text = (5.0, 5.0), "Lamps … shades", "Lamps … shades"
    arrived = remarks(DOWN, root, is_new_page=True, use=Use.NONE)
    assert any("Lamps … shades" in one for one in arrived)
    heading.is_cut = True
    assert not any("Lamps" in one for one in remarks(DOWN, root, is_new_page=True, use=Use.NONE))
    first = next(one for one in table.walk() if one.tag == "a")
    first.is_cut = True
    assert not any('"Lamp small"' in one for one in remarks(DOWN, root))


def test_a_row_that_is_covered_or_cut_off_is_not_told() -> None:
    root = listed(*NAMES)
    links = [one for one in root.walk() if one.tag == "a"]
    links[0].point = AWAY
    links[-1].box = (0.0, 395.0, 10.0, 10.0)
    for one in remarks(DOWN, root):
        assert "Lamp small" not in one
        assert "Lamp shade" not in one


def test_rows_are_said_to_be_wholly_in_sight_where_others_are_in_part() -> None:
    root = listed(*NAMES, "Lamp foot")
    last = [one for one in root.walk() if one.tag == "a"][-1]
    last.box = (0.0, 395.0, 10.0, 10.0)
    said = remarks(DOWN, root)
    assert all(says(one, "remarks.whole", name="Lamp small", other="Lamp shade") for one in said)


def test_a_row_whose_name_is_cut_off_is_in_sight_in_part() -> None:
    root = listed(*NAMES)
    links = [one for one in root.walk() if one.tag == "a"]
    links[0].point = AWAY
    row = next(one for one in root.walk() if one.tag == "tr")
    row.children.append(node("td", "12", at=(50.0, 1.0)))
    said = remarks(DOWN, root)
    assert all(says(one, "remarks.whole", name="Lamp large", other="Lamp shade") for one in said)


def test_of_two_lists_none_is_told() -> None:
    two = listed(*NAMES)
    two.children.append(node("ul", "", *(node("li", "", node("a", one)) for one in ("Box", "Bag"))))
    assert remarks(DOWN, two) == {"So."}


def test_cards_beside_each_other_are_no_rows() -> None:
    root = listed(*NAMES)
    for one in root.walk():
        one.box = (0.0, 20.0, 10.0, 10.0)
    assert all(says(one, "remarks.cards", name="Lamp small") for one in remarks(DOWN, root))


def test_the_links_of_a_pager_and_of_the_navigation_are_no_rows() -> None:
    links = [node("li", "", node("a", name)) for name in NAMES]
    pager = node("body", "", node("ul", "", *links, class_="pagination"))
    menu = node("body", "", node("nav", "", node("ul", "", *links)))
    assert remarks(DOWN, pager) == remarks(DOWN, menu) == {"So."}


def test_buttons_and_boxes_of_other_kinds_are_no_rows() -> None:
    boxes = [node("div", "", node("a", name), class_=f"part{at}") for at, name in enumerate(NAMES)]
    buttons = [node("li", "", node("a", name, role="button")) for name in NAMES]
    for parts in (node("div", "", *boxes), node("ul", "", *buttons)):
        assert remarks(DOWN, node("body", "", parts)) == {"So."}


def test_numbers_of_days_are_no_names() -> None:
    assert remarks(DOWN, listed("1", "2", "3", "4")) == {"So."}


def test_a_row_that_is_opened_is_told_by_its_neighbours() -> None:
    said = remarks(Click(x=5, y=30), listed(*NAMES), 'I open "Lamp large".', use=Use.OPEN)
    assert any(says(one, "remarks.between", name="Lamp small", other="Table lamp") for one in said)


def test_a_list_is_told_only_where_it_is_looked_through() -> None:
    add = node("button", "Add", at=(9.0, 200.0))
    root = listed(*NAMES)
    root.children.append(add)
    said = remarks(Click(x=9, y=200), root, 'I click "Add".', use=Use.NONE)
    assert not any("Lamp" in one for one in said)


def test_a_list_that_is_about_to_change_is_told_to_be_as_it_was() -> None:
    root = listed(*NAMES)
    root.children.append(node("button", "Apply", at=(9.0, 200.0)))
    first = "Lamp small"
    apply = Click(x=9, y=200)
    said = remarks(apply, root, 'I click "Apply".', use=Use.NARROW, first_row=first)
    assert any(says(one, "remarks.unchanged", name="Lamp small") for one in said)
    other = remarks(apply, root, 'I click "Apply".', use=Use.NARROW, first_row="Bed")
    assert not any("Lamp" in one for one in other)


def test_the_first_row_of_a_list_has_no_neighbours() -> None:
    said = remarks(Click(x=5, y=10), listed(*NAMES), 'I open "Lamp small".')
    assert not any(says(one, "remarks.between") for one in said)


def test_beside_a_click_that_names_nothing_only_its_place_is_told() -> None:
    said = remarks(Click(x=5, y=30), listed(*NAMES), "I click on it.")
    assert any(says(one, "remarks.place") for one in said)
    assert not any('"' in one for one in said)


def field(value: str = "") -> Node:
    one = node("input", "", at=(30.0, 31.0), id="who", placeholder="Your name")
    return replace(one, value=value, box=(30.0, 31.0, 60.0, 10.0))


def test_beside_a_field_that_is_clicked_nothing_else_is_named() -> None:
    root = listed(*NAMES)
    root.children.append(field("Ada"))
    for one in remarks(Click(x=30, y=31), root, is_new_page=True, entered={"Your name": "Ada"}):
        assert '"' not in one
    chooser = node("button", "Any", at=(60.0, 61.0), role="combobox")
    root.children.append(chooser)
    for one in remarks(Click(x=60, y=61), root, 'I open "Any".'):
        assert "Lamp" not in one


def test_a_field_is_told_to_hold_what_it_holds() -> None:
    typed = TypeText(x=30, y=31, text="Bo", overwrite=True)
    held = remarks(typed, node("body", "", field("Ada")), label="Your name")
    assert all(says(one, "remarks.holds", other="Ada") for one in held)
    empty = remarks(typed, node("body", "", field()), label="Your name")
    assert all(says(one, "remarks.empty", name="Your name") for one in empty)
    assert remarks(typed, node("body", "", field("Ada")), label="#who") == {"So."}
    typing = remarks(typed, node("body", "", field("Ada")), label="Your name", typed=["Adam"])
    assert typing == {"So."}
    cut = node("body", "", field("Ada and many others"))
    assert remarks(typed, cut, label="Your name") == {"So."}


def test_a_list_is_told_to_hold_the_words_that_it_shows() -> None:
    doctor = replace(field("7"), tag="select", selected="Ann", attrs={"id": "who"})
    opened = remarks(Click(x=30, y=31), node("body", "", doctor), label="Doctor")
    assert any(says(one, "remarks.holds", name="Doctor", other="Ann") for one in opened)
    assert not any('"7"' in one for one in opened)


def test_what_was_entered_is_told_where_the_field_shows_it() -> None:
    root = node("body", "", field("Ada"), node("button", "Save", at=(9.0, 9.0)))
    save = Click(x=9, y=9)
    told: dict[str, Any] = {"entered": {"Your name": "Ada"}, "entered_last": "Your name"}
    shown = remarks(save, root, 'I click "Save".', **told)
    assert any(says(one, "remarks.entered", name="Your name", other="Ada") for one in shown)
    other = remarks(save, root, 'I click "Save".', **{**told, "entered": {"Your name": "Bo"}})
    assert not any("Bo" in one for one in other)


def test_an_older_entry_is_not_told_after_something_else_was_set() -> None:
    root = node("body", "", field("Ada"), node("button", "Save", at=(9.0, 9.0)))
    said = remarks(Click(x=9, y=9), root, 'I click "Save".', entered={"Your name": "Ada"})
    assert not any("Ada" in one for one in said)


def test_a_place_is_told_only_where_it_is_plainly_so() -> None:
    for at, is_told in (((5.0, 10.0), True), ((250.0, 200.0), True), ((250.0, 270.0), False)):
        there = node("button", "Go", at=at)
        said = remarks(Click(x=at[0], y=at[1]), node("body", "", there), 'I click "Go".')
        assert any(says(one, "remarks.place") for one in said) is is_told


def test_what_proves_the_end_is_told_before_all_else() -> None:
    root = node("body", "", node("h1", "Lamp"))
    proofs = (Remark("proof", "Price", "12"),)
    told = remarks(Answer(), root, is_new_page=True, proofs=proofs)
    assert all(says(one, "remarks.proof", name="Price", other="12") for one in told)


def test_how_far_a_form_is_is_told_only_if_all_of_it_is_in_sight() -> None:
    note = replace(node("input", "", at=(30.0, 61.0), placeholder="Note"), value="")
    root = node("body", "", field("Ada"), note)
    typed = TypeText(x=30, y=61, text="Bo", overwrite=True)
    told = remarks(typed, root, label="Note", entered={"Your name": "Ada"}, to_enter=2)
    assert any(says(one, "remarks.progress", name="one", more="two") for one in told)
    for known in ({"Your name": "Eve"}, {"Your name": "Ada", "Age": "4"}):
        said = remarks(typed, root, label="Note", entered=known, to_enter=2)
        assert not any(says(one, "remarks.progress") for one in said)


def test_the_fields_of_a_form_are_told_and_its_choices_are_not() -> None:
    named = [node("label", one, for_=one) for one in ("Name", "Room", "Kind")]
    choice = node("label", "Cash", for_="cash")
    box = node("input", "", id="cash", type="radio", at=AWAY)
    form = node("form", "", *named, choice, box, method="post")
    for one in remarks(DOWN, node("body", "", form), use=Use.NONE):
        assert says(one, "remarks.fields", name="Name", other="Kind")
    asks = node("form", "", *named, method="get")
    assert remarks(DOWN, node("body", "", asks), use=Use.NONE) == {"So."}


def test_what_was_noted_is_told_where_it_is_typed() -> None:
    fact = Fact(of="Lamp", label="Price", value="12")
    typed = TypeText(x=30, y=31, text="12", overwrite=True)
    root = node("body", "", field())
    told = remarks(typed, root, label="Your name", noted=fact)
    assert any(says(one, "remarks.noted", name="Lamp", other="Price", more="12") for one in told)
    assert not any(says(one, "remarks.noted") for one in remarks(typed, root, label="Your name"))


PRICE = frozenset({"Price"})


def test_what_is_to_be_changed_is_told_as_it_is() -> None:
    pair = (node("dt", "Price"), node("dd", "12 euros"))
    root = node("body", "", node("dl", "", *pair))
    told = remarks(DOWN, root, to_change=PRICE)
    assert all(says(said, "remarks.to_change", name="Price", other="12 euros") for said in told)
    assert remarks(DOWN, root) == {"So."}


def test_what_is_clicked_is_told_by_what_it_is_of_the_page() -> None:
    pair = (node("dt", "Buyer"), node("dd", "", node("a", "Ada", at=(50.0, 60.0))))
    root = node("body", "", node("dl", "", *pair))
    told = remarks(Click(x=50, y=60), root, 'I open "Ada".', use=Use.OPEN)
    assert not any('"Buyer"' in one and '"Ada"' not in one for one in told)
    assert any('"Buyer"' in one for one in told)


def test_facts_of_a_row_of_a_list_or_of_several_values_are_not_told() -> None:
    pair = (node("dt", "Price"), node("dd", "12 euros"))
    row = node("body", "", node("ul", "", node("li", "", node("dl", "", *pair))))
    assert remarks(DOWN, row, to_change=PRICE) == {"So."}
    tags = node("dd", "", node("span", "Red"), node("span", "Blue"))
    several = node("body", "", node("dl", "", pair[0], tags))
    assert remarks(DOWN, several, to_change=PRICE) == {"So."}
    hidden = node("body", "", node("dl", "", pair[0], node("dd", "12 euros", at=AWAY)))
    assert remarks(DOWN, hidden, to_change=PRICE) == {"So."}


def test_beside_an_end_no_fact_is_told_that_proves_nothing() -> None:
    pair = (node("dt", "Price"), node("dd", "12 euros"))
    assert remarks(Answer(), node("body", "", node("dl", "", *pair)), to_change=PRICE) == {"So."}


def test_what_the_goal_says_is_not_told_where_there_is_something_else() -> None:
    pairs = (node("dt", "Price"), node("dd", "12 euros"), node("dt", "Room"), node("dd", "Hall"))
    root = node("body", "", node("dl", "", *pairs))
    both = {"Price", "Room"}
    for one in remarks(DOWN, root, goal="say where it is: hall", to_change=both):
        assert says(one, "remarks.to_change", name="Price")


def test_a_list_is_told_to_have_changed_only_if_its_first_row_is_another() -> None:
    changed = remarks(DOWN, listed(*NAMES), first_row="Chair")
    assert any(says(one, "remarks.renewed", name="Lamp small") for one in changed)
    for first, is_new in ((None, True), ("Lamp small", True), ("Chair", False)):
        same = remarks(DOWN, listed(*NAMES), first_row=first, is_new_list=is_new)
        assert not any(says(one, "remarks.renewed") for one in same)


def test_other_entries_of_the_navigation_are_told_of_one_of_them() -> None:
    links = [node("a", one, at=(5.0 + 10 * at, 5.0)) for at, one in enumerate(("Home", "Orders"))]
    root = node("body", "", node("nav", "", *links))
    said = remarks(Click(x=15, y=5), root, 'I open "Orders".')
    assert any(says(one, "remarks.entry", name="Home") for one in said)
    assert not any(says(one, "remarks.entry", name="Orders") for one in said)


def test_a_message_that_the_thought_quotes_with_its_point_is_not_told_again() -> None:
    root = node("body", "", node("div", "Not saved.", role="status"))
    assert remarks(DOWN, root, '"Not saved." So.') == {'"Not saved." So.'}


def test_a_message_that_stood_there_before_is_not_told() -> None:
    root = node("body", "", node("div", "Saved. ×", role="status"))
    for known in (("Saved",), None):
        assert remarks(DOWN, root, known_messages=known) == {"So."}


def test_messages_are_told_without_what_closes_them() -> None:
    root = node("body", "", node("div", "Saved. ×", role="status"))
    assert all(says(one, "remarks.told", name="Saved") for one in remarks(DOWN, root))
    away = node("body", "", node("div", "Saved.", role="status", at=AWAY))
    assert remarks(DOWN, away) == {"So."}
