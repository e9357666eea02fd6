"""In Chromium a reference meets each fault of a site, and makes each slip, and ends as if nothing had happened."""

from collections.abc import Callable

import pytest
from effort import THOROUGH
from pydantic import JsonValue
from support.browsers.one_browser import browser_and_gateway
from support.episodes.said import says
from support.worlds.made_world import SHOP, shop_rows, shop_task

from generators.policy.protocol import Decision, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.slips.entries import LeftOut, RefusedEntry, TypingError, WrongField
from generators.policy.slips.lists import EmptySearch, WrongFilter, WrongOption
from generators.policy.slips.rows import LookAlike, OtherTab, WrongView
from generators.policy.slips.slip import Slip
from generators.policy.slips.slips import Slips
from generators.sites.worlds import WorldsSite
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.forms import fill_form, save_change
from generators.tasks.worlds.references.steps import (
    Steps,
    answer,
    find_listed,
    find_row,
    look,
    open_row,
    open_untold_lists,
    to_form,
    to_list,
    to_row,
    to_view,
)
from schemas.base import JsonObject
from schemas.episodes.action import Answer
from schemas.worlds.behaviour import Behaviour, Delivery, Place
from schemas.worlds.fault import Fault
from schemas.worlds.world import World

pytestmark = [
    pytest.mark.browser,
    pytest.mark.usefixtures("one_browser"),
    pytest.mark.asyncio(loop_scope="session"),
]

PLAIN = Behaviour()
SINGLE = Behaviour(delivery=Delivery.SINGLE_PAGE, forms=Place.DIALOG)
ROWS = shop_rows()
NEW_PRICE = 4_300
MEANWHILE: JsonObject = {"entity": "product", "row": 1, "field": "stock", "value": 77}


def _world(behaviour: Behaviour) -> World:
    return SHOP.model_copy(update={"behaviour": behaviour})


def _edit(setting: Setting) -> Steps:
    """Return how the first product gets another price."""
    view, entity = setting.world.view_of("product"), setting.world.entity("product")
    assert view is not None
    row = setting.rows_of(entity)[0]
    steps = to_row(setting, view, entity, row)
    return (*steps, *save_change(setting, entity, row, {"price": NEW_PRICE}), answer())


async def _play(
    world: World, steps: Steps, slips: Slips | None = None, **parameters: JsonValue
) -> tuple[list[Decision], dict[str, list[dict[str, object]]]]:
    """Return what a reference decides in a visit, and the rows in the end."""
    task = shop_task(world)
    task = task.model_copy(update={"parameters": {**task.parameters, **parameters}})
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(gateway, lambda _: (world, ROWS))
        async with (
            site.open(task) as visit,
            chromium.session(
                visit.session_spec(viewport_width=1_024, viewport_height=768)
            ) as session,
        ):
            await session.open(visit.start_url)
            policy, taken = ReferencePolicy(steps, slips), list[Decision]()
            while not taken or not isinstance(taken[-1].action, Answer):
                look = await session.observe()
                taken.append(await policy.act(PolicyInput("", (), look, session.reader)))
                if not isinstance(taken[-1].action, Answer):
                    assert (await session.act(taken[-1].action)).error is None
            state = site._server.state(visit.lease or "")
            assert isinstance(state, dict)
            return taken, state  # type: ignore[return-value]


SIGNS = {
    Fault.SAVE_FAILS: "policy.not_saved",
    Fault.STALE_ROW: "policy.lost",
    Fault.SESSION_ENDS: "policy.session",
    Fault.SLOW_PAGE: "policy.loads",
    Fault.PAGE_FAILS: "policy.failed",
    Fault.DIALOG: "policy.in_the_way",
}


DELIVERIES = {"pages": PLAIN, "one page": SINGLE}

MET = [
    pytest.param(fault, behaviour, id=f"{fault.value}-{how}")
    for number, fault in enumerate(Fault)
    for place, (how, behaviour) in enumerate(DELIVERIES.items())
    if THOROUGH or number % len(DELIVERIES) == place
]
"""Faults, and how the site is delivered that has them: each in turn where time is short."""


@pytest.mark.parametrize(("fault", "behaviour"), MET)
async def test_a_fault_is_seen_and_the_task_done(fault: Fault, behaviour: Behaviour) -> None:
    world = _world(behaviour)
    other = MEANWHILE if fault is Fault.STALE_ROW else None
    steps = _edit(Setting(world, ROWS))
    taken, state = await _play(world, steps, fault=fault.value, meanwhile=other)
    assert any(says(one.thought, SIGNS[fault]) for one in taken)
    product = next(one for one in state["product"] if one["id"] == 1)
    stock = 77 if fault is Fault.STALE_ROW else ROWS["product"][0]["stock"]
    assert (product["price"], product["stock"]) == (NEW_PRICE, stock)
    assert state["product"][1:] == ROWS["product"][1:]


