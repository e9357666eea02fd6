"""What a world reserves to a role: pages say so, offer to ask, and change nothing else."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError
from support.worlds.drawn import whole
from support.worlds.made_world import SHOP, shop_rows
from support.worlds.world_visits import visiting

from generators.tasks.worlds.ground.changes import changes
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds.permissions import oversteps
from generators.tasks.worlds.references.steps import answer, click
from generators.worlds.drawing.draw import FAMILIES
from generators.worlds.state.permissions import withheld
from schemas.base import JsonObject
from schemas.tasks.expectation import parse_expectation
from schemas.worlds.field import DataField, Kind
from schemas.worlds.permissions import Act, Permissions, Requests, Reserved
from schemas.worlds.world import Entity, World

_REQUESTS = Entity(
    name="request",
    one="Request",
    many="Requests",
    fields=(
        DataField(name="number", label="Number", kind=Kind.TEXT),
        DataField(
            name="what",
            label="What",
            kind=Kind.CHOICE,
            choices=("Delete", "Edit", "Ship"),
        ),
        DataField(name="order", label="On which", kind=Kind.LINK, target="purchase"),
        DataField(name="who", label="Who asks", kind=Kind.TEXT),
        DataField(name="day", label="Day", kind=Kind.DATE),
    ),
    rows=1,
    can_add=False,
    can_edit=False,
    can_delete=False,
)


def _reserving(*rules: Reserved, role: str = "Clerk") -> World:
    asked = Requests(
        entity="request", act="what", link="order", author="who", day="day", ask="Ask a Manager"
    )
    permissions = Permissions(entity="purchase", leader="Manager", reserved=rules, requests=asked)
    entities = (*SHOP.entities, _REQUESTS)
    made = SHOP.model_dump() | {
        "entities": entities,
        "role": role,
        "permissions": permissions,
    }
    return World.model_validate(made)


_HIDDEN = Reserved(act=Act.DELETE)
_SHOWN = Reserved(act=Act.EDIT, above="quantity", limit=5, hidden=False)
_SHIP = Reserved(act=Act.STEP, step="ship", hidden=False)
_ROWS = shop_rows() | {"request": []}


async def test_the_role_stands_beside_the_name() -> None:
    async with visiting(world=_reserving(_HIDDEN), rows=_ROWS) as hands:
        page = await hands.see("/")

    assert 'Mia Berg <span class="role">Clerk</span>' in page


async def test_what_is_reserved_is_said_where_its_button_would_be_and_can_be_asked_for() -> None:
    async with visiting(world=_reserving(_HIDDEN), rows=_ROWS) as hands:
        page = await hands.names("/purchase/1")
        text = await hands.see("/purchase/1")
        refused = await hands.send("/purchase/1/delete")
        kept = hands.table("purchase")
        answer = await hands.send("/purchase/1/ask/delete")
        requests = hands.table("request")

    assert "Delete" not in page.links
    assert "Ask a Manager: Delete" in page.buttons
    assert "Only a Manager may delete this Order." in text
    assert refused.status_code == 403
    assert len(kept) == 14
    assert answer.headers["location"] == "/purchase/1"
    assert requests == [
        {
            "id": 1,
            "number": "Request 1",
            "what": "Delete",
            "order": 1,
            "who": "Mia Berg",
            "day": "2026-03-09",
        }
    ]


async def test_a_button_of_what_is_reserved_leads_to_a_page_that_says_so() -> None:
    async with visiting(world=_reserving(_SHOWN, _SHIP), rows=_ROWS) as hands:
        row, small = await hands.names("/purchase/3"), await hands.see("/purchase/1/edit")
        page = await hands.see("/purchase/3/edit")
        step = await hands.send("/purchase/2/do/ship")
        state = hands.row("purchase", 2)["status"]

    assert "Edit" in row.links
    assert "Only a Manager may change this Order, because its Quantity is above 5." in page
    assert "Only a Manager" not in small
    assert (step.status_code, state) == (403, "Packed")
    assert "Only a Manager may use “Ship” for this Order." in step.text


async def test_nobody_asks_for_what_is_allowed() -> None:
    async with visiting(world=_reserving(_SHOWN), rows=_ROWS) as hands:
        answer = await hands.send("/purchase/1/ask/edit")
        assert hands.table("request") == []

    assert answer.status_code == 409


async def test_who_leads_may_do_everything() -> None:
    async with visiting(world=_reserving(_HIDDEN, role="Manager"), rows=_ROWS) as hands:
        await hands.send("/purchase/1/delete")
        assert len(hands.table("purchase")) == 13


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (Reserved(act=Act.STEP, step="fly"), "'purchase' has no step 'fly'"),
        (
            Reserved(act=Act.EDIT, above="status", limit=1),
            "'purchase' has no number or amount 'status'",
        ),
    ],
)
def test_what_reserves_nothing_that_there_is_gets_refused(rule: Reserved, problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        _reserving(rule)


def test_a_reserved_step_names_it() -> None:
    with pytest.raises(ValidationError, match="names it, and nothing else does"):
        Reserved(act=Act.STEP)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"entity": "nowhere"}, "there is no entity 'nowhere'"),
        ({"requests": {"link": "who"}}, "has no link 'who'"),
        ({"entity": "customer", "reserved": (_HIDDEN,)}, "does not lead to 'customer'"),
    ],
)
def test_permissions_of_nothing_are_refused(change: JsonObject, problem: str) -> None:
    made = _reserving(_HIDDEN).model_dump()
    requests = made["permissions"]["requests"] | change.pop("requests", {})
    made["permissions"] |= {**change, "requests": requests}
    with pytest.raises(ValidationError, match=problem):
        World.model_validate(made)


@pytest.mark.parametrize(
    ("rules", "row", "is_over"),
    [
        ({"removed": [{"table": "purchase", "where": {"id": 1}}]}, _HIDDEN, True),
        ({"removed": [{"table": "customer", "where": {"id": 8}}]}, _HIDDEN, False),
        (
            {"changed": [{"table": "purchase", "where": {"id": 3}, "set": {"channel": "Web"}}]},
            _SHOWN,
            True,
        ),
        (
            {"changed": [{"table": "purchase", "where": {"id": 1}, "set": {"channel": "Web"}}]},
            _SHOWN,
            False,
        ),
    ],
)
def test_no_task_asks_for_what_is_reserved(
    rules: JsonObject,
    row: Reserved,
    is_over: bool,  # noqa: FBT001
) -> None:
    setting = Setting(_reserving(row), {**_ROWS})
    draft = Draft({}, parse_expectation(rules, "a test"), ())

    assert oversteps(setting, draft) is is_over


def test_no_task_leads_a_row_by_two_steps_over_one_that_is_reserved() -> None:
    setting = Setting(_reserving(_SHIP), {**_ROWS})
    row = next(row for row in _ROWS["purchase"] if row["status"] == "Open")
    expect = changes(setting.world.entity("purchase"), (row, {"status": "Shipped"}))
    draft = Draft({}, expect, (click("Mark as packed"), click("Ship"), answer()))

    assert oversteps(setting, draft)
    assert not oversteps(setting, draft._replace(reference=(click("Cancel order"), answer())))


def test_worlds_of_all_families_have_roles_and_some_reserve_something() -> None:
    worlds = [whole(family, seed) for family in FAMILIES for seed in range(3)]
    reserving = [world for world, _ in worlds if world.permissions is not None]

    assert all(world.role for world, _ in worlds)
    assert 0.2 < len(reserving) / len(worlds) < 0.6
    assert any(_held(world, rows) for world, rows in worlds)


def _held(world: World, rows: dict[str, list[dict[str, str | int | None]]]) -> Iterator[str]:
    for entity in world.entities:
        for row in rows[entity.name]:
            yield from (one.sentence for one in withheld(world, entity, row))
