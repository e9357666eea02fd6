"""The rows of a world, drawn from its specification: the same specification, the same rows.

Each field has a source of randomness of its own, so that a field more or less leaves the others as they are.
Many titles are like one before them but for a part, as the same thing in another size: what tells two rows
apart has to be read.
"""

from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from generators.worlds.recipes import (
    NUMBERS,
    SLUG,
    TEXTS,
    content_problems,
    earlier_of,
    holder_of,
    parse_recipe,
    recipe_of,
)
from schemas.errors import BadTasks
from schemas.world import DataField, Entity, Kind, World

if TYPE_CHECKING:
    from faker import Generator

Row = dict[str, str | int | None]
"""A row by columns in the specification's order, after its `id`."""

Rows = dict[str, list[Row]]
"""The rows of a world by entity, in the order of their ids, which go from 1."""

_ALIKE = 0.4
"""The share of titles that are like one before them but for a part."""

_MISSING = 0.2
"""The share of rows that lack a date, a number, a choice or a link which they need not have."""

_TRIES = 10_000
"""How often a title is drawn until it differs from all before it."""

_STEP = 5
"""Amounts are multiples of it, hundredths of the currency."""


def draw_rows(world: World) -> Rows:
    """Return the rows that a world has in the beginning.

    Raises:
        BadTasks: nothing can be drawn by a recipe, or not as much as there are rows.
    """
    for problem in content_problems(world):
        raise BadTasks(f"world {world.family}/{world.seed}: {problem}")
    faker = make_faker(world.locale)
    rows: Rows = {
        entity.name: [{"id": number} for number in range(1, entity.rows + 1)]
        for entity in world.entities
    }
    for entity in world.entities:
        for field in entity.fields:
            faker.seed_instance(_stream(world, entity, field))
            for row, value in zip(
                rows[entity.name], _values(world, entity, field, rows, faker), strict=True
            ):
                row[field.name] = value
    for entity in world.entities:
        for field in entity.fields:
            if field.kind is Kind.DATE:
                for row in rows[entity.name]:
                    days = _days(world, rows, entity, field, row)
                    row[field.name] = None if days is None else _date(world, days)
    return rows


def titles_of(world: World, rows: Rows) -> dict[str, dict[int, str]]:
    """Return the titles of all rows, by entity and id."""
    return {
        entity.name: {
            number: str(row[entity.title.name])
            for number, row in enumerate(rows[entity.name], start=1)
        }
        for entity in world.entities
    }


def make_faker(locale: str) -> "Generator":
    """Return the library of contents for a locale.

    Raises:
        BadTasks: it has none.
    """
    from faker import Factory  # noqa: PLC0415 - half a second, which commands without worlds need not take

    try:
        return Factory.create(locale)
    except AttributeError:
        raise BadTasks(f"there are no contents for the locale '{locale}'") from None


def draw_text(content: str, faker: "Generator", title: str = "") -> str:
    """Return a text drawn by a recipe, with the faker's own source of randomness.

    Raises:
        ValueError: the recipe cannot be read.
    """
    recipe = parse_recipe(content)
    return recipe.text([_part(slot, faker, title) for slot in recipe.slots])


def _part(slot: tuple[str, ...], faker: "Generator", title: str = "") -> str:
    if len(slot) > 1:
        return faker.random.choice(slot)
    if slot[0] == "number":
        return str(faker.random.choice(NUMBERS))
    if slot[0] == SLUG:
        from faker.decode import unidecode  # noqa: PLC0415
        from faker.utils.text import slugify  # noqa: PLC0415

        return slugify(unidecode(title).replace(" ", "."), allow_dots=True)
    return faker.format(slot[0])


def _values(
    world: World, entity: Entity, field: DataField, rows: Rows, faker: "Generator"
) -> Sequence[str | int | None]:
    """Return a field's value for each row; those of dates, which may follow from other rows, are left out."""
    if field is entity.title:
        return _titles(world, entity, faker)
    mine, rng = rows[entity.name], faker.random
    match field.kind:
        case Kind.TEXT | Kind.LONG_TEXT:
            content = field.content or TEXTS[field.kind]
            return [draw_text(content, faker, str(row[entity.title.name])) for row in mine]
        case Kind.DATE:
            return [None] * entity.rows
        case Kind.FLAG:
            share = rng.choice((0.2, 0.4, 0.6))
            return [int(rng.random() < share) for _ in mine]
        case Kind.INTEGER | Kind.MONEY:
            step = _STEP if field.kind is Kind.MONEY else 1
            drawn = (rng.randint(field.least, field.most) for _ in mine)
            values: list[str | int] = [max(field.least, one - one % step) for one in drawn]
        case _:
            known = field.choices or range(1, _target(world, field).rows + 1)
            weights = [rng.randint(1, 4) for _ in known]
            values = list(rng.choices(known, weights, k=entity.rows))
    return (
        values if field.required else [one if rng.random() > _MISSING else None for one in values]
    )


def _target(world: World, field: DataField) -> Entity:
    return world.entity(field.target or "")


def _titles(world: World, entity: Entity, faker: "Generator") -> list[str]:
    """Return a title for each row, no two of them the same.

    Raises:
        BadTasks: the recipe does not make so many.
    """
    recipe, rng = recipe_of(entity.title), faker.random
    drawn = dict[str, list[str]]()
    for _ in range(_TRIES):
        if len(drawn) == entity.rows:
            return list(drawn)
        if drawn and len(recipe.slots) > 1 and rng.random() < _ALIKE:
            parts = list(rng.choice(list(drawn.values())))
            changed = rng.randrange(len(parts))
            parts[changed] = _part(recipe.slots[changed], faker)
        else:
            parts = [_part(slot, faker) for slot in recipe.slots]
        drawn.setdefault(recipe.text(parts), parts)
    raise BadTasks(
        f"world {world.family}/{world.seed}: field '{entity.name}.{entity.title.name}': {_TRIES:,} draws"
        f" made {len(drawn)} titles for {entity.rows} rows"
    )


def _days(world: World, rows: Rows, entity: Entity, field: DataField, row: Row) -> int | None:
    """Return how many days a row's date lies after the world's; None: it has none.

    It depends on no other draw, so that a date may be asked for before its own row is whole.
    """
    rng = Random(f"{_stream(world, entity, field)}/{row['id']}")
    if not field.required and rng.random() < _MISSING:
        return None
    least, earlier = field.least, earlier_of(field)
    if earlier is not None:
        holder, held = holder_of(world, entity, earlier), row
        if earlier.link is not None:
            number = row[earlier.link]
            if number is None:
                return rng.randint(least, field.most)
            held = rows[holder.name][int(number) - 1]
        other = _days(world, rows, holder, holder.field(earlier.field), held)
        least = least if other is None else max(least, other)
    return rng.randint(least, field.most)


def _date(world: World, days: int) -> str:
    return (world.at.date() + timedelta(days=days)).isoformat()


def _stream(world: World, entity: Entity, field: DataField) -> str:
    """Return what a field's source of randomness is seeded by."""
    return f"{world.family}/{world.seed}/{entity.name}/{field.name}"
