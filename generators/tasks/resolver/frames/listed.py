"""Requests on rows that are named, described or first in an order: change, delete, count, add up, name them."""

from collections.abc import Iterator, Sequence

from generators.tasks.resolver.attempt import Attempt, Used, refuse, used_by
from generators.tasks.resolver.frames.acts import remove, set_values, take_steps
from generators.tasks.resolver.frames.orders import read_figures, read_order
from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.reading import Reason
from generators.tasks.resolver.roles import Pair
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.selection import (
    Fielded,
    Split,
    entities_of,
    find_order,
    means_many,
    named_in,
    select,
    splits,
    unnamed_order,
)
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row
from schemas.worlds.world import Entity


def read_listed(scene: Scene) -> Iterator[Attempt]:
    """Yield the readings of a goal as a request on rows of one entity."""
    for entity in entities_of(scene):
        named = named_in(scene, entity)
        is_choice = _depends(scene) and not scene.with_cues(Cue.ASK)
        for split in splits(scene, entity, scene.firm if named else scene.pairs):
            told = (*split.conditions, *split.settings)
            names = {field.name for _, field in split.settings}
            is_new = entity.title.name in names and bool(scene.with_cues(Cue.NEW))
            if split.settings and (is_choice or is_new):
                continue  # it depends on something, or speaks of a new row
            titles = () if named else (entity.title,)
            again = scene.again(entity.name, (*titles, *(field for _, field in told)))
            used = used_by(*(_parts(pair) for pair, _ in told), again)
            if named and not _means_others(scene, entity):
                yield from _on_named(scene, entity, named, split, used)
            elif not named:
                yield from _on_described(scene, entity, split, used)


def _means_others(scene: Scene, entity: Entity) -> bool:
    """Return whether a goal speaks of all rows of another entity, which named rows describe."""
    for item in scene.with_cues(Cue.ALL):
        behind = scene.items[item.number + 1 : item.number + 2]
        many = {one.entity for each in behind for one in each.senses if one.sort is Sort.MANY}
        if many and entity.name not in many:
            return True
    return False


def _depends(scene: Scene) -> bool:
    """Return whether `otherwise` or the like is said of values."""
    told = {one.sentence for one in scene.items if one.is_value and not one.cues}
    return any(one.sentence in told for one in scene.with_cues(Cue.ELSE))


def _parts(pair: Pair) -> tuple[Item, ...]:
    return (pair.item,) if pair.label is None else (pair.item, pair.label)


def _on_named(
    scene: Scene, entity: Entity, named: Sequence[tuple[Item, list[int]]], split: Split, used: Used
) -> Iterator[Attempt]:
    used |= used_by(item for item, _ in named)
    shared = next((one for one in named if len(one[1]) > 1), None)
    if shared is not None:
        names = [
            scene.place.name(entity.name, scene.place.row(entity.name, one)) for one in shared[1]
        ]
        yield refuse(used, Reason.TWO_ROWS, f"several rows are called {shared[0].text}", names)
        return
    rows_named = [scene.place.row(entity.name, ids[0]) for _, ids in named]
    rows = [row for row in rows_named if _fits(scene, entity, split.conditions, row)]
    if len(rows) < len(rows_named):
        if not split.settings:
            yield refuse(used, Reason.NO_ROW, f"{named[0][0].text} is not as it is described")
        return
    yield from _fieldless(scene, entity, used)
    if _is_contrary(scene, split):
        yield refuse(used, Reason.TWO_READINGS, "it is to be deleted, or else changed")
        return
    if split.settings:
        yield from _set_each(scene, entity, named, split, used)
        return
    if not scene.with_cues(Cue.UNDO):
        yield from take_steps(scene, entity, rows, used)
    if scene.with_cues(Cue.DELETE) and not scene.with_cues(Cue.UNDO):
        yield remove(scene, entity, rows, used)


def _is_contrary(scene: Scene, split: Split) -> bool:
    """Return whether rows are to be deleted and also to get values."""
    deletes = scene.with_cues(Cue.DELETE)
    told = {pair.item.sentence for pair, _ in split.settings}
    is_same = any(one.sentence in told for one in deletes)
    return bool(told and deletes) and (is_same or bool(scene.with_cues(Cue.OR)))


