"""Requests that start from one row: a fact of it or of a row that it links to, or a change of such a row."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from generators.tasks.resolver.attempt import Attempt, Used, refuse, used_by
from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.place import id_of
from generators.tasks.resolver.reading import Change, Reading, Reason, Refusal
from generators.tasks.resolver.roles import Pair, Role
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.selection import entities_of, find_order, named_in, select, splits
from generators.tasks.resolver.senses import Sort
from generators.worlds.state.database import Row, Value
from schemas.worlds.field import DataField
from schemas.worlds.world import Entity

_MOST_LABELS = 4
"""So many names of fields make a way at most."""


def read_facts(scene: Scene) -> Iterator[Attempt]:
    """Yield the readings of a goal as a question for a fact of one row, or of one that it links to."""
    for entity, row, used in _subjects(scene):
        labels = [one for one in scene.bare if one.number not in used]
        if not 0 < len(labels) <= _MOST_LABELS:
            continue
        if isinstance(row, Refusal):
            yield Attempt(used | used_by(labels), row)
            continue
        for way in _ways(scene, entity, labels):
            if len(way) == 1 and way[0][2] == entity.title and named_in(scene, entity):
                continue  # its name was said
            yield _fact(scene, entity, row, way, used)


def read_chains(scene: Scene) -> Iterator[Attempt]:
    """Yield the readings of a goal as a change of the row that links lead to from another one."""
    for entity, row, used in _subjects(scene):
        links = [one for one in scene.bare if one.number not in used]
        if not 0 < len(links) <= _MOST_LABELS or isinstance(row, Refusal):
            continue
        for way in _ways(scene, entity, links):
            if all(field.target is not None for _, _, field in way):
                yield from _change_there(scene, row, way, used)


Way = Sequence[tuple[Item, Entity, DataField]]
"""Fields from row to row: where the goal names them, the entity that has them, and the field."""


def _subjects(scene: Scene) -> Iterator[tuple[Entity, Row | Refusal, Used]]:
    """Yield the one row that a goal starts from, or why there is none, with what says so."""
    for entity in entities_of(scene):
        named = named_in(scene, entity)
        if len(named) == 1:
            item, ids = named[0]
            for one in ids:
                yield entity, scene.place.row(entity.name, one), used_by(item)
        elif not named:
            yield from _describe(scene, entity)


def _describe(scene: Scene, entity: Entity) -> Iterator[tuple[Entity, Row | Refusal, Used]]:
    if find_order(scene, entity) is not None:
        return
    told = [one for one in scene.pairs if one.role is not Role.SET]
    for split in splits(scene, entity, told):
        if not split.conditions or split.settings:
            continue
        used = used_by(*((pair.item, pair.label) for pair, _ in split.conditions))
        rows = select(scene, entity, split.conditions)
        if len(rows) == 1:
            yield entity, rows[0], used
        else:
            count = "several" if rows else "no"
            names = tuple(scene.place.name(entity.name, row) for row in rows)
            reason = Reason.TWO_ROWS if rows else Reason.NO_ROW
            about = f"{count} {entity.many} are as it is described"
            yield entity, Refusal(reason=reason, about=about, candidates=names), used


def _ways(scene: Scene, entity: Entity, labels: Sequence[Item]) -> Iterator[Way]:
    """Yield the ways that names of fields make from an entity, each by a link but the last.

    Single words may be left out; ways that use more of them come first.
    """
    seen = set[tuple[tuple[str, str], ...]]()
    weak = [one for one in labels if one.weak or _is_again(one, labels)]
    for count in range(len(weak), -1, -1):
        for some in combinations(weak, count):
            kept = [one for one in labels if one not in weak or one in some]
            for order in permutations(kept):
                for way in _way(scene, entity, order):
                    name = tuple((at.name, field.name) for _, at, field in way)
                    if way and name not in seen:
                        seen.add(name)
                        yield way


def _is_again(label: Item, labels: Sequence[Item]) -> bool:
    """Return whether a name is of a field that another one may name too: `when is it due (Due on)`."""
    own = {one for one in label.senses if one.sort is Sort.LABEL}
    return not label.is_alone and any(
        not own.isdisjoint(one.senses) for one in labels if one is not label
    )


def _used_on(scene: Scene, way: "Way") -> Used:
    """Return where a goal names the fields of a way, perhaps more than once."""
    again = (scene.again(entity.name, [field]) for _, entity, field in way)
    return used_by(*(label for label, _, _ in way), *again)


def _way(scene: Scene, entity: Entity, labels: Sequence[Item]) -> Iterator[Way]:
    if not labels:
        yield ()
        return
    for field in scene.fields(labels[0], entity.name):
        here = (labels[0], entity, field)
        if len(labels) == 1:
            yield (here,)
        elif field.target is not None:
            target = scene.place.world.entity(field.target)
            yield from ((here, *rest) for rest in _way(scene, target, labels[1:]))


def _follow(scene: Scene, row: Row, way: Way) -> Row | None:
    """Return the row that links lead to; None: one of them is empty."""
    for _, _, field in way:
        value = row[field.name]
        if not isinstance(value, int) or field.target is None:
            return None
        row = scene.place.row(field.target, value)
    return row


def _fact(scene: Scene, entity: Entity, row: Row, way: Way, used: Used) -> Attempt:
    used |= _used_on(scene, way)
    last = way[-1]
    there = _follow(scene, row, way[:-1])
    if there is None or there[last[2].name] is None:
        return refuse(used, Reason.NO_VALUE, f"{way[0][2].label} is empty")
    answer = scene.place.fact(last[1].name, there, last[2].name)
    rows = (id_of(row),)
    return Attempt(used, Reading(entity=entity.name, rows=rows, answer=answer))


def _change_there(scene: Scene, row: Row, way: Way, used: Used) -> Iterator[Attempt]:
    used |= _used_on(scene, way)
    target = scene.place.world.entity(way[-1][2].target or "")
    there = _follow(scene, row, way)
    told = [pair for pair in scene.pairs if scene.fields_of(pair, target.name)]
    for split in splits(scene, target, told):
        if split.conditions or not split.settings:
            continue
        all_used = used | used_by(*((pair.item, pair.label) for pair, _ in split.settings))
        all_used |= used_by(scene.again(target.name, (field for _, field in split.settings)))
        if there is None:
            yield refuse(all_used, Reason.NO_VALUE, f"{way[0][2].label} is empty")
            continue
        values = _new_values(scene, target, split.settings)
        if any(there[name] == value for name, value in values.items()) or not values:
            yield refuse(all_used, Reason.NOTHING_TO_DO, "what is asked is so already")
            continue
        change = Change(entity=target.name, row=id_of(there), values=tuple(sorted(values.items())))
        yield Attempt(all_used, Reading(entity=target.name, rows=(change.row,), changed=(change,)))


def _new_values(
    scene: Scene, entity: Entity, settings: Sequence[tuple[Pair, DataField]]
) -> dict[str, Value]:
    told = ((field, scene.place.values(entity, field, pair.item)) for pair, field in settings)
    return {field.name: values[0] for field, values in told if values}
