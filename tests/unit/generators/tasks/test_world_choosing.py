"""Which rows a task of a world may name, compare, delete or ask about."""

from itertools import islice
from random import Random

import pytest
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds import draw
from generators.tasks.worlds.draw import draw_tasks
from generators.tasks.worlds.ground.changes import clashes, find_ways
from generators.tasks.worlds.ground.task import WorldTask
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from generators.worlds.state.database import Row, Rows
from schemas.worlds.field import DataField
from schemas.worlds.world import Entity, Transition, View, World


def test_a_world_that_has_no_more_tasks_gives_fewer() -> None:
    world, rows = _only(
        "customer",
        fields=("name", "city"),
        can_add=False,
        can_edit=False,
        can_delete=False,
    )

    tasks = draw_tasks(world, rows, 0, 1_000)

    assert {task.kind for task in tasks} >= {"find", "impossible"}
    assert not any(one.expect.added or one.expect.changed or one.expect.removed for one in tasks)
    assert 2 <= sum(task.kind == "find" for task in tasks) <= 6


def _tasks(world: World, rows: Rows, kind: str, count: int = 1) -> list[WorldTask]:
    """Return the tasks of one kind that `draw_tasks` takes turns with; none of the others is drawn."""
    return list(islice(draw._tasks(Setting(world, rows), KINDS[kind], 0, world.sha256), count))


def test_a_row_that_shares_its_title_is_not_named() -> None:
    assert _named(_customers("Ada Lind", "ada lind", "Ada Lund")) == ["Ada Lund"]


def test_a_row_whose_title_cannot_be_quoted_is_not_named() -> None:
    assert _named(_customers('Ada "Lil" Lind', "Ada  Lond", "Ada Lund" * 20, "Ada Lund")) == [
        "Ada Lund"
    ]


def test_a_row_far_down_a_list_without_a_search_is_not_named() -> None:
    rows = _customers(*(f"Ada {number:02}" for number in range(30)))

    assert len(_named(rows, page_size=3, searched=True)) == 30
    assert len(_named(rows, page_size=3, searched=False)) == 18


def test_rows_with_siblings_are_named_most_often() -> None:
    rows = _customers("Dana Fox", "Ada Lind", "Eve Hart", "Ada Ek", "Bo Ray", "Cleo Ray")
    entity, setting = SHOP.entity("customer"), Setting(SHOP, rows)
    random = Random(0)

    picked = [setting.pick(random, entity, rows["customer"]) for _ in range(400)]

    alone = [row for row in picked if row["name"] in {"Dana Fox", "Eve Hart"}]
    assert 1 <= len(alone) <= 20


def test_a_choice_with_which_another_begins_is_not_chosen() -> None:
    field = SHOP.entity("purchase").field("status")
    field = field.model_copy(update={"choices": ("In", "In progress", "Out")})

    assert [words for _, words in Setting(SHOP, {}).options(field)] == ["In progress", "Out"]


def test_rows_that_tie_are_neither_compared_nor_the_largest() -> None:
    rows = shop_rows()
    for row in rows["product"]:
        row["price"], row["stock"] = 500, 7
    world, kept = _only("product", fields=("name", "price", "stock", "category"), rows=rows)
    assert [*_tasks(world, kept, "compare"), *_tasks(world, kept, "extreme")] == []

    rows["product"][2]["price"] = 600  # the first row is no answer worth asking for

    assert _tasks(world, kept, "compare")
    assert _tasks(world, kept, "extreme")


def test_a_row_that_another_links_to_is_not_to_be_deleted() -> None:
    rows = shop_rows()
    tasks = _tasks(SHOP, rows, "delete", 20)

    removed = {(rule.table, rule.where["id"]) for task in tasks for rule in task.expect.removed}
    assert ("customer", 8) in removed
    assert not {("customer", row["customer"]) for row in rows["purchase"]} & removed


@pytest.mark.parametrize(
    ("field", "value", "asked"),
    [
        ("description", None, False),
        ("category", "Done", False),
        ("category", "Kitchen", True),
        ("stock", 1, False),
        ("stock", 2, True),
        ("price", 0, False),
        ("price", 100, False),
        ("price", 101, True),
    ],
)
def test_answers_that_cost_nothing_are_not_asked_for(
    field: str, value: str | int | None, *, asked: bool
) -> None:
    rows = shop_rows()
    for row in rows["product"]:
        row[field] = value
    world, kept = _only("product", fields=("name", field), rows=rows)

    assert asked is bool(_tasks(world, kept, "find"))


def test_a_fact_that_the_instruction_would_give_away_is_not_asked_for() -> None:
    rows = _customers("Ada Fox", "Eve Fox", "Oslo Lind", "Bergen Lind")
    for row in rows["customer"][:2]:
        row["city"] = "Kiel"
    world, kept = _only("customer", fields=("name", "city"), rows=rows)

    found = _tasks(world, kept, "find", 50)

    assert any("Bergen Lind" in task.instruction for task in found)
    assert not any("Oslo Lind" in task.instruction for task in found)


