"""Parts of a list that tasks refer to: the rows that meet conditions.

A condition is on a field that the list shows or filters by. A part is drawn so that other rows, at most half of the
list, miss it by a single condition: careless readers would include them.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from generators.tasks.worlds.ground.mentions import RowsSaid, ValueSaid
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
    is_plain,
)
from generators.worlds.state.database import Row
from schemas.tasks.expectation import MAX_FACTS, ReadList, ReadRow
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, View

SEARCH = "q"
"""The parameter of a list's address that searches its rows' titles."""

NEAR_MISSES = 5
"""Minimum number of rows that miss a part by one condition, in lists with enough rows."""

_TRIES = 12
_BOUND = 0.4
"""The share of conditions that bound a number or a day, where a list shows such a field."""

_OVER = {True: ("after", "above"), False: ("before", "below")}


class Condition(NamedTuple):
    """A condition that rows of a part meet."""

    field: DataField
    """Its field."""
    test: ValueSaid
    """The condition as goals speak of it."""
    met: int
    """The rows that meet it, as bits: the first row's is the lowest."""
    choice: str | None
    """The filter's option that equals it; None: the list cannot filter by it."""


class Part(NamedTuple):
    """The rows of a list that meet conditions."""

    view: View
    """The list."""
    entity: Entity
    """The list's entity."""
    conditions: tuple[Condition, ...]
    """The conditions, at least one."""
    rows: tuple[Row, ...]
    """The rows that meet them, in id order."""
    near: int
    """The number of other rows that meet all conditions but one."""

    @property
    def among(self) -> RowsSaid:
        """The rows as goals speak of them."""
        return RowsSaid(self.entity, tuple(condition.test for condition in self.conditions))

    @property
    def filters(self) -> Mapping[str, str]:
        """The options of filters by field."""
        return {one.field.name: one.choice for one in self.conditions if one.choice is not None}


def draw_part(
    setting: Setting,
    random: Random,
    view: View,
    *,
    sizes: range,
    conditions: int = 1,
    unlike: Sequence[DataField] = (),
    only: Sequence[Row] | None = None,
) -> Part | None:
    """Return a part of a list; None: no draw succeeded.

    `sizes` are the allowed numbers of rows, `conditions` is the number of conditions, none of them on a field of
    `unlike`. `only` are the rows that the part may contain; None: all.
    """
    entity = setting.world.entity(view.entity)
    allowed = None if only is None else {row["id"] for row in only}
    choices, bounds = _usable(view, entity, unlike)
    for _ in range(_TRIES):
        told = [
            condition
            for field in _fields(random, choices, bounds, conditions)
            if (condition := _condition(setting, random, view, entity, field)) is not None
        ]
        if len(told) < conditions or _turns(setting, view, entity, told) > MAX_TURNS:
            continue
        part = make_part(setting, view, entity, told)
        fits = len(part.rows) in sizes and is_near(setting, part)
        is_allowed = allowed is None or {row["id"] for row in part.rows} <= allowed
        if fits and is_allowed:
            return part
    return None


def make_part(
    setting: Setting, view: View, entity: Entity, conditions: Sequence[Condition]
) -> Part:
    """Return the part of a list that meets conditions."""
    met = _all_met(setting, entity, conditions)
    near = 0
    for number in range(len(conditions)):
        others = (*conditions[:number], *conditions[number + 1 :])
        near += (_all_met(setting, entity, others) & ~met).bit_count()
    return Part(view, entity, tuple(conditions), tuple(setting.rows_met(entity, met)), near)


def _all_met(setting: Setting, entity: Entity, conditions: Iterable[Condition]) -> int:
    """Return the rows that meet conditions, as bits; without any condition all do."""
    met = (1 << len(setting.rows_of(entity))) - 1
    for one in conditions:
        met &= one.met
    return met


