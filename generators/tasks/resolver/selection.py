"""The rows that a goal speaks of: named, described, or first in an order."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from generators.tasks.resolver.attempt import Used, used_by
from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.place import NUMBERS
from generators.tasks.resolver.roles import Pair, Role
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.senses import Sense, Sort
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row, Value
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity

_MOST_SPLITS = 64
"""So many ways to part values into descriptions and new ones are tried."""

Fielded = tuple[Pair, DataField]
"""A value with the one field that it is taken for."""

_ENDS: dict[Cue, tuple[bool, frozenset[Kind]]] = {
    Cue.MOST: (True, NUMBERS),
    Cue.LEAST: (False, NUMBERS),
    Cue.LATEST: (True, frozenset({Kind.DATE})),
    Cue.EARLIEST: (False, frozenset({Kind.DATE})),
    Cue.DEAREST: (True, frozenset({Kind.MONEY})),
    Cue.CHEAPEST: (False, frozenset({Kind.MONEY})),
}
"""Of the ends of orders, whether it is the largest, and the kinds of fields."""


class Split(NamedTuple):
    """The values of a goal, for one entity."""

    conditions: tuple[Fielded, ...]
    """Those that describe rows."""
    settings: tuple[Fielded, ...]
    """Those that rows are to have."""


class Order(NamedTuple):
    """An order of rows."""

    field: DataField
    """By what."""
    largest: bool
    """Whether the largest comes first."""
    used: Used
    """Where the goal says so."""


def entities_of(scene: Scene) -> list[Entity]:
    """Return the entities that a goal may be about: those of named rows first, then those that it names."""
    world = scene.place.world
    named = {one.entity for item in scene.titles for one in item.senses if one.sort in TITLES}
    told = scene.names(Sort.ONE, Sort.MANY, Sort.VIEW) or {
        one.entity for item in scene.items for one in item.senses if one.sort is Sort.LABEL
    }
    if not named and not told:
        told = {one.entity for item in scene.items for one in item.senses}
    return [entity for entity in world.entities if entity.name in (named | told)]


def named_in(scene: Scene, entity: Entity) -> list[tuple[Item, list[int]]]:
    """Return the named rows of an entity: each mention with the ids that it may be."""
    out = list[tuple[Item, list[int]]]()
    for item in scene.titles:
        some = item.ids(entity.name)
        if some:
            out.append((item, some))
    return out


def splits(scene: Scene, entity: Entity, pairs: Sequence[Pair]) -> Iterator[Split]:
    """Yield the ways to take values as descriptions or as new values of an entity's rows."""
    known = [(pair, scene.fields_of(pair, entity.name)) for pair in pairs]
    firm = [one for one in known if one[0].label is not None and one[0].role is not Role.SET]
    taken = {field.name for _, fields in firm for field in fields}
    told = [
        (pair, fields)
        for pair, fields in known
        if fields and not (_is_loose(pair) and all(field.name in taken for field in fields))
    ]
    is_only = len(scene.place.rows_of(entity.name)) == 1
    choices = [
        [
            (pair, field, role)
            for field in fields
            for role in _roles(pair, is_only=is_only, is_framed=scene.is_framed(pair.item))
        ]
        for pair, fields in told
    ]
    for number, each in enumerate(product(*choices)):
        if number >= _MOST_SPLITS:
            return
        conditions = tuple((pair, field) for pair, field, role in each if role is Role.COND)
        if not _contradict(scene, entity, conditions):
            settings = tuple((pair, field) for pair, field, role in each if role is Role.SET)
            yield Split(conditions, settings)


def _contradict(scene: Scene, entity: Entity, conditions: Sequence[Fielded]) -> bool:
    """Return whether a field is said to have two values, as in `open or closed`."""
    told = dict[str, list[Value]]()
    for pair, field in conditions:
        if pair.over is not None or pair.negated or field.kind is Kind.TAGS:
            continue
        values = scene.place.values(entity, field, pair.item)
        known = told.setdefault(field.name, values)
        if not any(one in known for one in values):
            return True
    return False


def _is_loose(pair: Pair) -> bool:
    """Return whether a value is a single word without a field, which may mean nothing."""
    return pair.label is None and pair.item.weak and pair.role is not Role.SET


def _roles(pair: Pair, *, is_only: bool, is_framed: bool) -> tuple[Role, ...]:
    if is_only:
        return (Role.SET,)  # the only row needs no description
    if pair.label is None and not pair.item.senses and not is_framed:
        return (Role.COND,)  # a number or a day without a field is no new value
    return (Role.COND, Role.SET) if pair.role is Role.EITHER else (pair.role,)


