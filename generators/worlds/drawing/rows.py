"""Draws the rows of a world from its specification: equal specifications give equal rows.

Each field has its own source of randomness, so adding or removing a field leaves the others unchanged. Many titles
differ from an earlier one in one part only, such as the same product in another size, so that rows must be read to be
distinguished.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from generators.worlds.drawing.histories import fill_history
from generators.worlds.drawing.procedures import procedure_text
from generators.worlds.drawing.recipes import (
    NUMBERS,
    TEXTS,
    content_problems,
    earlier_of,
    holder_of,
    parse_recipe,
)
from generators.worlds.state.database import Row, Rows
from schemas.errors import BadTasks
from schemas.worlds.field import TAG_PARTING, DataField, Kind
from schemas.worlds.look import Amounts
from schemas.worlds.world import Entity, World

if TYPE_CHECKING:
    from faker import Generator

_ALIKE = 0.6
"""The share of titles that differ from an earlier one in one part only."""

_ALIKE_ROWS = 20
"""The number of rows per further model title that others resemble."""

_TWO = 2

_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
)
_LATIN_END = 0x250
"""The first code point after accented Latin letters."""

_MISSING = 0.2
"""The share of rows without a value in an optional date, number, choice, tags or link."""

_TRIES = 10_000
"""Maximum number of draws until all titles differ."""

_ENDINGS = ((0, 50), (99, 49), (95, 45, 90), (0, 25, 50, 75), (0,))
"""The hundredths of amounts; a field uses one of these sets for all rows."""

_ROUND, _LARGE, _DIGITS = 20_000, 1_000_000, 4
"""The range of amounts, in hundredths, from which all may end in 00; the maximum from which amounts are rounded; and
the number of significant digits of these."""

_FAMILY_NAME_FIRST = frozenset({"ja_JP"})
"""The locales that write the family name first."""

_STREETS = {"ja_JP": ("town", "chome", "ban", "gou")}
"""The sources of a street address, where Faker's own is half English."""

_COUNTRIES = {
    "ar_DZ": (
        *("الجزائر", "المغرب", "تونس", "ليبيا", "مصر", "السودان", "السعودية", "الأردن", "لبنان"),
        *("العراق", "سوريا", "الكويت", "قطر", "عمان", "اليمن", "تركيا", "فرنسا", "إسبانيا"),
        *("إيطاليا", "ألمانيا", "اليونان", "البرتغال", "كندا", "البرازيل", "الهند", "اليابان"),
    )
}
"""The countries, where Faker has English names only."""


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
        _keep_apart(entity, rows[entity.name])
    _write_down(world, rows)
    return rows


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


def make_faker(locale: str) -> "Generator":
    """Return the Faker generator for a locale.

    Raises:
        BadTasks: Faker does not support the locale.
    """
    from faker import Factory  # noqa: PLC0415 - half a second, which commands without worlds need not take

    try:
        return Factory.create(locale)
    except AttributeError:
        raise BadTasks(f"there are no contents for the locale '{locale}'") from None


def draw_text(content: str, locale: str, faker: "Generator", title: str = "") -> str:
    """Return a text drawn by a recipe, from the faker's own source of randomness.

    Raises:
        ValueError: the recipe is invalid.
    """
    recipe = parse_recipe(_in_order(content, locale))
    return recipe.text([_part(slot, locale, faker, title) for slot in recipe.slots])


def _in_order(content: str, locale: str) -> str:
    """Return a recipe with the parts of personal names in the order of the locale."""
    if locale not in _FAMILY_NAME_FIRST:
        return content
    return content.replace("{first_name} {last_name}", "{last_name} {first_name}")


def _part(slot: tuple[str, ...], locale: str, faker: "Generator", title: str = "") -> str:
    if len(slot) > 1:
        return faker.random.choice(slot)
    match slot[0]:
        case "number":
            return str(faker.random.choice(NUMBERS))
        case "slug":
            return _slug(title, locale, faker)
        case "street_address" if locale in _STREETS:
            return "".join(faker.format(source) for source in _STREETS[locale])
        case "country" if locale in _COUNTRIES:
            return faker.random.choice(_COUNTRIES[locale])
        case source:
            return " ".join(faker.format(source).split())


