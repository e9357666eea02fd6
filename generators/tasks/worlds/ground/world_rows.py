"""What tasks of a world are drawn from: its specification with its rows, and which of them a task may name.

A task may name a row if its title tells it from all others, and if its page is a few clicks from the start.
"""

import copy
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from random import Random

from generators.worlds.state.database import Row, Rows, Value
from generators.worlds.state.display import show
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, View, World

MAX_TURNS = 5
"""How often a reference turns a page of a list, at most."""

MAX_SEARCHLESS = 3
"""How often it does so at most where it might have searched."""

MAX_TITLE_CHARS = 80
"""A row with a longer title is not named."""

MIN_SIBLINGS = 5
"""So many other rows are like a row that is named, where there are as many."""

_SIBLINGS = 0.95
"""The share of rows that are picked among those with siblings."""

TERM = re.compile("⟦([a-z]+)⟧")
"""A word that an instruction has in its own language, as `above`, where its words are put together."""

_NO_NOUNS = frozenset(
    [
        "about",
        "born",
        "by",
        "called",
        "comes",
        "concerns",
        "created",
        "drives",
        "eats",
        "for",
        "from",
        "holds",
        "how",
        "in",
        "joined",
        "lies",
        "may",
        "on",
        "opened",
        "opens",
        "owes",
        "remote",
        "since",
        "taken",
        "until",
        "what",
        "where",
        "why",
        "with",
        "within",
    ]
)
"""Labels of one word that are no nouns, so that sentences cannot use them as they are."""

_CODE = re.compile(r"(\D+)\d")

NUMBERS = frozenset({Kind.INTEGER, Kind.MONEY, Kind.DATE})
"""What has a larger and a smaller."""


