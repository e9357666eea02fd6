"""Carts of worlds: the `[cart]` table of a family's file, and the cart drawn from it."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Annotated

from pydantic import Field

from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.cart import Cart, CartTables
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, View

LYING = "cart"
"""The name of the entity and of the view of a cart's content."""

_NUMBER = "number"
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
    words = catalogue(world.language)
    called = None if cart is None else world.draw_pair(words.groups("cart.called"), random)
    if cart is None or called is None or random.random() >= cart.chance:
        return
    line, label, word = called
    names = world.names()

    def draw(key: str) -> str:
        said = [one.format(cart=word) for one in words.among(f"cart.{key}")]
        free = [one for one in said if one.casefold() not in names]
        return random.choice(free or said)

    lines = world.entity(cart.lines)
    first = DataField(name=_NUMBER, label=words.say("cart.number"), kind=Kind.TEXT)
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
        add=draw("add"),
        on_lists=random.random() < _ON_LISTS,
        remove=draw("remove"),
        line_sum=draw("sum"),
        total=draw("total"),
        check_out=draw("check_out"),
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
