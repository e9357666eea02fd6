"""Filters of a list: drawn, applied."""

from collections.abc import Mapping, Sequence
from random import Random

from generators.tasks.worlds.ground.mentions import RowsSaid, ValueSaid
from generators.tasks.worlds.ground.world_rows import Setting
from generators.worlds.state.database import Row
from schemas.worlds.world import Entity, View


def draw_filter(setting: Setting, random: Random, view: View, entity: Entity) -> Mapping[str, str]:
    """Return a random filter option by field; empty if the list has no filter."""
    fields = [entity.field(name) for name in view.filters if entity.field(name).choices]
    if not fields:
        return {}
    field = random.choice(fields)
    return {field.name: random.choice([words for _, words in setting.options(field)])}


def can_filter(setting: Setting, entity: Entity, filters: Mapping[str, str]) -> bool:
    """Return whether the list's filters have these options."""
    return all(
        choice in [words for _, words in setting.options(entity.field(name))]
        for name, choice in filters.items()
    )


def filtered_rows(setting: Setting, entity: Entity, filters: Mapping[str, str]) -> Sequence[Row]:
    """Return the rows that filters leave, in id order."""
    return [
        row
        for row in setting.rows_of(entity)
        if all(row[name] == choice for name, choice in filters.items())
    ]


def rows_with(entity: Entity, filters: Mapping[str, str]) -> RowsSaid:
    """Return the rows of a list as goals speak of them."""
    told = (ValueSaid(entity, entity.field(name), choice) for name, choice in filters.items())
    return RowsSaid(entity, tuple(told))