def find_order(scene: Scene, entity: Entity) -> Order | None:
    """Return the order that a goal speaks of; None: of none, or of one that fits several fields."""
    if scene.with_cues(Cue.SPAN) or _is_both_ways(scene):
        return None
    told = [one for one in scene.items if one.has(Sort.RANK)]
    ranks = {(one.name, one.value) for item in told for one in _ranks(item, entity)}
    if len(ranks) == 1:
        name, largest = ranks.pop()
        field = entity.field(name)
        used = used_by(told, scene.again(entity.name, [field]))
        return Order(field, bool(largest), used)
    if ranks:
        return None
    for item in _words_beside(scene):
        for cue in sorted(item.cues & _ENDS.keys()):
            largest, kinds = _ENDS[cue]
            found = _ordered_by(scene, entity, item, kinds)
            if found is not None:
                again = scene.again(entity.name, [found[0]])
                return Order(found[0], largest, used_by(found[1], again))
    return None


def _is_both_ways(scene: Scene) -> bool:
    """Return whether a sentence speaks of both ends of an order."""
    ends = [
        (item.sentence, _ENDS[cue][0])
        for item in _words_beside(scene)
        for cue in item.cues & _ENDS.keys()
    ]
    return any((sentence, not largest) in ends for sentence, largest in ends)


def _ranks(item: Item, entity: Entity) -> list[Sense]:
    return [one for one in item.senses if one.sort is Sort.RANK and one.entity == entity.name]


def _words_beside(scene: Scene) -> Iterator[Item]:
    """Yield the mentions that are no values of fields, as `highest` is one of a priority."""
    values = {pair.item.number for pair in scene.firm}
    return (one for one in scene.items if one.number not in values)


def unnamed_order(scene: Scene, entity: Entity) -> list[str]:
    """Return the labels of the fields by which an order may be meant that names none; empty: there is no order."""
    for item in _words_beside(scene):
        for cue in sorted(item.cues & _ENDS.keys()):
            if scene.speaks_of_rows(item.sentence):
                return [field.label for field in entity.fields if field.kind in _ENDS[cue][1]]
    return []


def _ordered_by(
    scene: Scene, entity: Entity, item: Item, kinds: frozenset[Kind]
) -> tuple[DataField, Item | None] | None:
    """Return the field of an order and where it is named: the nearest in the sentence, first behind the word."""
    named = [
        (one, field)
        for one in scene.bare
        for field in scene.fields(one, entity.name)
        if field.kind in NUMBERS and _is_near(scene, one, item)
    ]
    if any(each[0].sentence == item.sentence for each in named):
        named = [each for each in named if each[0].sentence == item.sentence]
    behind = [each for each in named if each[0].number > item.number]
    before = [each for each in named if each[0].number < item.number]
    nearest = [*reversed(before)]
    for label, field in (*nearest, *behind[:1]) if scene.is_head_last else (*behind[:1], *nearest):
        return field, label
    some = [field for field in entity.fields if field.kind in kinds]
    if len(some) == 1 and kinds != NUMBERS and scene.speaks_of_rows(item.sentence):
        return some[0], None
    return None


def _is_near(scene: Scene, label: Item, item: Item) -> bool:
    """Return whether a field may be that of an order: in its sentence, or before it if that speaks of no other."""
    if label.sentence == item.sentence:
        return True
    starts = {one.sentence for one in scene.with_cues(Cue.START, Cue.FIRST)}
    is_asked = (
        scene.speaks_of_rows(item.sentence) or scene.asks(item.sentence) or item.sentence in starts
    )
    return label.sentence == item.sentence - 1 and is_asked


def select(
    scene: Scene, entity: Entity, conditions: Sequence[Fielded], order: Order | None = None
) -> list[Row]:
    """Return the rows that fit conditions, in an order; without one, as they are."""
    rows = [
        row
        for row in scene.place.rows_of(entity.name)
        if all(scene.place.holds(pair, entity, field, row) for pair, field in conditions)
    ]
    if order is None:
        return rows
    held = [row for row in rows if row[order.field.name] is not None]
    return arrange(held, order)


def arrange(rows: Sequence[Row], order: Order) -> list[Row]:
    """Return rows that all have a value of an order's field, in the order."""
    return sorted(rows, key=lambda row: _key(row, order.field), reverse=order.largest)


def _key(row: Row, field: DataField) -> tuple[int, str]:
    value = row[field.name]
    return (value, "") if isinstance(value, int) else (0, str(value))


def is_tied(rows: Sequence[Row], order: Order, place: int) -> bool:
    """Return whether the row at a place of an order is not the only one that may be there."""
    value = rows[place][order.field.name]
    return sum(row[order.field.name] == value for row in rows) > 1


def means_many(scene: Scene, entity: Entity) -> bool:
    """Return whether a goal speaks of several rows of an entity, and not of one."""
    if scene.with_cues(Cue.ONE):
        return False
    return entity.name in scene.names(Sort.MANY) or bool(scene.with_cues(Cue.ALL))
