"""The cart of a world: what of its tables is put in, what an order is made of, and the words of its buttons."""

from collections.abc import Iterator, Mapping

from schemas.base import Record
from schemas.worlds.field import DataField, Kind, broken_columns
from schemas.worlds.patterns import Label, Name


class CartTables(Record):
    """The entities and fields that a cart has to do with."""

    things: Name
    """The entity of which pages offer to put rows in."""
    price: Name
    """Their amount, which the cart adds up."""
    orders: Name
    """The entity of which checking out adds a row."""
    lines: Name
    """The entity of which it adds a row for each thing."""
    order: Name
    """The link of a line to its order."""
    thing: Name
    """The link of a line to the thing."""
    quantity: Name
    """The number of a line: how many of the thing."""


class Cart(CartTables):
    """What is chosen of an entity's rows and then ordered together, each so many times.

    An entity that has no rows in the beginning holds what lies in it; its view is the cart's page.
    """

    lying: Name
    """The entity of what lies in it, with the fields `thing` and `quantity` of the lines of orders."""
    add: Label
    """The button that puts one of a thing in."""
    on_lists: bool = False
    """Whether lists have this button too, where they show cards or items."""
    remove: Label
    """The button that takes a thing out again."""
    line_sum: Label
    """What stands over the sums of lines."""
    total: Label
    """What stands before the sum of all."""
    check_out: Label
    """The button that orders all that lies in it."""

    def problems(self, fields: Mapping[str, Mapping[str, DataField]]) -> Iterator[str]:
        """Yield what refers to nothing; `fields` are those of all entities by name."""
        named = (self.lying, self.things, self.orders, self.lines)
        for name in dict.fromkeys(named):
            if name not in fields:
                yield f"cart: there is no entity '{name}'"
        if not fields.keys() >= {*named}:
            return
        held = ((self.thing, Kind.LINK), (self.quantity, Kind.INTEGER))
        price, order = ((self.price, Kind.MONEY),), ((self.order, Kind.LINK),)
        yield from broken_columns("cart", self.lying, fields[self.lying], held, self.things)
        yield from broken_columns("cart", self.things, fields[self.things], price, "")
        yield from broken_columns("cart", self.lines, fields[self.lines], held, self.things)
        yield from broken_columns("cart", self.lines, fields[self.lines], order, self.orders)
