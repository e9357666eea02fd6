"""Recipes of texts and dates, and their validation in a specification.

A recipe is a text with slots in braces. A slot with bars is a list of alternatives; any other slot names a source:
`{Oak|Walnut} desk, {small|large}` or `{first_name} {last_name}`. The recipe of a date is empty or names an earlier
date: `after joined`, or, in the row that a link points to, `after customer.joined`.
"""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from math import prod
from typing import NamedTuple

from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, World

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

_SLOT = re.compile(r"\{([^{}]*)\}")
_AFTER = re.compile(r"after ([a-z0-9_]+)(?:\.([a-z0-9_]+))?")


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


def content_problems(world: World) -> Iterator[str]:
    """Yield each part of a specification from which no rows can be drawn, one line each."""
    for entity in world.entities:
        for field in entity.fields:
            try:
                _check(world, entity, field)
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


def _check(world: World, entity: Entity, field: DataField) -> None:
    if field.kind is Kind.DATE:
        _check_dates(world, entity, field)
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


def _check_dates(world: World, entity: Entity, field: DataField) -> None:
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
