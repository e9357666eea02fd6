"""The cart of a world: its tables, the order made from it, and the labels of its buttons."""

from collections.abc import Iterator, Mapping

from schemas.base import Record
from schemas.worlds.field import DataField, Kind, broken_columns
from schemas.worlds.patterns import Label, Name


class CartTables(Record):
    """The entities and fields that a cart uses."""

    things: Name
    """The entity whose rows can be put into the cart."""
    price: Name
    """The money field of a thing, which the cart adds up."""
    orders: Name
    """The entity to which checking out adds a row."""
    lines: Name
    """The entity to which checking out adds a row for each thing."""
    order: Name
    """A line's link to its order."""
    thing: Name
    """A line's link to its thing."""
    quantity: Name
    """A line's quantity of the thing."""


class Cart(CartTables):
    """Rows of an entity are chosen with quantities, and then ordered together.

    The content of the cart is an entity without initial rows; its view is the cart's page.
    """

    lying: Name
    """The entity of the cart's content, with the same fields `thing` and `quantity` as order lines."""
    add: Label
    """The button that puts one of a thing into the cart."""
    on_lists: bool = False
    """Whether lists of cards or items have this button too."""
    remove: Label
    """The button that removes a thing."""
    line_sum: Label
    """The heading of the line totals."""
    total: Label
    """The label of the grand total."""
    check_out: Label
    """The button that orders the cart's content."""

    def problems(self, fields: Mapping[str, Mapping[str, DataField]]) -> Iterator[str]:
        """Yield each dangling reference as a sentence; `fields` has the fields of all entities by name."""
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
