"""A world with its rows, for lookups: what a mention is as the value of a field, and whether a row is so."""

from datetime import date

from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.roles import Pair
from generators.tasks.resolver.senses import Sense, Sort
from generators.tasks.resolver.tokens import key_of
from generators.tasks.resolver.vocabulary import has_tag, show_fact, tags_in
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row, Rows, Value
from generators.worlds.state.display import Titles
from schemas.worlds.field import TAG_PARTING, DataField, Kind
from schemas.worlds.world import Entity, World

TEXTS = frozenset({Kind.TEXT, Kind.LONG_TEXT})
"""The kinds of fields with texts."""

NUMBERS = frozenset({Kind.INTEGER, Kind.MONEY, Kind.DATE})
"""The kinds of fields with an order."""


class Place:
    """A world with its rows."""

    def __init__(self, world: World, rows: Rows, titles: Titles) -> None:
        self.world, self.rows, self._titles = world, rows, titles
        self._by_id = {name: {id_of(row): row for row in some} for name, some in rows.items()}

    def row(self, entity: str, number: int) -> Row:
        """Return a row by its id."""
        return self._by_id[entity][number]

    def is_fit(self, sense: Sense, item: Item) -> bool:
        """Return whether a mention may be a value of the field that a sense is of; a text only if it is a text of it."""
        entity = self.world.entity(sense.entity)
        field = entity.field(sense.name)
        if field.kind in TEXTS and not item.quoted:
            return any(one.sort is Sort.TEXT and one.name == sense.name for one in item.senses)
        return self.fits(entity, field, item)

    def rows_of(self, entity: str) -> list[Row]:
        """Return an entity's rows."""
        return self.rows.get(entity, [])

    def next_id(self, entity: str) -> int:
        """Return the id of an entity's next new row."""
        return max(map(id_of, self.rows_of(entity)), default=0) + 1

    def fact(self, entity: str, row: Row, field: str) -> str:
        """Return a field's value as pages display it."""
        return show_fact(self.world, self._titles, entity, row, field)

    def name(self, entity: str, row: Row) -> str:
        """Return a row in words: its entity and title."""
        held = self.world.entity(entity)
        return f'{held.one} "{row[held.title.name]}"'

    def fits(self, entity: Entity, field: DataField, item: Item) -> bool:
        """Return whether a mention may be a value of a field."""
        return bool(self.values(entity, field, item))

    def values(self, entity: Entity, field: DataField, item: Item) -> list[Value]:
        """Return the values of a field that a mention may be."""
        match field.kind:
            case Kind.INTEGER | Kind.MONEY | Kind.DATE:
                value = _measure(field.kind, item)
                return [] if value is None else [value]
            case Kind.LINK:
                return [*item.ids(field.target or "")]
            case Kind.CHOICE | Kind.FLAG:
                return _choices(entity, field, item)
            case Kind.TAGS:
                told = tags_in(field, item.text)
                return [] if told is None else [told]
            case _:
                return _texts(entity, field, item)

    def holds(self, pair: Pair, entity: Entity, field: DataField, row: Row) -> bool:
        """Return whether a row is as a pair says."""
        there = row[field.name]
        is_so = there is not None and self._is_so(pair, entity, field, there)
        return is_so is not pair.negated

    def _is_so(self, pair: Pair, entity: Entity, field: DataField, there: Value) -> bool:
        told = self.values(entity, field, pair.item)
        if pair.over is not None:
            return bool(told) and field.kind in NUMBERS and _is_over(there, told[0], pair.over)
        if field.kind is Kind.TAGS:
            return any(
                all(has_tag(there, tag) for tag in str(value).split(TAG_PARTING)) for value in told
            )
        if field.kind in TEXTS:
            return key_of(str(there)) in {key_of(str(value)) for value in told}
        return there in told


def id_of(row: Row) -> int:
    """Return a row's id."""
    return int(row["id"] or 0)


def _measure(kind: Kind, item: Item) -> Value:
    if kind is Kind.DATE:
        return None if item.day is None else item.day.isoformat()
    return item.cents if kind is Kind.MONEY else item.whole


def _choices(entity: Entity, field: DataField, item: Item) -> list[Value]:
    flags = [one.value for one in item.senses if one.sort is Sort.FLAG]
    if field.kind is Kind.FLAG and flags:
        return flags
    place = (entity.name, field.name)
    known = (one for one in item.senses if one.sort is Sort.CHOICE)
    return [one.value for one in known if (one.entity, one.name) == place]


def _texts(entity: Entity, field: DataField, item: Item) -> list[Value]:
    if item.quoted:
        return [item.text]
    place = (entity.name, field.name)
    known = (one for one in item.senses if one.sort is Sort.TEXT)
    texts = [one.value for one in known if (one.entity, one.name) == place]
    return texts or ([item.text] if item.whole is not None and not item.has(*TITLES) else [])


def _is_over(there: Value, bound: Value, over: Cue) -> bool:
    return _rank(there) > _rank(bound) if over is Cue.ABOVE else _rank(there) < _rank(bound)


def _rank(value: Value) -> int:
    return value if isinstance(value, int) else date.fromisoformat(str(value)).toordinal()