_ORDERS = SHOP.entity("purchase").model_copy(update={"apart": ("quantity", "channel")})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([({}, {"quantity": 1, "channel": "Web"})], "a new row is like a stored one"),
        ([(0, {"channel": "Phone"})], "a row becomes like one that stays"),
        ([(0, {"quantity": 9}), (2, {"quantity": 9})], "two rows become alike"),
        ([(0, {"channel": "Phone"}), (1, {"channel": "Web"})], "two are alike in between"),
    ],
)
def test_rows_that_are_kept_apart_are_not_made_alike(
    changes: list[tuple[int | Row, Row]], why: str
) -> None:
    assert clashes(*_kept_apart(changes)), why


@pytest.mark.parametrize(
    "changes",
    [
        [({}, {"quantity": 9, "channel": "Web"})],
        [(0, {"quantity": 9}), (1, {"quantity": 9})],
        [(0, {"quantity": 1})],
    ],
)
def test_rows_that_still_differ_may_be_changed(changes: list[tuple[int | Row, Row]]) -> None:
    assert not clashes(*_kept_apart(changes))


@pytest.mark.parametrize("kind", ["edit-many", "transfer", "swap", "repair"])
def test_a_task_never_asks_for_two_rows_that_a_form_refuses(kind: str) -> None:
    rows = shop_rows()
    for number, row in enumerate(rows["purchase"]):
        row.update(quantity=1 + number // 2, channel=("Web", "Phone")[number % 2])
    entities = (*SHOP.entities[:2], _ORDERS)

    asked = _changed_fields(Setting(SHOP, rows), kind)
    kept = _changed_fields(Setting(SHOP.model_copy(update={"entities": entities}), rows), kind)

    assert "channel" in asked
    assert "channel" not in kept


def _changed_fields(setting: Setting, kind: str) -> set[str]:
    """Return which fields of orders tasks of a kind change."""
    drafts = [KINDS[kind].draw(setting, Random(number)) for number in range(400)]
    rules = [rule for draft in drafts if draft is not None for rule in draft.expect.changed]
    return {name for rule in rules if rule.table == "purchase" for name in rule.set}


def _kept_apart(
    changes: list[tuple[int | Row, Row]],
) -> tuple[Setting, Entity, *tuple[tuple[Row, Row], ...]]:
    """Return four orders of 1 or 2 pieces by web or phone, all different, and their changes."""
    orders = shop_rows()["purchase"][:4]
    for number, row in enumerate(orders):
        row.update(quantity=1 + number // 2, channel=("Web", "Phone")[number % 2])
    pairs = ((orders[row] if isinstance(row, int) else row, values) for row, values in changes)
    return Setting(SHOP, {**shop_rows(), "purchase": orders}), _ORDERS, *pairs


def _customers(*titles: str) -> Rows:
    customers: list[Row] = [
        {"id": n + 1, "name": title, "email": "a@b.c", "city": "Oslo", "joined": "2024-01-01"}
        for n, title in enumerate(titles)
    ]
    return {"customer": customers}


def _named(rows: Rows, **changes: object) -> list[str]:
    entity = SHOP.entity("customer")
    view = SHOP.view_of("customer")
    assert view is not None
    setting = Setting(SHOP, rows)
    named = setting.namable(view.model_copy(update=changes), entity)
    return [setting.title(entity, row) for row in named]


def _only(
    name: str, *, fields: tuple[str, ...], rows: Rows | None = None, **changes: object
) -> tuple[World, Rows]:
    """Return the shop with one entity alone, of some of its fields."""
    rows = shop_rows() if rows is None else rows
    entity, view = SHOP.entity(name), SHOP.view_of(name)
    assert view is not None
    kept: tuple[DataField, ...] = tuple(entity.field(each) for each in fields)
    one: Entity = entity.model_copy(update={"fields": kept, **changes})
    seen: View = view.model_copy(update={"columns": fields, "filters": (), "sorts": ()})
    world = SHOP.model_copy(update={"entities": (one,), "workflows": (), "views": (seen,)})
    return world, {name: rows[name]}


def test_no_way_of_two_steps_leads_where_one_step_does() -> None:
    flow = SHOP.workflow("purchase")
    assert flow is not None
    steps = (
        *flow.transitions,
        Transition(name="skip", label="Send at once", before=("Open",), after="Shipped"),
    )

    ways = find_ways(steps, "Open")

    ends = [(way[-1].after, len(way)) for way in ways]
    assert ("Shipped", 1) in ends
    assert ("Shipped", 2) not in ends