def _slug(title: str, locale: str, faker: "Generator") -> str:
    """Return a name as in e-mail addresses: in Latin letters, or `user` and a number for other scripts."""
    from faker.decode import unidecode  # noqa: PLC0415
    from faker.utils.text import slugify  # noqa: PLC0415

    words = title.split()
    if locale == "ja_JP":
        latin = _latin_names()
        words = [latin.get(word, word) for word in words]
    if max(map(ord, "".join(words)), default=0) >= _LATIN_END:
        return f"user{faker.random.choice(NUMBERS)}"
    plain = unidecode(".".join(words).translate(_UMLAUTS))
    return slugify(plain, allow_dots=True)


@cache
def _latin_names() -> dict[str, str]:
    """Return Latin spellings of Japanese names."""
    from faker.providers.person.ja_JP import Provider  # noqa: PLC0415

    pairs = (*Provider.first_name_pairs, *Provider.last_name_pairs)
    return {name: latin for name, _, latin in pairs}


def _values(
    world: World, entity: Entity, field: DataField, rows: Rows, faker: "Generator"
) -> Sequence[str | int | None]:
    """Return a field's value for each row; dates are None here, because they may depend on other rows."""
    if field is entity.title:
        return _titles(world, entity, faker)
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
    return (
        values if field.required else [one if rng.random() > _MISSING else None for one in values]
    )


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


def _titles(world: World, entity: Entity, faker: "Generator") -> list[str]:
    """Return a title for each row, all different.

    Raises:
        BadTasks: the recipe gives too few different titles.
    """
    locale, rng = world.locale, faker.random
    recipe = parse_recipe(_in_order(entity.title.content or TEXTS[entity.title.kind], locale))
    drawn, models = dict[str, list[str]](), list[tuple[list[str], int]]()
    for _ in range(_TRIES):
        if len(drawn) == entity.rows:
            return list(drawn)
        parts = [_part(slot, locale, faker) for slot in recipe.slots]
        if drawn and rng.random() < _ALIKE:
            if len(models) <= entity.rows // _ALIKE_ROWS or len(parts) > _TWO:
                models.append((rng.choice(list(drawn.values())), rng.randrange(len(parts))))
            parts = _like(*(models[-1] if len(parts) > _TWO else rng.choice(models)), parts)
        drawn.setdefault(recipe.text(parts), parts)
    raise BadTasks(
        f"world {world.family}/{world.seed}: field '{entity.name}.{entity.title.name}': {_TRIES:,} draws"
        f" made {len(drawn)} titles for {entity.rows} rows"
    )


def _like(model: Sequence[str], place: int, fresh: Sequence[str]) -> list[str]:
    """Return the parts of a title that differs from `model` in one part, or shares its first word.

    Titles of two parts that follow one model keep the same part, so that several can be confused.
    """
    if len(model) == 1:
        first, words = model[0].split()[0].rstrip(","), fresh[0].split()
        return [f"{first} {words[-1]}"] if len(words) > 1 else list(fresh)
    changed = 1 - place if len(model) == _TWO else place
    return [fresh[at] if at == changed else part for at, part in enumerate(model)]


def _days(world: World, rows: Rows, entity: Entity, field: DataField, row: Row) -> int | None:
    """Return the days from the world's date to a row's date; None: the row has no date.

    The result depends on no other draw, so it can be computed before the row is complete.
    """
    rng = Random(f"{_stream(world, entity, field)}/{row['id']}")
    if not field.required and rng.random() < _MISSING:
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


def _date(world: World, days: int) -> str:
    return (world.at.date() + timedelta(days=days)).isoformat()


def _stream(world: World, entity: Entity, field: DataField) -> str:
    """Return the seed of a field's source of randomness."""
    return f"{world.family}/{world.seed}/{entity.name}/{field.name}"
