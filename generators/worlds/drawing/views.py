"""Draws the views of a world and their contents from the views of its family."""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from generators.worlds.drawing.family import Family, FamilyView, name_entity
from schemas.worlds.field import Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, View, is_cell

_SEARCHED = 0.85
"""The share of views with a search."""

_BULK = 0.4
"""The share of lists with bulk actions."""
_MOST_COLUMNS = 5
_MOST_CELLS = 4
"""Maximum number of editable columns of a grid."""
_PAGE_SIZES = (8, 10, 12, 15, 20, 25)
_NUMBERED = {Kind.INTEGER, Kind.MONEY, Kind.DATE}


def draw_views(
    family: Family, entities: Mapping[str, Entity], stream: Callable[[str], Random]
) -> tuple[View, ...]:
    """Return the views of a world; `stream` gives each part its source of randomness."""
    rng = stream("views")
    kept = [(name, view) for name, view in family.views.items() if rng.random() < view.chance]
    rng.shuffle(kept)
    drawn = list[View]()
    for name, view in kept:
        entity, flow = entities[view.entity], family.workflows.get(view.entity)
        one, update = _view(name, view, entity, rng), dict[str, object]()
        if view.shape is Shape.GRID:
            columns = _grid_columns(
                entity, flow.field if flow is not None else None, stream(f"grid/{name}")
            )
            update = {"columns": columns}
        elif view.shape is Shape.MAP and flow is not None:
            states = family.entities[view.entity].fields[flow.field].choices
            place = [state[0] for state in states].index(view.free or "")
            update = {
                "columns": _map_columns(entity, flow.field),
                "free": entity.field(flow.field).choices[place],
                "searched": False,
                "filters": (),
                "sorts": (),
            }
        drawn.append(one.model_copy(update=update))
    return tuple(drawn)


def _view(name: str, view: FamilyView, entity: Entity, rng: Random) -> View:
    """Return a view with some of the possible columns, filters and sort fields."""
    columns = [field.name for field in entity.fields[1:] if field.kind is not Kind.LONG_TEXT]
    filters = [field.name for field in entity.fields if field.kind is Kind.CHOICE]
    sorts = [field.name for field in entity.fields if field.kind in _NUMBERED]
    shown = rng.randint(min(2, len(columns)), min(_MOST_COLUMNS, len(columns)))
    return View(
        name=name,
        label=name_entity(rng.choice(view.label), entity.one, entity.many),
        entity=entity.name,
        columns=(entity.title.name, *_some(columns, shown, rng)),
        searched=rng.random() < _SEARCHED or view.shape is Shape.BOARD,
        filters=_some(filters, rng.randint(min(1, len(filters)), len(filters)), rng),
        sorts=_some([entity.title.name, *sorts], rng.randint(1, len(sorts) + 1), rng),
        page_size=rng.choice(_PAGE_SIZES),
        shape=view.shape,
        day=view.day,
        bulk=view.shape is Shape.LIST and entity.can_edit and rng.random() < _BULK,
    )


def _grid_columns(entity: Entity, state: str | None, rng: Random) -> tuple[str, ...]:
    """Return the columns of a grid: the title, some editable columns, and at most one other."""
    fields = [field for field in entity.fields[1:] if field.kind is not Kind.LONG_TEXT]
    cells = [field.name for field in fields if is_cell(field) and field.name != state]
    others = [field.name for field in fields if field.name not in cells]
    few = rng.randint(min(2, len(cells)), min(_MOST_CELLS, len(cells)))
    kept = {*_some(cells, few, rng), *_some(others, min(len(others), 1), rng)}
    return (entity.title.name, *(field.name for field in fields if field.name in kept))


def _map_columns(entity: Entity, state: str) -> tuple[str, ...]:
    """Return the fields that a map shows of its places: prices, choices and flags."""
    kinds = {Kind.MONEY, Kind.CHOICE, Kind.FLAG}
    fields = [one.name for one in entity.fields if one.kind in kinds and one.name != state]
    return (entity.title.name, *fields)


def _some(names: Sequence[str], count: int, rng: Random) -> tuple[str, ...]:
    """Return `count` of the names, in their order."""
    return tuple(names[place] for place in sorted(rng.sample(range(len(names)), count)))
