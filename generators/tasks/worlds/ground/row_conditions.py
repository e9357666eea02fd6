"""Parts of a list that tasks refer to: the rows that meet conditions.

A condition is on a field that the list shows or filters by. A part is drawn so that other rows, at most half of the
list, miss it by a single condition: careless readers would include them.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from generators.tasks.worlds.ground.mentions import RowsSaid, ValueSaid
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
    is_plain,
    rank,
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
    holds: Callable[[Row], bool]
    """Whether a row meets it."""
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
    allowed = {row["id"] for row in (setting.rows_of(entity) if only is None else only)}
    for _ in range(_TRIES):
        told = [
            condition
            for field in _fields(random, view, entity, conditions, unlike)
            if (condition := _condition(setting, random, view, entity, field)) is not None
        ]
        if len(told) < conditions:
            continue
        part = make_part(setting, view, entity, told)
        fits = len(part.rows) in sizes and {row["id"] for row in part.rows} <= allowed
        if fits and is_near(setting, part) and turns(setting, part) <= MAX_TURNS:
            return part
    return None


def make_part(
    setting: Setting, view: View, entity: Entity, conditions: Sequence[Condition]
) -> Part:
    """Return the part of a list that meets conditions."""
    rows, near = list[Row](), 0
    for row in setting.rows_of(entity):
        missed = sum(not condition.holds(row) for condition in conditions)
        if missed == 0:
            rows.append(row)
        near += missed == 1
    return Part(view, entity, tuple(conditions), tuple(rows), near)


def is_near(setting: Setting, part: Part) -> bool:
    """Return whether enough rows miss a part by one condition; with several conditions, at most half of all may."""
    count = len(setting.rows_of(part.entity))
    return part.near >= min(NEAR_MISSES, count - len(part.rows)) and (
        len(part.conditions) == 1 or part.near <= count / 2
    )


def turns(setting: Setting, part: Part, *, to: Row | None = None) -> int:
    """Return the number of page turns until the filtered list has shown all its rows, or row `to`."""
    listed = narrowed_rows(setting, part)
    place = len(listed) - 1 if to is None else listed.index(to)
    return max(0, place) // part.view.page_size


def narrowed_rows(setting: Setting, part: Part) -> list[Row]:
    """Return the rows of the filtered list, including rows that only reading can exclude."""
    filtered = [one for one in part.conditions if one.choice is not None]
    return [row for row in setting.rows_of(part.entity) if all(one.holds(row) for one in filtered)]


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
    return Condition(
        field,
        ValueSaid(setting.world.entity(view.entity), field, choice),
        lambda row: row[field.name] == choice,
        choice if field.name in view.filters and choice in offered else None,
    )


def _fields(
    random: Random, view: View, entity: Entity, count: int, unlike: Sequence[DataField]
) -> list[DataField]:
    """Return randomly chosen fields for conditions."""
    names = dict.fromkeys((*view.filters, *view.columns))
    known = [entity.field(name) for name in names]
    usable = [one for one in known if one not in unlike and one is not entity.title]
    choices = [one for one in usable if one.kind in {Kind.CHOICE, Kind.LINK}]
    bounds = [one for one in usable if one.kind in NUMBERS and one.name in view.columns]
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
        return Condition(field, test, lambda row: row[field.name] == value, None)
    larger, bound = random.random() < 1 / 2, rank(value)
    over = _OVER[larger][field.kind is not Kind.DATE]

    def holds(row: Row) -> bool:
        held = row[field.name]
        return held is not None and (rank(held) > bound if larger else rank(held) < bound)

    return Condition(field, ValueSaid(entity, field, value, over), holds, None)
