"""A reference finds a row by a search, a filter, an order or page by page, each only where it is offered and follows."""

from collections.abc import Mapping
from random import Random

import pytest
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.ground.list_filters import filtered_rows
from generators.tasks.worlds.ground.mentions import RowsSaid, Said, ValueSaid
from generators.tasks.worlds.ground.wording import Goal
from generators.tasks.worlds.ground.world_rows import Setting, quote
from generators.tasks.worlds.references.forms import save_change
from generators.tasks.worlds.references.manners import in_manner
from generators.tasks.worlds.references.steps import (
    Steps,
    answer,
    find_listed,
    look,
    to_list,
    to_row,
)
from generators.worlds.state.database import Row
from schemas.tasks.reference import Do, Purpose
from schemas.worlds.world import Entity, View, World

SETTING = Setting(SHOP, shop_rows())
WAYS = {
    Purpose.SEARCH: "search",
    Purpose.SEARCH_AT_ONCE: "search",
    Purpose.FILTER: "filter",
    Purpose.SORT: "sort",
}


def _place(entity: str, setting: Setting = SETTING) -> tuple[View, Entity]:
    view = setting.world.view_of(entity)
    assert view is not None
    return view, setting.world.entity(entity)


def _goal(*named: str, **called: str) -> Goal:
    """Return a goal that calls rows by their titles, or as `called` says."""
    names = {**{title: title for title in named}, **called}
    return Goal("", "", "", (), names, frozenset())


def _ways(
    steps: Steps, goal: Goal, words: Mapping[str, Said] | None = None, setting: Setting = SETTING
) -> list[set[str]]:
    """Return the ways in which each list of a reference is gone through, for each of many seeds together."""
    found = list[set[str]]()
    for seed in range(60):
        drawn = in_manner(setting, steps, goal=goal, words=words or {}, random=Random(seed))
        lists, ways = list[set[str]](), set[str]()
        for step in drawn:
            ways |= {WAYS[step.purpose]} if step.purpose in WAYS else set()
            if step.do is Do.FIND:
                lists.append(ways or {"pages"})
                ways = set()
        found = [one | other for one, other in zip(found, lists, strict=True)] if found else lists
    return found


def _to(entity: str, row: Row, setting: Setting = SETTING) -> Steps:
    view, table = _place(entity, setting)
    return to_row(setting, view, table, row, reads=())


def _title(entity: str, row: Row) -> str:
    return SETTING.title(SHOP.entity(entity), row)


def _early(entity: str) -> Row:
    """Return a row whose name comes first by the alphabet."""
    rows = SETTING.rows_of(SHOP.entity(entity))
    return min(rows, key=lambda row: _title(entity, row).casefold())


def test_a_row_that_the_goal_names_is_searched_for_ordered_or_read_for() -> None:
    row = _early("customer")

    ways = _ways(_to("customer", row), _goal(_title("customer", row)))

    assert ways == [{"search", "sort", "pages"}]


def test_a_filter_follows_from_what_the_goal_says_of_its_rows_and_from_nothing_else() -> None:
    row = SETTING.rows_of(SHOP.entity("purchase"))[3]
    state, steps = str(row["status"]), _to("purchase", row)
    entity = SHOP.entity("purchase")
    value = ValueSaid(entity, entity.field("status"), state)
    told: dict[str, Said] = {"among": RowsSaid(entity, (value,))}
    goal, all_of_them = _goal()._replace(told=quote(state)), _goal()

    assert _ways(steps, goal, told) == [{"search", "filter", "pages"}]
    assert _ways(steps, goal, {"before": value}) == [{"search", "filter", "pages"}]
    assert _ways(steps, all_of_them, told) == [{"search", "pages"}], "the goal does not say it"
    assert _ways(steps, goal, {"condition": value}) == [{"search", "pages"}], (
        "a condition says nothing of the row"
    )


def test_a_row_that_the_goal_describes_is_found_by_what_it_says_and_by_no_search() -> None:
    row = SETTING.rows_of(SHOP.entity("purchase"))[3]
    title, state = _title("purchase", row), str(row["status"])
    described = _goal(**{title: ""})
    told = described._replace(facts=frozenset({(title, "status", state)}))

    assert _ways(_to("purchase", row), described) == [{"pages"}]
    assert _ways(_to("purchase", row), told) == [{"filter", "pages"}]


def test_a_row_that_the_goal_calls_by_a_part_of_its_title_is_searched_for_by_that() -> None:
    row = SETTING.rows_of(SHOP.entity("purchase"))[3]
    title = _title("purchase", row)
    goal = _goal(**{title: title[-3:]})

    drawn = in_manner(SETTING, _to("purchase", row), goal=goal, words={}, random=Random(2))
    typed = {
        step.text for step in drawn if step.purpose in (Purpose.SEARCH, Purpose.SEARCH_AT_ONCE)
    }
    assert typed <= {title[-3:]}
    assert {"search"} <= _ways(_to("purchase", row), goal)[0]


