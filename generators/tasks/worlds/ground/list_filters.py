"""Filters of a list: drawn, applied, and said in words."""

from collections.abc import Mapping, Sequence
from random import Random

from generators.tasks.worlds.ground.world_rows import Setting, is_so, quote, term
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


def in_words(entity: Entity, filters: Mapping[str, str]) -> str:
    """Return the rows of a list in words, as `Orders where Status is "Open"`."""
    parts = [is_so(entity.field(name), quote(choice)) for name, choice in filters.items()]
    told = f" {term('and')} ".join(parts)
    return f"{entity.many} {term('with')} {told}" if parts else entity.many
