"""Recipes of texts: how they are parsed, and how texts are drawn by them.

A recipe is a text with slots in braces. A slot with bars is a list of alternatives; any other slot names a source:
`{Oak|Walnut} desk, {small|large}` or `{first_name} {last_name}`. Many titles differ from an earlier one in one part
only, such as the same product in another size, so that rows must be read to be distinguished.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from generators.worlds.drawing.local_names import (
    ACCENTED,
    BRAZILIAN_CITIES,
    COMPANIES,
    with_accents,
)
from schemas.errors import BadTasks
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, World

if TYPE_CHECKING:
    from faker import Generator

NUMBERS = range(1_000, 10_000)
"""The range of the source `number`."""

SLUG = "slug"
"""The source that writes the row's title as in e-mail addresses: `jane.doe`."""

FAKED = (
    *("first_name", "last_name", "company", "phone_number", "isbn13"),
    *("city", "country", "street_address", "sentence", "paragraph"),
)
"""The sources that Faker provides, by Faker's names."""

SOURCES = ("number", SLUG, *FAKED)
"""All sources."""

TEXTS = {Kind.TEXT: "{sentence}", Kind.LONG_TEXT: "{paragraph}"}
"""The default recipes of texts."""

MISSING = 0.2
"""The share of rows without a value in an optional date, number, choice, tags or link."""

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

_TRIES = 10_000
"""Maximum number of draws until all titles differ."""

_FAMILY_NAME_FIRST = frozenset({"ja_JP"})
"""The locales that write the family name first."""

_STREETS = {"ja_JP": ("town", "chome", "ban", "gou")}
"""The sources of a street address, where Faker's own is half English."""

_UNPARTED = {"ar_DZ": ("+213", "0")}
"""The locales whose numbers of telephones and books are digits alone, as a line from right to left would put parts of them in
another order: the beginning of a telephone number for calls from abroad, and for those from within."""

_NAMES = {"first_name", "last_name"}
"""The sources of names of persons."""

_NUMBERS = {"phone_number", "isbn13"}
"""The sources of such numbers."""

_COUNTRIES = {
    "ar_DZ": (
        *("الجزائر", "المغرب", "تونس", "ليبيا", "مصر", "السودان", "السعودية", "الأردن", "لبنان"),
        *("العراق", "سوريا", "الكويت", "قطر", "عمان", "اليمن", "تركيا", "فرنسا", "إسبانيا"),
        *("إيطاليا", "ألمانيا", "اليونان", "البرتغال", "كندا", "البرازيل", "الهند", "اليابان"),
    )
}
"""The countries, where Faker has English names only."""

_CITIES = {
    "fr_FR": (
        *(
            "Amiens",
            "Angers",
            "Annecy",
            "Arles",
            "Avignon",
            "Bayonne",
            "Beauvais",
            "Besançon",
            "Blois",
        ),
        *(
            "Bordeaux",
            "Bourges",
            "Brest",
            "Caen",
            "Cahors",
            "Chambéry",
            "Chartres",
            "Colmar",
            "Dax",
        ),
        *(
            "Dijon",
            "Dole",
            "Dunkerque",
            "Épinal",
            "Évreux",
            "Gap",
            "Grenoble",
            "Laval",
            "Lille",
            "Limoges",
        ),
        *(
            "Lorient",
            "Lyon",
            "Marseille",
            "Metz",
            "Montauban",
            "Montpellier",
            "Mulhouse",
            "Nancy",
            "Nantes",
        ),
        *(
            "Narbonne",
            "Nevers",
            "Nice",
            "Nîmes",
            "Niort",
            "Orléans",
            "Paris",
            "Pau",
            "Périgueux",
            "Poitiers",
        ),
        *(
            "Quimper",
            "Reims",
            "Rennes",
            "Roanne",
            "Rodez",
            "Rouen",
            "Saint-Malo",
            "Saintes",
            "Sens",
            "Sète",
        ),
        *(
            "Strasbourg",
            "Tarbes",
            "Toulon",
            "Toulouse",
            "Tours",
            "Troyes",
            "Tulle",
            "Valence",
            "Vannes",
        ),
        *("Vichy", "Vienne", "Vitré"),
    ),
    "pt_BR": BRAZILIAN_CITIES,
}
"""The cities, where Faker invents names of them."""