def test_a_value_that_was_read_is_known_until_the_row_is_changed() -> None:
    view, entity = _place("purchase")
    row, field = SETTING.rows_of(entity)[3], entity.field("status")
    read = look(SETTING, entity, [field])
    once = (*_to("purchase", row), *read, *_to("purchase", row))
    changed = (
        *_to("purchase", row),
        *read,
        *save_change(SETTING, entity, row, {"quantity": 7}),
        *_to("purchase", row),
    )

    assert "filter" in _ways(once, _goal())[1]
    assert "filter" not in _ways(changed, _goal())[1]
    assert view.filters


def test_a_filter_leaves_the_row_and_its_thought_says_why() -> None:
    view, entity = _place("purchase")
    row = SETTING.rows_of(entity)[3]
    state, title = str(row["status"]), _title("purchase", row)
    goal = _goal()._replace(told=quote(state))
    words: dict[str, Said] = {
        "among": RowsSaid(entity, (ValueSaid(entity, entity.field("status"), state),))
    }
    drawn = (
        in_manner(SETTING, _to("purchase", row), goal=goal, words=words, random=Random(seed))
        for seed in range(60)
    )

    chosen = [step for steps in drawn for step in steps if step.purpose is Purpose.FILTER]
    assert chosen
    assert {(step.on, step.text) for step in chosen} == {("Status", state)}
    assert row in filtered_rows(SETTING, entity, {"status": state})
    assert all(quote(state) in (step.why or "") for step in chosen)
    assert not any(title in (step.why or "") for step in chosen), "no step before names it"
    assert view.name == "orders"


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
def test_an_order_begins_at_the_end_of_the_alphabet_that_is_nearer(place: int) -> None:
    rows = SETTING.rows_of(SHOP.entity("customer"))
    names = sorted(rows, key=lambda row: _title("customer", row).casefold())
    row = names[place]
    goal = _goal(_title("customer", row))
    drawn = (
        in_manner(SETTING, _to("customer", row), goal=goal, words={}, random=Random(seed))
        for seed in range(60)
    )

    orders = {step.on for steps in drawn for step in steps if step.purpose is Purpose.SORT}
    words = SHOP.words
    first = _title("customer", row)[0].casefold()
    way = words.descending if first > "m" else words.ascending
    assert orders == {way.format(field="Full name")}


def test_a_list_is_not_ordered_by_names_that_are_numbers_or_unknown() -> None:
    order, customer = SETTING.rows_of(SHOP.entity("purchase"))[0], _early("customer")

    assert "sort" not in _ways(_to("purchase", order), _goal(_title("purchase", order)))[0]
    assert "sort" not in _ways(_to("customer", customer), _goal())[0]


def test_a_list_is_not_ordered_for_a_letter_that_most_names_begin_with() -> None:
    rows = shop_rows()
    alike = [{**row, "name": f"Ada {row['name']}"} for row in rows["customer"]]
    setting = Setting(SHOP, {**rows, "customer": alike})
    goal, row = _goal("Ada Ada Lind"), alike[0]

    assert _ways(_to("customer", row, setting), goal, setting=setting) == [{"search", "pages"}]


def test_what_an_order_is_asked_for_is_left_as_it_is() -> None:
    view, entity = _place("product")
    row = SETTING.rows_of(entity)[5]
    steps = (
        *to_list(SETTING, view, {}, sort=entity.field("price"), descending=True),
        find_listed(SETTING, SETTING.title(entity, row)),
        answer(),
    )

    for seed in range(20):
        goal = _goal(SETTING.title(entity, row))
        assert in_manner(SETTING, steps, goal=goal, words={}, random=Random(seed)) == steps


def test_a_row_that_is_many_pages_away_is_not_read_for() -> None:
    near = SHOP.views[0]
    views = (near.model_copy(update={"page_size": 3, "sorts": ("price",)}), *SHOP.views[1:])
    rows = shop_rows()
    more = [{**rows["product"][0], "id": 12 + at, "name": f"Thing {at}"} for at in range(1, 9)]
    world: World = SHOP.model_copy(update={"views": views})
    setting = Setting(world, {**rows, "product": [*rows["product"], *more]})
    row = setting.rows_of(world.entity("product"))[-1]

    assert _ways(_to("product", row, setting), _goal(str(row["name"])), setting=setting) == [
        {"search"}
    ]
