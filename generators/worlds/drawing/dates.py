"""Dates of rows: their recipes, which name an earlier date, and how days are drawn.

The recipe of a date is empty or names a date that it must not precede: `after joined`, or, in the row that a link
points to, `after customer.joined`.
"""

import re
from datetime import timedelta
from random import Random
from typing import NamedTuple

from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.drawing.text_recipes import MISSING, field_seed
from generators.worlds.state.database import Row, Rows
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, World

_AFTER = re.compile(r"after ([a-z0-9_]+)(?:\.([a-z0-9_]+))?")


class Earlier(NamedTuple):
    """The date that another date must not precede."""

    link: str | None
    """The link to the row that holds it; None: the same row."""
    field: str
    """Its field."""


def earlier_of(field: DataField) -> Earlier | None:
    """Return the date that a date must not precede; None: its recipe is empty.

    Raises:
        ValueError: the recipe is invalid.
    """
    if not field.content:
        return None
    found = _AFTER.fullmatch(field.content)
    if found is None:
        raise ValueError(f"expected 'after FIELD' or 'after LINK.FIELD', got '{field.content}'")
    return Earlier(found[1], found[2]) if found[2] else Earlier(None, found[1])


def holder_of(world: World, entity: Entity, earlier: Earlier) -> Entity:
    """Return the entity that holds an earlier date.

    Raises:
        ValueError: the link or the date field does not exist.
    """
    fields = {field.name: field for field in entity.fields}
    holder = entity
    if earlier.link is not None:
        link = fields.get(earlier.link)
        if link is None or link.target is None:
            raise ValueError(f"'{entity.name}' has no link '{earlier.link}'")
        holder = world.entity(link.target)
    if not any(one.name == earlier.field and one.kind is Kind.DATE for one in holder.fields):
        raise ValueError(f"'{holder.name}' has no date '{earlier.field}'")
    return holder


def fill_dates(world: World, rows: Rows) -> None:
    """Draw the dates of all rows, whose other values are drawn."""
    for entity in world.entities:
        for field in entity.fields:
            if field.kind is Kind.DATE:
                for row in rows[entity.name]:
                    days = _days(world, rows, entity, field, row)
                    row[field.name] = None if days is None else _date(world, days)


def _days(world: World, rows: Rows, entity: Entity, field: DataField, row: Row) -> int | None:
    """Return the days from the world's date to a row's date; None: the row has no date.

    The result depends on no other draw, so it can be computed before the row is complete.
    """
    rng = Random(f"{field_seed(world, entity, field)}/{row['id']}")
    if not field.required and rng.random() < MISSING:
        return None
    least, earlier = field.min, earlier_of(field)
    if earlier is not None:
        holder, held = holder_of(world, entity, earlier), row
        if earlier.link is not None:
            number = row[earlier.link]
            if number is None:
                return rng.randint(least, field.max)
            held = rows[holder.name][int(number) - 1]
        other = _days(world, rows, holder, holder.field(earlier.field), held)
        least = least if other is None else max(least, other)
    return rng.randint(least, field.max)


def drop_loose_dates(draft: WorldDraft) -> None:
    """Clear the recipes of dates that refer to a field which the world lacks."""
    known = {entity.name: {field.name for field in entity.fields} for entity in draft.entities}

    def is_loose(entity: Entity, field: DataField) -> bool:
        earlier = earlier_of(field) if field.kind is Kind.DATE else None
        if earlier is None:
            return False
        if earlier.link is None:
            return earlier.field not in known[entity.name]
        if earlier.link not in known[entity.name]:
            return True
        return earlier.field not in known[entity.field(earlier.link).target or ""]

    def tighten(entity: Entity) -> Entity:
        fields = (
            field.model_copy(update={"content": ""}) if is_loose(entity, field) else field
            for field in entity.fields
        )
        return entity.model_copy(update={"fields": tuple(fields)})

    draft.entities = tuple(map(tighten, draft.entities))


def check_dates(world: World, entity: Entity, field: DataField) -> None:
    """Check the chain of dates that a date must not precede.

    Raises:
        ValueError: a date does not exist, repeats, or may lie after the last day of a later one.
    """
    passed = [f"{entity.name}.{field.name}"]
    while (earlier := earlier_of(field)) is not None:
        entity = holder_of(world, entity, earlier)
        before, name = entity.field(earlier.field), f"{entity.name}.{earlier.field}"
        if name in passed:
            raise ValueError(f"dates after each other in a loop: {' > '.join((*passed, name))}")
        if before.max > field.max:
            raise ValueError(
                f"{name} is at most {before.max} days off, and may lie after {passed[-1]},"
                f" which is at most {field.max}"
            )
        passed.append(name)
        field = before


def _date(world: World, days: int) -> str:
    return (world.at.date() + timedelta(days=days)).isoformat()
