"""Tasks on maps of places: take the only matching free place among near misses."""

from collections.abc import Sequence
from random import Random

from generators.tasks.worlds.ground.changes import changes
from generators.tasks.worlds.ground.mentions import (
    FieldSaid,
    RowsSaid,
    StepSaid,
    TermSaid,
    ValueSaid,
)
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.pattern_steps import views_of
from generators.tasks.worlds.references.steps import (
    Steps,
    answer,
    click,
    see,
    take_steps,
    to_view,
)
from generators.worlds.serving.seat_map import Place, place_name, place_of, place_words
from generators.worlds.state.database import Row
from schemas.tasks.reference import Purpose
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View

_TRIES, _NEAR_MISSES = 40, 3
_EACH = 3
"""Distance of the map rows that are scrolled into view, so that the whole map was seen."""


@task_kind("take-place", needs=Shape.MAP)
def take_place(setting: Setting, random: Random) -> Draft | None:
    """Ask for the cheapest free place with a trait in one part of a map; others miss by one criterion."""
    for view in views_of(setting, Shape.MAP):
        entity, flow = setting.world.entity(view.entity), setting.world.workflow(view.entity)
        shown = [entity.field(name) for name in view.columns[1:]]
        prices = [field for field in shown if field.kind is Kind.MONEY]
        traits = [field for field in shown if field.kind in {Kind.CHOICE, Kind.FLAG}]
        steps = [one for one in flow.transitions if view.free in one.before] if flow else []
        if flow is None or not (prices and traits and steps):
            continue
        step, price = random.choice(steps), prices[0]
        for _ in range(_TRIES):
            is_back, trait = random.random() < 1 / 2, random.choice(traits)
            like = random.choice(setting.rows_of(entity))
            found = _cheapest(setting, view, like, (trait, price), is_back=is_back)
            if found is None or like[trait.name] == 0:
                continue
            return Draft(
                {
                    **setting.names(view, entity),
                    "row": str(_place(setting, view, like).row),
                    "way": TermSaid("back" if is_back else "front"),
                    "trait": RowsSaid(entity, (ValueSaid(entity, trait, like[trait.name]),)),
                    "price": FieldSaid((price,)),
                    "do": StepSaid(None, step, entity.field(flow.field)),
                },
                changes(entity, (found, {flow.field: step.after})),
                (*_reference(setting, view, found), *take_steps(setting, step), answer()),
            )
    return None


def _cheapest(
    setting: Setting, view: View, like: Row, fields: tuple[DataField, DataField], *, is_back: bool
) -> Row | None:
    """Return the cheapest free place with another's trait, in its row or beyond; None: unsuitable for a task."""
    entity, flow = setting.world.entity(view.entity), setting.world.workflow(view.entity)
    (trait, price), bound = fields, _place(setting, view, like).row
    state = flow.field if flow is not None else ""

    def is_there(row: Row) -> bool:
        beyond = _place(setting, view, row).row - bound
        return beyond >= 0 if is_back else beyond <= 0

    def count_failed(row: Row) -> int:
        held = (row[state] == view.free, is_there(row), row[trait.name] == like[trait.name])
        return held.count(False)

    rows = sorted(setting.rows_of(entity), key=lambda row: int(row[price.name] or 0))
    fits = [row for row in rows if count_failed(row) == 0]
    if (
        not fits
        or all(map(is_there, rows))
        or (fits[1:] and fits[0][price.name] == fits[1][price.name])
    ):
        return None
    cheaper = rows[: rows.index(fits[0])]
    near = sum(count_failed(row) == 1 for row in cheaper)
    return fits[0] if near and near + len(fits) - 1 >= _NEAR_MISSES else None


def _place(setting: Setting, view: View, row: Row) -> Place:
    place = place_of(setting.title(setting.world.entity(view.entity), row))
    if place is None:
        raise ValueError(f"view '{view.name}': the row {row['id']} has no place")
    return place


def _name(setting: Setting, view: View, row: Row) -> str:
    """Return the accessible name of a row's place."""
    entity, flow = setting.world.entity(view.entity), setting.world.workflow(view.entity)
    names = (flow.field if flow is not None else entity.title.name, *view.columns[1:])
    words = place_words(
        map(entity.field, names), row, lambda field: setting.fact(entity, field, row)
    )
    return place_name(_place(setting, view, row), words)


def _reference(setting: Setting, view: View, row: Row) -> Steps:
    """Return the steps that look at the whole map and open the place of a row."""
    rows: Sequence[Row] = setting.rows_of(setting.world.entity(view.entity))
    by_row = {_place(setting, view, one).row: one for one in rows}
    last = max(by_row)
    seen = [by_row[number] for number in sorted(by_row) if number % _EACH == 0 or number == last]
    names = (_name(setting, view, one) for one in seen)
    return (
        *to_view(setting, view),
        *map(see, names),
        click(_name(setting, view, row), Purpose.PLACE),
    )
