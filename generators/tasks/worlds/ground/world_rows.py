"""The basis of tasks of a world: its specification with its rows, and the rows that a task can name.

A task can name a row if its title is unique and its page is a few clicks from the start.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from random import Random

from generators.tasks.worlds.ground.mentions import FieldSaid, NounSaid, RowSaid, Said, rows_in
from generators.worlds.state.database import Row, Rows, Value
from generators.worlds.state.display import show
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, Picture, View, World

MAX_TURNS = 5
"""Maximum number of page turns of a reference in one list."""

MAX_TITLE_CHARS = 80
"""Maximum length of the title of a named row in characters."""

MIN_SIBLINGS = 5
"""Number of similar rows that a named row should have, where that many exist."""

_SIBLINGS = 0.95
"""The share of named rows that are drawn from those with similar rows."""

_CODE = re.compile(r"(\D+)\d")

NUMBERS = frozenset({Kind.INTEGER, Kind.MONEY, Kind.DATE})
"""The kinds of fields with an order."""


class Setting:
    """A world with its rows, and queries on them for tasks."""

    def __init__(self, world: World, rows: Rows) -> None:
        self.world = world
        self.rows = rows
        self._titles = {
            entity.name: {
                _id(row): str(row[entity.title.name]) for row in rows.get(entity.name, ())
            }
            for entity in world.entities
        }
        self._named: dict[str, list[Row]] = {}
        self._ends: dict[str, Counter[str]] = {}
        self._met: dict[tuple[str, str, Value, int], int] = {}
        everything = (title for titles in self._titles.values() for title in titles.values())
        self._same = Counter(title.casefold() for title in everything)
        """The number of rows of all entities with each title."""

    def places(self, random: Random) -> list[tuple[View, Entity]]:
        """Return the entities with a list, each with its first list, in random order."""
        views = [(self.world.view_of(entity.name), entity) for entity in self.world.entities]
        places = [(view, entity) for view, entity in views if view is not None]
        return random.sample(places, len(places))

    def rows_of(self, entity: Entity) -> Sequence[Row]:
        """Return an entity's rows, in id order."""
        return self.rows.get(entity.name, ())

    def met(self, entity: Entity, field: DataField, value: Value, *, side: int = 0) -> int:
        """Return the rows that have a value in a field as bits, the first row's the lowest.

        `side` is 1 for the rows with larger values instead, and -1 for those with smaller ones.
        """
        key = (entity.name, field.name, value, side)
        if key not in self._met:
            places = enumerate(self.rows_of(entity))
            self._met[key] = sum(
                1 << place for place, row in places if _is_so(row[field.name], value, side)
            )
        return self._met[key]

    def rows_met(self, entity: Entity, met: int) -> list[Row]:
        """Return the rows that bits stand for, in id order."""
        rows, out = self.rows_of(entity), list[Row]()
        while met:
            lowest = met & -met
            out.append(rows[lowest.bit_length() - 1])
            met ^= lowest
        return out

    def next_id(self, entity: Entity) -> int:
        """Return the id of an entity's next new row."""
        return max((int(row["id"] or 0) for row in self.rows_of(entity)), default=0) + 1

    def row(self, entity: Entity, row: Value) -> Row:
        """Return the row with an id.

        Raises:
            KeyError: no row has this id.
        """
        for each in self.rows_of(entity):
            if each["id"] == row:
                return each
        raise KeyError(row)

    def title(self, entity: Entity, row: Row) -> str:
        """Return a row's title."""
        return self._titles[entity.name][_id(row)]

    def titles(self, entity: Entity) -> list[str]:
        """Return the titles of an entity's rows, in id order."""
        return list(self._titles[entity.name].values())

    def show(self, entity: Entity, field: DataField, value: Value) -> str:
        """Return a value as pages display it."""
        return show(self.world, entity.name, field.name, value, self._titles)

    def fact(self, entity: Entity, field: DataField, row: Row) -> str:
        """Return a field's value as pages display it."""
        return self.show(entity, field, row[field.name])

    def names(self, view: View, entity: Entity, row: Row | None = None) -> dict[str, Said]:
        """Return what goals speak of: the website, a view and its rows, and `row` if given."""
        names: dict[str, Said] = {
            "site": self.world.title,
            "view": view.label,
            "one": NounSaid(entity.one, is_person=entity.picture is Picture.PERSON),
            "many": NounSaid(entity.many),
            "name": FieldSaid((entity.title,)),
        }
        if row is None:
            return names
        listed = view if view.shape is Shape.LIST else None
        return {**names, "row": RowSaid(entity, self.title(entity, row), row, listed)}

    def namable(self, view: View, entity: Entity) -> list[Row]:
        """Return the rows that a task can name, in id order."""
        if view.name not in self._named:
            self._named[view.name] = [
                row
                for row in self.rows_of(entity)
                if is_plain(title := self.title(entity, row))
                and self._same[title.casefold()] == 1
                and self.turns(view, entity, row) <= MAX_TURNS
            ]
        return self._named[view.name]

    def pick(self, random: Random, entity: Entity, rows: Sequence[Row]) -> Row:
        """Return one of the rows, preferring rows with siblings: titles that begin or end alike, as codes do.

        A careless reader confuses a named row with its siblings.
        """
        counts = [self._siblings(entity, self.title(entity, row)) for row in rows]
        fewest = max(1, min(MIN_SIBLINGS, max(counts)))
        siblings = [row for row, count in zip(rows, counts, strict=True) if count >= fewest]
        return random.choice(siblings if siblings and random.random() < _SIBLINGS else rows)

    def alike(self, words: Iterable[Said]) -> int | None:
        """Return the largest number of siblings of a row that is spoken of; None: none is."""
        told = rows_in([*words])
        return max((self._siblings(one.entity, one.title) for one in told if one.row), default=None)

    def _siblings(self, entity: Entity, title: str) -> int:
        """Return the number of other rows whose titles begin or end like this one."""
        if entity.name not in self._ends:
            self._ends[entity.name] = Counter(
                end for each in self.titles(entity) for end in _ends(each)
            )
        return max(self._ends[entity.name][end] for end in _ends(title)) - 1

    def turns(self, view: View, entity: Entity, row: Row) -> int:
        """Return the number of page turns until a list shows a row, after a search for its title if it has one."""
        before = itertools.takewhile(lambda other: other is not row, self.rows_of(entity))
        titles = (self.title(entity, other).casefold() for other in before)
        wanted = self.title(entity, row).casefold() if view.searched else ""
        return sum(wanted in title for title in titles) // view.page_size

    def facts(self, entity: Entity, kinds: frozenset[Kind]) -> list[DataField]:
        """Return the fields of some kinds, without the title."""
        return [field for field in entity.fields[1:] if field.kind in kinds]

    def options(self, field: DataField) -> list[tuple[Value, str]]:
        """Return the options of a field, of tags each alone, as values with their labels.

        Options that are a prefix of another option are skipped: lists are operated by typing.
        """
        match field.kind:
            case Kind.CHOICE | Kind.TAGS:
                each: list[tuple[Value, str]] = [(choice, choice) for choice in field.choices]
            case Kind.FLAG:
                each = [(1, self.world.words.yes), (0, self.world.words.no)]
            case Kind.LINK if field.target is not None:
                each = list(self._titles[field.target].items())
            case _:
                each = []
        told = sorted(words.casefold() for _, words in each)
        shared = {one for one, after in itertools.pairwise(told) if after.startswith(one)}
        return [
            (value, words)
            for value, words in each
            if is_plain(words) and words.casefold() not in shared
        ]


def is_plain(text: str) -> bool:
    """Return whether an instruction can quote a text: one line, not too long, without quotation marks."""
    return 0 < len(text) <= MAX_TITLE_CHARS and '"' not in text and " ".join(text.split()) == text


def quote(text: str) -> str:
    """Return a title or a value as instructions quote it."""
    return f'"{text}"'


def rank(value: Value) -> int:
    """Return the sort key of a number or a day.

    Raises:
        ValueError: the value is neither.
    """
    return value if isinstance(value, int) else date.fromisoformat(str(value)).toordinal()


def _is_so(held: Value, value: Value, side: int) -> bool:
    """Return whether a value is another, or on a side of it: 1 for larger, -1 for smaller."""
    if side == 0:
        return held == value
    return held is not None and (rank(held) - rank(value)) * side > 0


def _ends(title: str) -> set[str]:
    """Return the beginning and the end of a title; of a code, as IV-9110, also the part before its number."""
    words = title.casefold().split() or [""]
    code = _CODE.match(words[0])
    return {f"{words[0]} ", f" {words[-1]}", *((code[1],) if code is not None else ())}


def _id(row: Row) -> int:
    number = row["id"]
    if not isinstance(number, int):
        raise TypeError(f"the id of a row is {number!r}")
    return number