_PLACES: dict[str, Mapping[str, Sequence[str]]] = {"country": _COUNTRIES, "city": _CITIES}

_STRANGE = {"de_DE": "auch Schlauchin"}
"""What Faker has among family names by mistake."""

_SLOT = re.compile(r"\{([^{}]*)\}")


class Recipe(NamedTuple):
    """A parsed recipe of texts."""

    literals: tuple[str, ...]
    """The texts before each slot and after the last."""
    slots: tuple[tuple[str, ...], ...]
    """The alternatives of each slot, or its only source."""

    @property
    def max_texts(self) -> int | None:
        """The number of different texts; None: unknown, because a source has no known size."""
        counts = [len(slot) if len(slot) > 1 else _COUNTS.get(slot[0]) for slot in self.slots]
        known = [count for count in counts if count is not None]
        return prod(known) if len(known) == len(counts) else None

    def text(self, parts: list[str]) -> str:
        """Return the text with its slots filled."""
        pairs = zip(self.literals, (*parts, ""), strict=True)
        return " ".join("".join(literal + part for literal, part in pairs).split())


_COUNTS = {"number": len(NUMBERS)}


def parse_recipe(text: str) -> Recipe:
    """Parse a recipe.

    Raises:
        ValueError: a brace is unbalanced, an alternative is empty, or a source is unknown.
    """
    pieces = _SLOT.split(text)
    for literal in pieces[::2]:
        if "{" in literal or "}" in literal:
            raise ValueError(f"a brace lacks its other in '{text}'")
    slots = [tuple(piece.split("|")) for piece in pieces[1::2]]
    for slot in slots:
        if "" in slot:
            raise ValueError(f"an empty alternative in '{text}'")
        if len(slot) == 1 and slot[0] not in SOURCES:
            raise ValueError(f"no source '{slot[0]}'; there are {', '.join(SOURCES)}")
    return Recipe(tuple(pieces[::2]), tuple(slots))


def recipe_of(field: DataField) -> Recipe:
    """Return the recipe of a text.

    Raises:
        ValueError: as `parse_recipe`.
    """
    return parse_recipe(field.content or TEXTS[field.kind])


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
    match slot[0]:
        case _ if len(slot) > 1:
            return faker.random.choice(slot)
        case "number":
            return str(faker.random.choice(NUMBERS))
        case "slug":
            return _slug(title, locale, faker)
        case "street_address" if locale in _STREETS:
            return "".join(faker.format(source) for source in _STREETS[locale])
        case source if locale in (places := _PLACES.get(source, {})):
            return faker.random.choice(places[locale])
        case source:
            return _source(source, locale, faker)


def _source(source: str, locale: str, faker: "Generator") -> str:
    """Return a text of a source of Faker, or of our own where Faker has none that a reader would expect."""
    if source == "company" and locale in COMPANIES:
        return draw_text(faker.random.choice(COMPANIES[locale]), locale, faker)
    told = " ".join(faker.format(source).split())
    if _STRANGE.get(locale, "\n") in told:
        return _source(source, locale, faker)
    if source in _NAMES and locale in ACCENTED:
        return with_accents(told, locale)
    if source in _NUMBERS and locale in _UNPARTED:
        return "".join(filter(str.isdigit, told.replace(*_UNPARTED[locale])))
    return told


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


def draw_titles(world: World, entity: Entity, faker: "Generator") -> list[str]:
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


def field_seed(world: World, entity: Entity, field: DataField) -> str:
    """Return the seed of a field's source of randomness."""
    return f"{world.family}/{world.seed}/{entity.name}/{field.name}"