def _fieldless(scene: Scene, entity: Entity, used: Used) -> Iterator[Attempt]:
    """Yield why a number that a row is to have cannot be put: several fields may be meant."""
    for item in scene.items:
        if (
            item.is_measure
            and not item.senses
            and scene.is_aim(item)
            and not scene.is_labelled(item)
        ):
            names = [one.label for one in entity.fields if scene.place.fits(entity, one, item)]
            about = f"what is to be {item.text} is not said"
            yield refuse(used | used_by(item), Reason.TWO_FIELDS, about, names)


def _fits(scene: Scene, entity: Entity, conditions: Sequence[Fielded], row: Row) -> bool:
    return all(scene.place.holds(pair, entity, field, row) for pair, field in conditions)


def _set_each(
    scene: Scene, entity: Entity, named: Sequence[tuple[Item, list[int]]], split: Split, used: Used
) -> Iterator[Attempt]:
    """Set values of named rows: those behind each name, or all values of all rows."""
    rows = [scene.place.row(entity.name, ids[0]) for _, ids in named]
    ends = [item.number for item, _ in named[1:]] + [len(scene.items)]
    parts = [
        [one for one in split.settings if item.number < one[0].item.number < end]
        for (item, _), end in zip(named, ends, strict=True)
    ]
    starts = [-1, *(item.number for item, _ in named[:-1])]
    before = [
        [one for one in split.settings if start < one[0].item.number < item.number]
        for (item, _), start in zip(named, starts, strict=True)
    ]
    if not all(parts) and all(before):
        parts = before  # `12 as the stock of the lamp and 30 as that of the kettle`
    told = {pair.item.sentence for pair, _ in split.settings}
    if (
        len(rows) > 1
        and not all(parts)
        and any(one.sentence in told for one in scene.with_cues(Cue.IT))
    ):
        names = [scene.place.name(entity.name, row) for row in rows]
        yield refuse(used, Reason.PRONOUN, "it may be any of several rows", names)
    elif len(rows) > 1 and all(parts):
        yield set_values(scene, entity, list(zip(rows, parts, strict=True)), used)
    else:
        yield set_values(scene, entity, [(row, split.settings) for row in rows], used)


def _on_described(scene: Scene, entity: Entity, split: Split, used: Used) -> Iterator[Attempt]:
    order = find_order(scene, entity)
    rows = select(scene, entity, split.conditions, order)
    if not split.settings and order is None:
        yield from read_figures(scene, entity, rows, used)
    if order is not None:
        told = order._replace(used=used | order.used)
        yield from read_order(scene, entity, rows, split.settings, told)
        return
    orderless = list(_orderless(scene, entity, used))
    yield from orderless
    if orderless:
        return
    if not split.conditions and not _is_only(scene, entity):
        return
    deeds = [] if scene.with_cues(Cue.UNDO) else scene.deeds(entity.name)
    if split.settings or deeds or scene.with_cues(Cue.DELETE):
        some = _one_or_many(scene, entity, rows, used)
        if isinstance(some, Attempt):
            yield some
        elif _is_contrary(scene, split):
            yield refuse(used, Reason.TWO_READINGS, "they are to be deleted, or else changed")
        elif split.settings:
            yield set_values(scene, entity, [(row, split.settings) for row in some], used)
        elif deeds and not scene.with_cues(Cue.DELETE):
            yield from take_steps(scene, entity, some, used)
        else:
            yield remove(scene, entity, some, used)


def _orderless(scene: Scene, entity: Entity, used: Used) -> Iterator[Attempt]:
    """Yield why the first of an order cannot be told: several fields may be meant."""
    names = unnamed_order(scene, entity)
    if len(names) > 1:
        yield refuse(used, Reason.TWO_FIELDS, "by what is not said", names)


def _is_only(scene: Scene, entity: Entity) -> bool:
    """Return whether an entity has one row, as settings have, which nobody names."""
    return len(scene.place.rows_of(entity.name)) == 1


def _one_or_many(
    scene: Scene, entity: Entity, rows: Sequence[Row], used: Used
) -> Sequence[Row] | Attempt:
    """Return the rows that are meant, or why that is not certain."""
    if not rows:
        return refuse(used, Reason.NO_ROW, f"no {entity.one} is as it is described")
    if len(rows) > 1 and not means_many(scene, entity):
        names = [scene.place.name(entity.name, row) for row in rows]
        return refuse(used, Reason.TWO_ROWS, f"several {entity.many} are as it is described", names)
    return rows