class Setting:
    """A world with its rows, as tasks ask of them."""

    def __init__(self, world: World, rows: Rows) -> None:
        self.world = world
        self.rows = rows
        self._titles = {
            entity.name: {
                _id(row): str(row[entity.title.name]) for row in rows.get(entity.name, ())
            }
            for entity in world.entities
        }
        self.searches = True
        """Whether references search for a row where a list has a search; else they turn its pages."""
        self._named: dict[str, list[Row]] = {}
        self._ends: dict[str, Counter[str]] = {}
        everything = (title for titles in self._titles.values() for title in titles.values())
        self._same = Counter(title.casefold() for title in everything)
        """How many rows, of whatever entity, a title names."""

    def without_search(self) -> "Setting":
        """Return the same, with references that turn a list's pages rather than search it."""
        other = copy.copy(self)
        other.searches = False
        return other

    def places(self, random: Random) -> list[tuple[View, Entity]]:
        """Return the entities whose rows a view lists, each with its first view, in a drawn order."""
        views = [(self.world.view_of(entity.name), entity) for entity in self.world.entities]
        places = [(view, entity) for view, entity in views if view is not None]
        return random.sample(places, len(places))

    def rows_of(self, entity: Entity) -> Sequence[Row]:
        """Return an entity's rows, in the order of their ids."""
        return self.rows.get(entity.name, ())

    def next_id(self, entity: Entity) -> int:
        """Return the id of the row that is added to an entity next."""
        return max((int(row["id"] or 0) for row in self.rows_of(entity)), default=0) + 1

    def row(self, entity: Entity, row: Value) -> Row:
        """Return the row of an id.

        Raises:
            KeyError: there is none.
        """
        for each in self.rows_of(entity):
            if each["id"] == row:
                return each
        raise KeyError(row)

    def title(self, entity: Entity, row: Row) -> str:
        """Return what names a row."""
        return self._titles[entity.name][_id(row)]

    def titles(self, entity: Entity) -> list[str]:
        """Return the titles of an entity's rows, in the order of their ids."""
        return list(self._titles[entity.name].values())

    def show(self, entity: Entity, field: DataField, value: Value) -> str:
        """Return a value as pages write it."""
        return show(self.world, entity.name, field.name, value, self._titles)

    def fact(self, entity: Entity, field: DataField, row: Row) -> str:
        """Return what pages write for a field of a row."""
        return self.show(entity, field, row[field.name])

    def names(self, view: View, entity: Entity, row: Row | None = None) -> dict[str, str]:
        """Return what wordings call the website, a view, its rows, and one of them; None: they name no row."""
        names = {
            "site": self.world.title,
            "view": view.label,
            "one": entity.one,
            "many": entity.many,
            "name": name_field(entity.title),
        }
        return names if row is None else {**names, "title": quote(self.title(entity, row))}

    def namable(self, view: View, entity: Entity) -> list[Row]:
        """Return the rows that a task may name, in the order of their ids."""
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
        """Return one of some rows, most often one that has siblings: rows whose titles begin or end alike, as codes do.

        A task that names a row with siblings is done to another by whoever does not read closely.
        """
        counts = [self._siblings(entity, self.title(entity, row)) for row in rows]
        fewest = max(1, min(MIN_SIBLINGS, max(counts)))
        siblings = [row for row, count in zip(rows, counts, strict=True) if count >= fewest]
        return random.choice(siblings if siblings and random.random() < _SIBLINGS else rows)

    def alike(self, words: Iterable[str]) -> int | None:
        """Return how many rows have a title like one of those that are quoted, the most of them; None: none is quoted."""
        told = {word.strip('"').casefold() for word in words}
        counts = [
            self._siblings(entity, title)
            for entity in self.world.entities
            for title in self.titles(entity)
            if title.casefold() in told
        ]
        return max(counts, default=None)

    def _siblings(self, entity: Entity, title: str) -> int:
        """Return how many other rows have a title that begins or ends as this one."""
        if entity.name not in self._ends:
            self._ends[entity.name] = Counter(
                end for each in self.titles(entity) for end in _ends(each)
            )
        return max(self._ends[entity.name][end] for end in _ends(title)) - 1

    def is_searched(self, view: View, entity: Entity, row: Row) -> bool:
        """Return whether a reference comes to a row by a search."""
        return view.searched and (
            self.searches or self.turns(view, entity, row, searched=False) > MAX_SEARCHLESS
        )

    def turns(self, view: View, entity: Entity, row: Row, *, searched: bool | None = None) -> int:
        """Return how often the view's list is turned until it shows a row, after a search for it.

        `searched` is whether there was one; None: wherever the list has a search.
        """
        before = itertools.takewhile(lambda other: other is not row, self.rows_of(entity))
        titles = (self.title(entity, other).casefold() for other in before)
        was_searched = view.searched if searched is None else searched
        wanted = self.title(entity, row).casefold() if was_searched else ""
        return sum(wanted in title for title in titles) // view.page_size

    def facts(self, entity: Entity, kinds: frozenset[Kind]) -> list[DataField]:
        """Return the fields of some kinds that tell something about a row, which its title does not."""
        return [field for field in entity.fields[1:] if field.kind in kinds]

    def options(self, field: DataField) -> list[tuple[Value, str]]:
        """Return what may be chosen in a field, of tags each by itself; each value with its words.

        A list is told a choice by its first letters, so that choices with which another begins are left out.
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
    """Return a title or a value as instructions write it."""
    return f'"{text}"'


def name_field(field: DataField) -> str:
    """Return what instructions call a field: in quotation marks, unless its label is a noun of one word."""
    label = field.label
    is_noun = " " not in label and label.casefold() not in _NO_NOUNS
    return label if is_noun and field.kind is not Kind.FLAG else quote(label)


def is_so(field: DataField, told: str) -> str:
    """Return a condition on a field in words, as `Status is "Open"`; English alone has the verb."""
    return f"{name_field(field)} {term('is')} {told}"


def state_value(field: DataField, text: str) -> str:
    """Return a value of a field in words, as `Price "$12.00"` or `"Lives in": "Leeds"`."""
    name = name_field(field)
    return f"{name}{':' if name != field.label else ''} {quote(text)}"


def term(name: str) -> str:
    """Return the mark of a word that an instruction has in its own language."""
    return f"⟦{name}⟧"


def rank(value: Value) -> int:
    """Return the place of a number or a day among others.

    Raises:
        ValueError: it is neither.
    """
    return value if isinstance(value, int) else date.fromisoformat(str(value)).toordinal()


def _ends(title: str) -> set[str]:
    """Return how a title begins and ends; a code, as IV-9110, begins with what stands before its number."""
    words = title.casefold().split() or [""]
    code = _CODE.match(words[0])
    return {f"{words[0]} ", f" {words[-1]}", *((code[1],) if code is not None else ())}


def _id(row: Row) -> int:
    number = row["id"]
    if not isinstance(number, int):
        raise TypeError(f"the id of a row is {number!r}")
    return number
