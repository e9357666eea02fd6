"""The one way in which pages and instructions write a value of a world."""

from collections.abc import Mapping

from schemas.world import Kind, World

Titles = Mapping[str, Mapping[int, str]]
"""By entity, the titles of its rows by id."""


def show(world: World, entity: str, field: str, value: str | int | None, titles: Titles) -> str:
    """Return the words of a field's value: `$1,234.50`, `2026-03-09`, the title of the row that a link leads to.

    Args:
        world: the specification.
        entity: the entity's name.
        field: the field's name.
        value: what a row holds there; None: nothing.
        titles: of the rows of all entities that links lead to.

    Raises:
        KeyError: there is no such entity, field or row.
        TypeError: the field's kind holds no such value.
    """
    held = world.entity(entity).field(field)
    if value is None:
        return world.words.none
    if held.kind in {Kind.MONEY, Kind.LINK} and not isinstance(value, int):
        raise TypeError(f"'{entity}.{field}' holds a whole number, got {value!r}")
    if held.kind is Kind.MONEY:
        whole, cents = divmod(abs(int(value)), 100)
        return f"{'-' if int(value) < 0 else ''}{world.currency}{whole:,}.{cents:02}"
    if held.target is not None:
        return titles[held.target][int(value)]
    if held.kind is Kind.FLAG:
        return world.words.yes if value else world.words.no
    return str(value)
