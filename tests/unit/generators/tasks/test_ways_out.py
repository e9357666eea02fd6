"""Pages without navigation are left before anything else is done: back, by closing their tab, or for the first one."""

import pytest
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.sheets import with_ways_out
from generators.tasks.worlds.references.steps import (
    Steps,
    act,
    answer,
    click,
    look,
    open_row,
    search,
    see,
    to_row,
    to_view,
)
from schemas.tasks.reference import Do, Purpose
from schemas.worlds.behaviour import Acts, Facts

(VIEW, ENTITY), *_ = (
    (view, SHOP.entity(view.entity)) for view in SHOP.views if SHOP.view_of(view.entity) is view
)


def setting(**behaviour: object) -> Setting:
    """Return the shop with another behaviour."""
    how = SHOP.behaviour.model_copy(update=behaviour)
    return Setting(SHOP.model_copy(update={"behaviour": how}), shop_rows())


def dos(steps: Steps) -> list[str]:
    return [
        f"{one.do.value} {one.text}" if one.do is Do.TAB else one.do.value
        for one in steps
        if one.do in {Do.BACK, Do.TAB, Do.ANSWER} or one.purpose in {Purpose.SHEET, Purpose.VIEW}
    ]


def sheet_steps(shop: Setting) -> Steps:
    return (click("Details", Purpose.SHEET), see("Price"), *to_view(shop, VIEW), answer())


@pytest.mark.parametrize(("in_tab", "ways"), [(False, {"back"}), (True, {"tab close", "tab 0"})])
def test_a_sheet_is_left_before_what_it_does_not_show(in_tab: object, ways: set[str]) -> None:
    shop = setting(facts=Facts.SHEET, in_tab=in_tab)

    sheet, out, view, end = dos(with_ways_out(shop, sheet_steps(shop)))

    assert (sheet, view, end) == ("click", "click", "answer")
    assert out in ways


def test_a_sheet_that_is_the_end_is_not_left() -> None:
    shop = setting(facts=Facts.SHEET)
    steps = (click("Details", Purpose.SHEET), see("Price"), answer("12"))

    assert with_ways_out(shop, steps) == steps


def test_a_link_on_a_sheet_is_followed_from_there() -> None:
    shop = setting(facts=Facts.SHEET, in_tab=True)
    steps = (click("Details", Purpose.SHEET), see("Author"), click("Mia", Purpose.ROW), answer())

    assert with_ways_out(shop, steps) == steps


def test_without_such_pages_a_reference_stays_as_it_is() -> None:
    steps = sheet_steps(setting())

    assert with_ways_out(setting(), steps) == steps


def test_reading_goes_back_from_a_sheet_for_what_the_page_itself_shows() -> None:
    shop = setting(facts=Facts.SHEET)
    columns = VIEW.columns[1:2]
    first = [field for field in ENTITY.fields if field.name in columns]
    rest = [field for field in ENTITY.fields if field.name not in VIEW.columns]

    taken = look(shop, ENTITY, [*rest[:1], *first, *rest[:1]])

    assert [one.do for one in taken if one.do is not Do.LOOK] == [Do.CLICK, Do.BACK, Do.CLICK]


@pytest.mark.parametrize(("in_tab", "way"), [(False, "back"), (True, "tab close")])
def test_a_rows_page_alone_is_left_for_the_navigation(in_tab: object, way: str) -> None:
    shop = setting(rows_alone=True, in_tab=in_tab)
    row = shop.rows_of(ENTITY)[0]
    steps = (*to_row(shop, VIEW, ENTITY, row, reads=()), *to_view(shop, VIEW), answer())

    assert dos(with_ways_out(shop, steps)) == ["click", way, "click", "answer"]


def test_after_a_deletion_the_list_is_there_again() -> None:
    shop = setting(rows_alone=True, in_tab=True)
    row = shop.rows_of(ENTITY)[0]
    gone = (*to_row(shop, VIEW, ENTITY, row, reads=()), click("Yes", Purpose.CONFIRM))
    steps = (*gone, *to_view(shop, VIEW), answer())

    assert dos(with_ways_out(shop, steps)) == ["click", "click", "answer"]


def test_a_new_rows_page_is_in_the_tab_of_its_form() -> None:
    shop = setting(rows_alone=True, in_tab=True)
    steps = (click("Add", Purpose.ADD), click("Save", Purpose.SAVE), *to_view(shop, VIEW))

    assert dos(with_ways_out(shop, steps)) == ["back", "click"]


def test_other_ways_are_taken_where_a_world_has_them() -> None:
    twice = open_row(setting(twice=True), VIEW, "Lamp")
    context = act(setting(acts=Acts.CONTEXT, actions=None), "Edit", Purpose.EDIT)
    hovered = act(setting(acts=Acts.HOVER, actions="More"), "Edit", Purpose.EDIT)
    slow = search(setting(slow_ms=3_000), VIEW, "Lamp")

    assert twice.do is Do.DOUBLE_CLICK
    assert [one.do for one in context] == [Do.RIGHT_CLICK, Do.CLICK]
    assert [one.do for one in hovered] == [Do.HOVER, Do.CLICK]
    assert slow[-1].do is Do.WAIT
    assert open_row(setting(), VIEW, "Lamp").do is Do.CLICK
