"""Carts of worlds: what they take, count and order, which orders a task is paid for, and what no cart can be."""

from pathlib import Path
from random import Random

import pytest
from pydantic import ValidationError
from support.worlds.drawn import specification
from support.worlds.drawn_visits import reward, setting_of, visiting

from generators.sites.judging.near_misses import near_misses
from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.ground.task import WorldTask, to_task
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds.carts import buy, count_up, order_of, put_in
from generators.tasks.worlds.references.pattern_steps import views_of
from generators.tasks.worlds.references.sheets import with_ways_out
from generators.tasks.worlds.references.steps import Steps, click, to_view
from generators.worlds.drawing.draw import FOLDER, read_family
from generators.worlds.words.catalogue import catalogue
from schemas.errors import BadTasks
from schemas.tasks.reference import Purpose
from schemas.worlds.cart import Cart
from schemas.worlds.patterns import Shape
from schemas.worlds.world import World

A_TABLE = """
[entities.cart]
one = "Cart"
many = "Carts"
rows = [1, 2]
fields = { name = { label = "Name" } }
"""


def a_cart(*, on_lists: bool = False) -> tuple[World, Cart]:
    """Return a world with a cart."""
    worlds = (specification("shop", seed) for seed in range(60))
    return next(
        (world, world.cart)
        for world in worlds
        if world.cart is not None
        and world.cart.on_lists is on_lists
        and world.noise.cookies.value == "none"
        and world.noise.asks_again is world.noise.pop_up is None
    )


def ordering(
    setting: Setting, cart: Cart, wanted: list[tuple[int, int]], *, by_adding: bool = False
) -> Steps:
    """Return how things are put in and counted up in the cart's page: each a row's place and how many times."""
    view = setting.world.view_of(cart.things)
    assert view is not None
    rows = setting.namable(view, setting.world.entity(cart.things))
    steps: Steps = ()
    later: Steps = to_view(setting, views_of(setting, Shape.CART)[0])
    for place, times in wanted:
        steps = (*steps, *put_in(setting, cart, view, rows[place]))
        if by_adding:
            steps = (*steps, *(click(cart.add),) * (times - 1))
        else:
            later = (*later, *count_up(setting, cart, rows[place], times - 1))
    return (*steps, *later)


@pytest.mark.parametrize("seed", range(4))
async def test_what_a_task_names_is_ordered_and_nothing_is_left(seed: int) -> None:
    world, _ = a_cart(on_lists=seed > 1)
    draft = next(
        one for n in range(20) if (one := buy(setting_of(world), Random(f"{seed} {n}"))) is not None
    )

    assert await reward(world, draft.reference[:-1], draft.expect) == 1


async def test_an_order_counts_however_its_things_were_put_in_and_no_other_does() -> None:
    world, cart = a_cart()
    setting, done = setting_of(world), (click(cart.check_out, Purpose.CHECK_OUT),)
    view = world.view_of(cart.things)
    assert view is not None
    rows = setting.namable(view, world.entity(cart.things))
    wanted = order_of(setting, cart, [(rows[0], 2), (rows[1], 1)])
    ends = {
        "as asked": (*ordering(setting, cart, [(0, 2), (1, 1)]), *done),
        "in another order": (*ordering(setting, cart, [(1, 1), (0, 2)]), *done),
        "by adding twice": (*ordering(setting, cart, [(0, 2), (1, 1)], by_adding=True), *done),
        "not checked out": ordering(setting, cart, [(0, 2), (1, 1)]),
        "another thing": (*ordering(setting, cart, [(0, 2), (2, 1)]), *done),
        "other numbers": (*ordering(setting, cart, [(0, 1), (1, 2)]), *done),
        "one thing missing": (*ordering(setting, cart, [(0, 2)]), *done),
        "one thing more": (*ordering(setting, cart, [(0, 2), (1, 1), (2, 1)]), *done),
        "in two orders": (
            *ordering(setting, cart, [(0, 2)]),
            *done,
            *ordering(setting, cart, [(1, 1)]),
            *done,
        ),
        "twice": (*ordering(setting, cart, [(0, 2), (1, 1)]), *done) * 2,
        "something left in": (
            *ordering(setting, cart, [(0, 2), (1, 1)]),
            *done,
            *ordering(setting, cart, [(2, 1)]),
        ),
        "taken out again": (
            *ordering(setting, cart, [(0, 2), (1, 1)]),
            click(
                catalogue(world.language).say(
                    "cart.remove_one",
                    remove=cart.remove,
                    title=setting.title(world.entity(cart.things), rows[1]),
                )
            ),
            *done,
        ),
    }
    paid = [what for what, steps in ends.items() if await reward(world, steps, wanted) == 1]

    assert paid == ["as asked", "in another order", "by adding twice"]


