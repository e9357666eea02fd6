"""Assigns the fields of a row's page to its tabs or sections."""

from schemas.worlds.behaviour import Facts
from schemas.worlds.field import DataField
from schemas.worlds.world import Entity, World

_BESIDE_SHEET = 2
"""Columns of a list that a row's page shows itself where the others are on a sheet."""


def fact_parts(world: World, entity: Entity) -> list[tuple[str, tuple[DataField, ...]]]:
    """Return the parts of a row's page with label and fields; the first holds the fields of the list.

    Where the others are on a sheet, the first holds the first columns of the list alone.
    """
    behaviour, view = world.behaviour, world.view_of(entity.name)
    columns = view.columns if view is not None else ()
    if behaviour.facts is Facts.SHEET:
        columns = columns[:_BESIDE_SHEET]
    listed = {entity.title.name, *columns}
    first = tuple(field for field in entity.fields if field.name in listed)
    rest = [field for field in entity.fields if field.name not in listed]
    if behaviour.facts is Facts.TOGETHER or not rest:
        return [(behaviour.parts[0], entity.fields)]
    labels = behaviour.parts[1 : 1 + len(rest)]
    if behaviour.facts is Facts.SHEET:
        labels = labels[:1]
    size = -(-len(rest) // len(labels))
    held = [tuple(rest[at : at + size]) for at in range(0, len(rest), size)]
    return [(behaviour.parts[0], first), *zip(labels, held, strict=False)]
