"""Carts of worlds: the `[cart]` table of a family's file, and the cart drawn from it."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Annotated

from pydantic import Field

from generators.worlds.drawing.draft import WorldDraft
from schemas.worlds.cart import Cart, CartTables
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, View

LYING = "cart"
"""The name of the entity and of the view of a cart's content."""

_NUMBER = "number"
_CALLED = (
    ("Cart line", "Cart"),
    ("Basket line", "Basket"),
    ("Bag line", "Bag"),
    ("Cart line", "Your cart"),
    ("Basket line", "Shopping basket"),
    ("Trolley line", "Trolley"),
)
"""Labels of a cart line and of the cart; the last word of the latter is used on buttons."""

_ADD = ("Add to {cart}", "Put into {cart}", "Into the {cart}", "Add to the {cart}")
_CHECK_OUT = ("Check out", "Place the order", "Order now", "Send the order", "Order all of this")
_REMOVE = ("Remove", "Take out", "Drop", "Discard")
_SUMS = ("Sum", "Amount", "Line sum", "For all of them")
_TOTALS = ("Total", "To pay", "Altogether", "In all")
_ON_LISTS = 0.6


class FamilyCart(CartTables):
    """The cart that worlds of a family may have."""

    chance: Annotated[float, Field(gt=0, le=1)] = 1
    """The probability that a world has a cart."""

    def needs(self) -> Iterator[tuple[str, str, Kind]]:
        """Yield the entity, name and kind of each field that a cart needs."""
        yield self.things, self.price, Kind.MONEY
        yield self.lines, self.order, Kind.LINK
        yield self.lines, self.thing, Kind.LINK
        yield self.lines, self.quantity, Kind.INTEGER


def draw_cart(world: WorldDraft, cart: FamilyCart | None, random: Random) -> None:
    """Add a cart to a world, if the family and the chance allow one; `random` decides everything about it."""
    called = None if cart is None else world.draw_pair(_CALLED, random)
    if cart is None or called is None or random.random() >= cart.chance:
        return
    line, label = called
    word, names = label.split()[-1].lower(), world.names()

    def draw(words: tuple[str, ...]) -> str:
        said = [one.format(cart=word) for one in words]
        free = [one for one in said if one.casefold() not in names]
        return random.choice(free or said)

    lines = world.entity(cart.lines)
    first = DataField(name=_NUMBER, label="Number", kind=Kind.TEXT)
    held = (lines.field(cart.thing), lines.field(cart.quantity))
    lying = Entity(
        name=LYING,
        one=line,
        many=label,
        fields=(first, *held),
        rows=0,
        can_add=False,
        can_edit=False,
        can_delete=False,
    )
    page = View(
        name=LYING,
        label=label,
        entity=LYING,
        columns=(_NUMBER, *(field.name for field in held)),
        searched=False,
        shape=Shape.CART,
    )
    world.cart = Cart(
        lying=LYING,
        **cart.model_dump(exclude={"chance"}),
        add=draw(_ADD),
        on_lists=random.random() < _ON_LISTS,
        remove=draw(_REMOVE),
        line_sum=draw(_SUMS),
        total=draw(_TOTALS),
        check_out=draw(_CHECK_OUT),
    )
    world.add_table(lying, page)


def cart_problems(
    cart: FamilyCart, entities: Mapping[str, Mapping[str, tuple[Kind, float]]]
) -> Iterator[str]:
    """Yield the fields that a cart needs and some world lacks; `entities` has each field's kind and chance."""
    if LYING in entities:
        yield f"entities.{LYING}: this name is that of what lies in a cart"
    if cart.orders not in entities:
        yield f"cart.orders: there is no entity '{cart.orders}'"
    for entity, name, kind in cart.needs():
        if entities.get(entity, {}).get(name, (kind, 0)) != (kind, 1):
            yield f"cart: '{entity}' has no {kind.value} '{name}' in every world and row"