async def test_each_near_miss_of_an_order_is_refused() -> None:
    world, cart = a_cart()
    setting = setting_of(world)
    view = world.view_of(cart.things)
    assert view is not None
    rows = setting.namable(view, world.entity(cart.things))
    wanted = order_of(setting, cart, [(rows[0], 2), (rows[1], 1)])
    ordered = (*ordering(setting, cart, [(0, 2), (1, 1)]), click(cart.check_out, Purpose.CHECK_OUT))
    steps = with_ways_out(setting, ordered)
    made = WorldTask(
        kind="buy", seed=0, instruction="x", expect=wanted, reference=steps, answer_kind="none"
    )
    async with visiting(world) as seen:
        before = seen.server.state("a")
        for step in steps:
            await seen.browser.do(step)
        after = seen.server.state("a")
    misses = near_misses(wanted, before=before, after=after, keys=dict.fromkeys(setting.rows, "id"))
    task, paid = to_task(world, made), list[str]()
    for miss in misses:
        ends = ServerState(before), ServerState(miss.state)
        if (await judge_states(task, before=ends[0], after=ends[1], answer="")).reward:
            paid.append(miss.what)

    assert len(misses) >= 8
    assert paid == []


async def test_a_cart_counts_adds_up_and_refuses_what_is_not_in_it() -> None:
    world, cart = a_cart()
    name = f"/{cart.things}/3"
    async with visiting(world) as seen:
        empty = await seen.http.post(f"/{cart.lying}")
        told = [(await seen.http.post(f"{name}/cart/add")).text for _ in range(30)]
        full = seen.table(cart.lying)
        page = (await seen.http.get(f"/{cart.lying}")).text
        await seen.http.post(f"/{cart.lying}/1/cart/less")
        less = seen.table(cart.lying)
        odd = [
            (await seen.http.post(address)).status_code
            for address in (f"{name}/cart/more", f"/{cart.lying}/1/cart/add", f"{name}999/cart/add")
        ]
        await seen.http.post(f"/{cart.lying}/1/cart/remove")
        gone = seen.table(cart.lying)
    most = world.entity(cart.lying).field(cart.quantity).max

    assert empty.status_code == 409
    said = catalogue(world.language)
    for count, shown in enumerate(told[:3], 1):
        assert said.say("cart.put_in", count=count, titles="").strip(" .。") in shown
    assert [row[cart.quantity] for row in (*full, *less)] == [most, most - 1]
    assert f'aria-hidden="true">{most}</span>' in page
    assert 'disabled=""' in page
    assert odd == [404, 404, 404]
    assert gone == []


async def test_a_world_without_a_cart_has_no_page_of_one() -> None:
    world = next(one for seed in range(60) if (one := specification("shop", seed)).cart is None)
    async with visiting(world) as seen:
        found = [
            (await seen.http.get("/cart")).status_code,
            (await seen.http.post("/product/1/cart/add")).status_code,
        ]

    assert found == [404, 404]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"things": "parcel"}, "cart: there is no entity 'parcel'"),
        ({"price": "name"}, "cart: 'product' has no money 'name'"),
        ({"quantity": "code"}, "cart: 'cart' has no integer 'code'"),
        ({"order": "product"}, "cart: 'line.product' does not lead to 'purchase'"),
        ({"lying": "customer"}, "entity 'customer': what lies in a cart has no rows"),
    ],
)
def test_a_cart_of_what_is_not_there_is_refused(change: dict[str, str], reason: str) -> None:
    world, cart = a_cart()

    with pytest.raises(ValidationError, match=reason):
        World.model_validate(world.model_dump() | {"cart": cart.model_dump() | change})


def test_a_cart_without_its_page_is_refused() -> None:
    world, _ = a_cart()
    views = [one for one in world.views if one.shape is not Shape.CART]

    with pytest.raises(ValidationError, match="cart: one view has its shape"):
        World.model_validate(world.model_dump() | {"views": views})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('price = "price"', 'price = "reorder"', "cart: 'product' has no money 'reorder' in every world"),
        ('orders = "purchase"', 'orders = "parcel"', "cart.orders: there is no entity 'parcel'"),
        ("[workflows.purchase]\n", f"{A_TABLE}[workflows.purchase]\n", "entities.cart: this name is that of what lies in a cart"),
    ],
)  # fmt: skip
def test_a_cart_of_what_some_worlds_lack_is_refused_by_its_file(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    path = tmp_path / "shop.toml"
    text = (FOLDER / "shop.toml").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(BadTasks) as refused:
        read_family(path)

    assert reason in str(refused.value)
