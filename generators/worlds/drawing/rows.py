"""Draws the rows of a world from its specification: equal specifications give equal rows.

Each field has its own source of randomness, so adding or removing a field leaves the others unchanged.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from graphlib import CycleError, TopologicalSorter
from random import Random
from typing import TYPE_CHECKING

from generators.worlds.drawing.dates import check_dates, fill_dates
from generators.worlds.drawing.histories import fill_history
from generators.worlds.drawing.procedures import procedure_text
from generators.worlds.drawing.text_recipes import (
    MISSING,
    SLUG,
    TEXTS,
    draw_text,
    draw_titles,
    field_seed,
    make_faker,
    recipe_of,
)
from generators.worlds.state.database import Row, Rows
from schemas.errors import BadTasks
from schemas.worlds.field import TAG_PARTING, DataField, Kind
from schemas.worlds.look import Amounts
from schemas.worlds.world import Entity, World

if TYPE_CHECKING:
    from faker import Generator

_ENDINGS = ((0, 50), (99, 49), (95, 45, 90), (0, 25, 50, 75), (0,))
"""The hundredths of amounts; a field uses one of these sets for all rows."""

_ROUND, _LARGE, _DIGITS = 20_000, 1_000_000, 4
"""The range of amounts, in hundredths, from which all may end in 00; the maximum from which amounts are rounded; and
the number of significant digits of these."""


def draw_rows(world: World) -> Rows:
    """Return the initial rows of a world.

    Raises:
        BadTasks: a recipe is invalid, or gives too few different titles.
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
            faker.seed_instance(field_seed(world, entity, field))
            for row, value in zip(
                rows[entity.name], _values(world, entity, field, rows, faker), strict=True
            ):
                row[field.name] = value
    fill_dates(world, rows)
    for entity in world.entities:
        _keep_apart(entity, rows[entity.name])
    _write_down(world, rows)
    return rows


def content_problems(world: World) -> Iterator[str]:
    """Yield each part of a specification from which no rows can be drawn, one line each."""
    for entity in world.entities:
        for field in entity.fields:
            try:
                _check_content(world, entity, field)
            except ValueError as error:
                yield f"field '{entity.name}.{field.name}': {error}"
    links = {
        entity.name: [
            field.target for field in entity.fields if field.required and field.target is not None
        ]
        for entity in world.entities
    }
    try:
        TopologicalSorter(links).prepare()
    except CycleError as error:
        yield f"required links in a loop: {' > '.join(reversed(error.args[1]))}"


def _check_content(world: World, entity: Entity, field: DataField) -> None:
    if field.kind is Kind.DATE:
        check_dates(world, entity, field)
    elif field.kind in TEXTS:
        recipe = recipe_of(field)
        if field is not entity.title:
            return
        if any(slot == (SLUG,) for slot in recipe.slots):
            raise ValueError(f"a title cannot be drawn from itself: '{field.content}'")
        if recipe.max_texts is not None and recipe.max_texts < entity.rows:
            raise ValueError(f"its recipe makes {recipe.max_texts} titles for {entity.rows} rows")
    elif field.content:
        raise ValueError(f"{field.kind.value} takes no recipe, got '{field.content}'")


def _write_down(world: World, rows: Rows) -> None:
    """Fill rows that follow from the specification and from other rows: procedures and past changes."""
    manual = world.manual
    if manual is not None:
        title = world.entity(manual.entity).title.name
        for row, one in zip(rows[manual.entity], manual.procedures, strict=True):
            row.update({title: one.title, manual.text: procedure_text(world, one)})
    if world.history is not None:
        fill_history(world, world.history, rows)


def _keep_apart(entity: Entity, rows: Sequence[Row]) -> None:
    """Move rows to later days until the values of `apart` are unique."""
    if not entity.apart:
        return
    day = next(name for name in entity.apart if entity.field(name).kind is Kind.DATE)
    taken = set[tuple[str | int | None, ...]]()
    for row in rows:
        while (key := tuple(row[name] for name in entity.apart)) in taken and row[day] is not None:
            row[day] = (date.fromisoformat(str(row[day])) + timedelta(days=1)).isoformat()
        taken.add(key)


def _values(
    world: World, entity: Entity, field: DataField, rows: Rows, faker: "Generator"
) -> Sequence[str | int | None]:
    """Return a field's value for each row; dates are None here, because they may depend on other rows."""
    if field is entity.title:
        return draw_titles(world, entity, faker)
    mine, rng = rows[entity.name], faker.random
    match field.kind:
        case Kind.TEXT | Kind.LONG_TEXT:
            content = field.content or TEXTS[field.kind]
            return [
                draw_text(content, world.locale, faker, str(row[entity.title.name])) for row in mine
            ]
        case Kind.DATE:
            return [None] * entity.rows
        case Kind.FLAG:
            share = rng.choice((0.2, 0.4, 0.6))
            return [int(rng.random() < share) for _ in mine]
        case Kind.INTEGER:
            values: list[str | int] = [rng.randint(field.min, field.max) for _ in mine]
        case Kind.MONEY:
            values = list(_amounts(world, field, entity.rows, rng))
        case Kind.TAGS:
            values = [_some_tags(field, rng) for _ in mine]
        case _:
            known = field.choices or range(1, _target(world, field).rows + 1)
            weights = [rng.randint(1, 4) for _ in known]
            values = list(rng.choices(known, weights, k=entity.rows))
    return values if field.required else [one if rng.random() > MISSING else None for one in values]


def _some_tags(field: DataField, rng: Random) -> str:
    """Return some of a field's tags in their order, most often two."""
    count = min(rng.choice((1, 2, 2, 3)), len(field.choices))
    places = sorted(rng.sample(range(len(field.choices)), count))
    return TAG_PARTING.join(field.choices[place] for place in places)


def _amounts(world: World, field: DataField, count: int, rng: Random) -> Iterator[int]:
    """Yield realistic amounts: with common hundredths, or rounded."""
    endings = rng.choice(_ENDINGS[: -1 if field.max - field.min < _ROUND else None])
    is_whole = world.amounts is Amounts.WHOLE
    for _ in range(count):
        value = rng.randint(field.min, field.max)
        if is_whole or field.max >= _LARGE:
            step = 10 ** max(2, len(str(field.max)) - _DIGITS)
            value -= value % step
        else:
            value += rng.choice(endings) - value % 100
        yield min(max(value, field.min), field.max)


def _target(world: World, field: DataField) -> Entity:
    return world.entity(field.target or "")
