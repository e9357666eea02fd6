"""The cart of a visit: add and remove things, show totals, and check out."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from generators.worlds.rendering.overlays import tell
from generators.worlds.serving.visit import WorldVisit, answer, find, go_to, visit_of
from generators.worlds.state.database import (
    Row,
    add_row,
    change_row,
    delete_row,
    find_alike,
    find_row,
    find_rows,
    next_id,
)
from generators.worlds.state.display import show_value, with_number
from generators.worlds.state.form_fields import new_row
from schemas.worlds.cart import Cart
from schemas.worlds.world import View, World

_BY = {"more": 1, "less": -1}


def count_things(visit: WorldVisit) -> int:
    """Return the total quantity of things in the cart of a visit."""
    cart = visit.world.cart
    if cart is None:
        return 0
    return sum(_number(row, cart.quantity) for row in _lines(visit, cart))


def new_order(world: World, cart: Cart, number: int) -> Row:
    """Return the row of a new order; `number` is its future id."""
    orders = world.entity(cart.orders)
    return {**new_row(world, orders), orders.title.name: with_number(world, orders.one, number)}


def new_line(world: World, cart: Cart, number: int, values: Row) -> Row:
    """Return a line of an order with the given values; `number` is its future id."""
    lines = world.entity(cart.lines)
    return {
        **new_row(world, lines),
        lines.title.name: with_number(world, lines.one, number),
        **values,
    }


async def show_cart(request: Request, visit: WorldVisit, view: View) -> Response:
    """Show the cart, or check it out."""
    cart = _cart_of(visit)
    rows = _lines(visit, cart)
    if request.method == "POST" and rows:
        return go_to(f"/{cart.orders}/{_check_out(visit, cart, rows)}")
    things, quantity = visit.world.entity(cart.things), visit.world.entity(cart.lying)
    price, bounds = things.field(cart.price), quantity.field(cart.quantity)
    shown, total = list[dict[str, object]](), 0
    for row in rows:
        thing = find_row(visit.database, things, _number(row, cart.thing))
        if thing is None:
            continue
        cost, count = _number(thing, cart.price), _number(row, cart.quantity)
        total += cost * count
        shown.append(
            {
                "id": row["id"],
                "thing": thing["id"],
                "title": thing[things.title.name],
                "price": show_value(visit.world, price, cost),
                "quantity": count,
                "can_more": count < bounds.max,
                "sum": show_value(visit.world, price, cost * count),
            }
        )
    page = visit.pages.view_page(
        "cart.html",
        view,
        cart=cart,
        things=things,
        lines=shown,
        total=show_value(visit.world, price, total),
    )
    return answer(page, HTTPStatus.CONFLICT if request.method == "POST" else HTTPStatus.OK)


async def change_cart(request: Request) -> Response:
    """Add one of a thing to the cart, or change a quantity."""
    visit, act = visit_of(request), request.path_params["act"]
    entity, row = find(request)
    cart = _cart_of(visit)
    if entity.name == cart.things and act == "add":
        _put_in(visit, cart, row)
        came_from = request.query_params.get("from")
        is_listed = any(view.name == came_from for view in visit.world.views)
        return go_to(f"/{came_from}" if is_listed else f"/{entity.name}/{row['id']}")
    if entity.name != cart.lying or act not in {*_BY, "remove"}:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if act == "remove":
        delete_row(visit.database, entity, _number(row, "id"))
    else:
        _set(visit, cart, row, _number(row, cart.quantity) + _BY[act])
    return go_to(f"/{cart.lying}")


def _cart_of(visit: WorldVisit) -> Cart:
    """Return the cart of a visit.

    Raises:
        HTTPException: the world has no cart.
    """
    if visit.world.cart is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return visit.world.cart


def _lines(visit: WorldVisit, cart: Cart) -> list[Row]:
    return find_rows(visit.database, visit.world.entity(cart.lying))


def _put_in(visit: WorldVisit, cart: Cart, thing: Row) -> None:
    lying, things = visit.world.entity(cart.lying), visit.world.entity(cart.things)
    row = find_alike(visit.database, lying, {cart.thing: thing["id"]})
    count = 1 if row is None else _number(row, cart.quantity) + 1
    tell(visit.world, visit.memory, "cart.put_in", [str(thing[things.title.name])], count=count)
    if row is not None:
        _set(visit, cart, row, count)
        return
    title = with_number(visit.world, lying.one, next_id(visit.database, lying))
    values: Row = {lying.title.name: title, cart.thing: thing["id"], cart.quantity: 1}
    add_row(visit.database, lying, values)


def _set(visit: WorldVisit, cart: Cart, row: Row, quantity: int) -> None:
    """Set the quantity of a thing in the cart, at least 1 and at most the maximum of an order line."""
    lying = visit.world.entity(cart.lying)
    kept = min(max(1, quantity), lying.field(cart.quantity).max)
    change_row(visit.database, lying, _number(row, "id"), {cart.quantity: kept})


def _check_out(visit: WorldVisit, cart: Cart, rows: list[Row]) -> int:
    """Add an order with the cart's content, empty the cart, and return the order's id."""
    world, database = visit.world, visit.database
    orders, lines = world.entity(cart.orders), world.entity(cart.lines)
    made = add_row(database, orders, new_order(world, cart, next_id(database, orders)))
    for row in rows:
        values = {name: row[name] for name in (cart.thing, cart.quantity)}
        line = new_line(world, cart, next_id(database, lines), {cart.order: made, **values})
        add_row(database, lines, line)
        delete_row(database, world.entity(cart.lying), _number(row, "id"))
    return made


def _number(row: Row, name: str) -> int:
    return int(row[name] or 0)