def is_near(setting: Setting, part: Part) -> bool:
    """Return whether enough rows miss a part by one condition; with several conditions, at most half of all may."""
    count = len(setting.rows_of(part.entity))
    return part.near >= min(NEAR_MISSES, count - len(part.rows)) and (
        len(part.conditions) == 1 or part.near <= count / 2
    )


def turns(setting: Setting, part: Part) -> int:
    """Return the number of page turns until the filtered list has shown all its rows."""
    return _turns(setting, part.view, part.entity, part.conditions)


def _turns(setting: Setting, view: View, entity: Entity, conditions: Sequence[Condition]) -> int:
    return max(0, _list_of(setting, entity, conditions).bit_count() - 1) // view.page_size


def narrowed_rows(setting: Setting, part: Part) -> list[Row]:
    """Return the rows of the filtered list, including rows that only reading can exclude."""
    return setting.rows_met(part.entity, _list_of(setting, part.entity, part.conditions))


def _list_of(setting: Setting, entity: Entity, conditions: Sequence[Condition]) -> int:
    return _all_met(setting, entity, (one for one in conditions if one.choice is not None))


def whole_list(setting: Setting, view: View, entity: Entity) -> ReadList | None:
    """Return a view's list as what has to be read; None: it has more rows than are kept with a task."""
    rows = setting.rows_of(entity)
    if not 0 < len(rows) <= MAX_FACTS:
        return None
    return ReadList(
        rows=tuple(
            ReadRow(
                name=setting.title(entity, row),
                values={name: "" if row[name] is None else str(row[name]) for name in view.filters},
            )
            for row in rows
        ),
        search=SEARCH if view.searched else None,
        path=f"/{view.name}",
    )


def choice_of(setting: Setting, view: View, field: DataField, choice: str) -> Condition:
    """Return the condition that a field has a given value, with its filter option if there is one."""
    offered = [words for _, words in setting.options(field)]
    entity = setting.world.entity(view.entity)
    return Condition(
        field,
        ValueSaid(entity, field, choice),
        setting.met(entity, field, choice),
        choice if field.name in view.filters and choice in offered else None,
    )


def _usable(
    view: View, entity: Entity, unlike: Sequence[DataField]
) -> tuple[list[DataField], list[DataField]]:
    """Return the fields of a list that may be in a condition as a choice, and those that may be as a bound."""
    names = dict.fromkeys((*view.filters, *view.columns))
    known = [entity.field(name) for name in names]
    usable = [one for one in known if one not in unlike and one is not entity.title]
    return (
        [one for one in usable if one.kind in {Kind.CHOICE, Kind.LINK}],
        [one for one in usable if one.kind in NUMBERS and one.name in view.columns],
    )


def _fields(
    random: Random, choices: Sequence[DataField], bounds: Sequence[DataField], count: int
) -> list[DataField]:
    """Return randomly chosen fields for conditions."""
    drawn = random.sample(choices, min(count, len(choices)))
    if bounds and (len(drawn) < count or random.random() < _BOUND):
        drawn = [*drawn[: count - 1], random.choice(bounds)]
    return drawn


def _condition(
    setting: Setting, random: Random, view: View, entity: Entity, field: DataField
) -> Condition | None:
    """Return a condition on a field that at least one row meets; None: the draw failed."""
    row = random.choice(setting.rows_of(entity))
    value = row[field.name]
    if value is None:
        return None
    if field.kind is Kind.CHOICE:
        return choice_of(setting, view, field, str(value))
    shown = setting.fact(entity, field, row)
    if not is_plain(shown):
        return None
    if field.kind is Kind.LINK:
        if field.name not in view.columns:
            return None
        test = ValueSaid(entity, field, value)
        return Condition(field, test, setting.met(entity, field, value), None)
    larger = random.random() < 1 / 2
    over = _OVER[larger][field.kind is not Kind.DATE]
    met = setting.met(entity, field, value, side=1 if larger else -1)
    return Condition(field, ValueSaid(entity, field, value, over), met, None)
