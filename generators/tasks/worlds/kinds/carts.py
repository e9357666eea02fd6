"""Tasks on carts: put quantities of things into the cart and order them together."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from generators.tasks.worlds.ground.mentions import RowSaid, RowsSaid, WantedSaid
from generators.tasks.worlds.ground.row_conditions import draw_part
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting, rank
from generators.tasks.worlds.references.forms import count_to
from generators.tasks.worlds.references.pattern_steps import views_of
from generators.tasks.worlds.references.sorted_lists import Ordered, to_first
from generators.tasks.worlds.references.steps import (
    Steps,
    answer,
    click,
    find_row,
    to_row,
    to_view,
)
from generators.worlds.serving.cart import new_line, new_order
from generators.worlds.state.database import Row
from schemas.tasks.expectation import Expectation, Matcher, OneOf, RowRule
from schemas.tasks.reference import Purpose
from schemas.worlds.cart import Cart
from schemas.worlds.look import Listing
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View

_COUNTS = (1, 2, 2, 3)
"""The numbers of things in an order, equally likely."""

_QUANTITIES = (1, 2, 2, 3, 4)
_CHEAPEST, _BY_ADDING, _FROM_LIST = 0.45, 0.3, 0.5
"""The shares: of orders with a thing that must be chosen, of things added repeatedly instead of counted up in the
cart, and of things added from a list that has the button."""

_SIZES = range(3, 30)


class Wanted(NamedTuple):
    """A thing to order."""

    row: Row
    """The thing."""
    quantity: int
    """The quantity."""
    ordered: Ordered | None = None
    """The rows of which it is the cheapest; None: the goal names it."""


@task_kind("buy", needs=Shape.CART)
def buy(setting: Setting, random: Random) -> Draft | None:
    """Ask for an order of one to three things with quantities; one of them may have to be chosen."""
    cart = setting.world.cart
    view = None if cart is None else setting.world.view_of(cart.things)
    if cart is None or view is None:
        return None
    entity = setting.world.entity(cart.things)
    wanted = _draw(setting, random, cart, view)
    if not wanted:
        return None
    chosen = next((one.ordered for one in wanted if one.ordered is not None), None)
    page = views_of(setting, Shape.CART)[0]
    said = WantedSaid(tuple((one.quantity, _mention(setting, cart, one)) for one in wanted))
    return Draft(
        {
            **setting.names(view, entity),
            "stated": said,
            "cart": page.label.split()[-1].lower(),
            "check_out": cart.check_out,
        },
        order_of(setting, cart, [(one.row, one.quantity) for one in wanted]),
        (*_reference(setting, random, cart, view, wanted), answer()),
        near=setting.alike([said]) if chosen is None else chosen.part.near,
    )


def order_of(setting: Setting, cart: Cart, wanted: Sequence[tuple[Row, int]]) -> Expectation:
    """Return the expectation of an order's rows; the order of its lines does not matter."""
    world = setting.world
    orders, lines = world.entity(cart.orders), world.entity(cart.lines)
    number, first = setting.next_id(orders), setting.next_id(lines)
    made = new_order(world, cart, number)
    rules = [RowRule(table=orders.name, where={"id": number, **made})]
    titles = tuple(
        new_line(world, cart, first + place, {})[lines.title.name] for place in range(len(wanted))
    )
    for row, quantity in wanted:
        values: Row = {cart.order: number, cart.thing: row["id"], cart.quantity: quantity}
        line = new_line(world, cart, first, values)
        told: dict[str, Matcher] = {**line, lines.title.name: OneOf(one_of=titles)}
        rules.append(RowRule(table=lines.name, where=told))
    return Expectation(added=tuple(rules))


def put_in(setting: Setting, cart: Cart, view: View, row: Row, *, from_list: bool = False) -> Steps:
    """Return the steps from any page that add one of a thing to the cart, on its own page or on a list."""
    entity = setting.world.entity(cart.things)
    if not from_list:
        return (*to_row(setting, view, entity, row, reads=()), click(cart.add, Purpose.PUT_IN))
    title = setting.title(entity, row)
    return (
        *find_row(setting, view, entity, row),
        click(f"{cart.add}: {title}", Purpose.PUT_IN_LISTED),
    )


def count_up(setting: Setting, cart: Cart, row: Row, times: int) -> Steps:
    """Return the steps that increase a visible thing's quantity in the cart `times` times."""
    title = setting.title(setting.world.entity(cart.things), row)
    return count_to(setting.world.words.increase.format(field=title), str(times + 1), times)


def _draw(setting: Setting, random: Random, cart: Cart, view: View) -> list[Wanted]:
    """Return the things to order; empty if the draw failed."""
    entity, drawn = setting.world.entity(cart.things), list[Wanted]()
    named, count = setting.namable(view, entity), random.choice(_COUNTS)
    ordered = _cheapest(setting, random, cart, view) if random.random() < _CHEAPEST else None
    if ordered is not None:
        drawn.append(Wanted(ordered.rows[0], random.choice(_QUANTITIES), ordered))
    while len(drawn) < count and named:
        row = setting.pick(random, entity, named)
        if any(row is one.row for one in drawn):
            return []
        drawn.append(Wanted(row, random.choice(_QUANTITIES)))
    random.shuffle(drawn)
    return drawn if sum(one.quantity for one in drawn) > 1 else []


def _cheapest(setting: Setting, random: Random, cart: Cart, view: View) -> Ordered | None:
    """Return things that meet conditions, sorted by price; None: the list does not show a unique cheapest one."""
    entity = setting.world.entity(cart.things)
    price = entity.field(cart.price)
    if cart.price not in {*view.columns, *view.sorts}:
        return None
    conditions = random.choice((1, 1, 2))
    part = draw_part(setting, random, view, sizes=_SIZES, conditions=conditions, unlike=(price,))
    if part is None:
        return None
    rows = sorted(part.rows, key=lambda row: rank(row[price.name]))
    is_told = rows[0][price.name] != rows[1][price.name] and rows[0] in setting.namable(
        view, entity
    )
    return Ordered(part, price, False, rows) if is_told else None  # noqa: FBT003 - a field of a tuple


def _mention(setting: Setting, cart: Cart, one: Wanted) -> RowSaid | RowsSaid:
    """Return a thing of an order as goals speak of it."""
    entity = setting.world.entity(cart.things)
    if one.ordered is None:
        return RowSaid(entity, setting.title(entity, one.row), one.row)
    return one.ordered.part.among


def _reference(
    setting: Setting, random: Random, cart: Cart, view: View, wanted: Sequence[Wanted]
) -> Steps:
    has_button = cart.on_lists and setting.world.look.listing is not Listing.TABLE
    steps, later = list(Steps()), list(Steps())
    for one in wanted:
        from_list = has_button and one.ordered is None and random.random() < _FROM_LIST
        by_adding = not from_list and random.random() < _BY_ADDING
        if one.ordered is None:
            steps += put_in(setting, cart, view, one.row, from_list=from_list)
        else:
            steps += (*to_first(setting, one.ordered), click(cart.add, Purpose.PUT_IN))
        if by_adding:
            steps += (click(cart.add, Purpose.PUT_IN),) * (one.quantity - 1)
        else:
            later += count_up(setting, cart, one.row, one.quantity - 1)
    page = views_of(setting, Shape.CART)[0]
    return (*steps, *to_view(setting, page), *later, click(cart.check_out, Purpose.CHECK_OUT))