async def test_without_a_fault_nothing_of_it_is_seen() -> None:
    world = _world(PLAIN)
    taken, _ = await _play(world, _edit(Setting(world, ROWS)))
    assert not any(says(one.thought, sign) for one in taken for sign in SIGNS.values())


class _Only(Slips):
    """The slips of an episode that makes one of a kind."""

    def __init__(self, kind: Callable[[], Slip]) -> None:
        super().__init__((), seed="1", share=0.0)
        self._possible = [kind()]


def _looked_up(setting: Setting) -> Steps:
    view, entity = setting.world.view_of("product"), setting.world.entity("product")
    assert view is not None
    title = setting.title(entity, setting.rows_of(entity)[1])
    found = (find_listed(setting, title), open_row(setting, view, title))
    return (*to_view(setting, view), *found, *look(setting, entity, entity.fields), answer())


def _searched(setting: Setting) -> Steps:
    view, entity = setting.world.view_of("product"), setting.world.entity("product")
    assert view is not None
    return (*find_row(setting, view, entity, setting.rows_of(entity)[9]), answer())


def _filtered(setting: Setting) -> Steps:
    view, entity = setting.world.view_of("purchase"), setting.world.entity("purchase")
    assert view is not None
    choice = setting.options(entity.field(view.filters[0]))[0][1]
    return (*to_list(setting, view, {view.filters[0]: choice}), answer())


def _created(setting: Setting) -> Steps:
    view, entity = setting.world.view_of("product"), setting.world.entity("product")
    assert view is not None
    row = {**setting.rows_of(entity)[0], "name": "Lamp, new"}
    values = {name: value for name, value in row.items() if name != "id"}
    return (*to_form(setting, view, entity), *fill_form(setting, entity, values), answer())


def _ordered(setting: Setting) -> Steps:
    view, entity = setting.world.view_of("purchase"), setting.world.entity("purchase")
    assert view is not None
    row = {**setting.rows_of(entity)[0], "number": "A-2000"}
    values = {name: value for name, value in row.items() if name not in ("id", "status", "points")}
    steps = (*to_form(setting, view, entity), *fill_form(setting, entity, values), answer())
    return open_untold_lists(steps, goal="")


Plan = Callable[[Setting], Steps]

_SENT = (EmptySearch, WrongFilter, RefusedEntry)
"""Slips of two steps: the press that sends them is one of them."""

_clean: dict[Plan, tuple[int, dict[str, list[dict[str, object]]]]] = {}


async def _without_slips(plan: Plan) -> tuple[int, dict[str, list[dict[str, object]]]]:
    """Return how many decisions a plan takes without a slip, and the rows in the end; it is played once."""
    if plan not in _clean:
        world = _world(PLAIN)
        taken, state = await _play(world, plan(Setting(world, ROWS)))
        _clean[plan] = len(taken), state
    return _clean[plan]


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        (LookAlike, _looked_up),
        (OtherTab, _looked_up),
        (EmptySearch, _searched),
        (WrongFilter, _filtered),
        (WrongOption, _ordered),
        (RefusedEntry, _created),
        (LeftOut, _created),
        (TypingError, _created),
        (WrongField, _created),
    ],
)
async def test_a_slip_is_seen_and_mended(kind: Callable[[], Slip], plan: Plan) -> None:
    world = _world(PLAIN)
    clean, wanted = await _without_slips(plan)
    taken, state = await _play(world, plan(Setting(world, ROWS)), _Only(kind))
    assert len(taken) > clean
    assert state == wanted
    made = [one.injected_mistake for one in taken if one.injected_mistake]
    assert made == [kind().kind] * (2 if kind in _SENT else 1)


async def test_another_entry_of_the_navigation_is_left_for_the_right_one() -> None:
    views = tuple(one.model_copy(update={"label": f"Shop {one.label}"}) for one in SHOP.views)
    world = SHOP.model_copy(update={"views": views, "behaviour": PLAIN})
    taken, _ = await _play(world, _looked_up(Setting(world, ROWS)), _Only(WrongView))
    assert any(says(one.thought, "slips.not_under") for one in taken)
