"""Requests on several named rows: compare two, swap a field of two, copy a field to others, check some by a rule."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from generators.tasks.resolver.attempt import Attempt, Used, refuse, used_by
from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.place import id_of
from generators.tasks.resolver.reading import Change, Reading, Reason
from generators.tasks.resolver.roles import Pair
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.selection import arrange, entities_of, find_order, named_in
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row
from schemas.worlds.field import DataField
from schemas.worlds.world import Entity

Named = Sequence[tuple[Item, Row]]
"""The rows that a goal names, with where it does."""

_TWO, _THREE = 2, 3


def read_several(scene: Scene) -> Iterator[Attempt]:
    """Yield the readings of a goal as a request on two or more named rows of one entity."""
    for entity in entities_of(scene):
        named = named_rows(scene, entity)
        if len(named) == _TWO:
            yield from _compare(scene, entity, named)
            yield from _swap(scene, entity, named)
        if len(named) >= _TWO:
            yield from _repair(scene, entity, named)
        if len(named) >= _THREE:
            yield from _transfer(scene, entity, named)


def named_rows(scene: Scene, entity: Entity) -> list[tuple[Item, Row]]:
    """Return the rows of an entity that a goal names, each once; none if a name is that of several."""
    found = dict[int, tuple[Item, Row]]()
    for item, ids in named_in(scene, entity):
        if len(ids) > 1:
            return []
        found.setdefault(ids[0], (item, scene.place.row(entity.name, ids[0])))
    return list(found.values())


def titles_used(scene: Scene, entity: Entity) -> Used:
    """Return the mentions of named rows of an entity."""
    return used_by(item for item, _ in named_in(scene, entity))


def _compare(scene: Scene, entity: Entity, named: Named) -> Iterator[Attempt]:
    """Yield which of two rows has the larger or smaller number, or the later or earlier day."""
    order = find_order(scene, entity)
    if order is None or scene.firm:
        return
    asked = [one for one in scene.bare if entity.title in scene.fields(one, entity.name)]
    used = titles_used(scene, entity) | order.used | used_by(asked)
    rows = [row for _, row in named]
    values = [row[order.field.name] for row in rows]
    if None in values or values[0] == values[1]:
        yield refuse(used, Reason.TWO_ROWS, f"both have the same {order.field.label}")
        return
    best = arrange(rows, order)[0]
    ids = tuple(sorted(id_of(row) for row in rows))
    answer = str(best[entity.title.name])
    yield Attempt(used, Reading(entity=entity.name, rows=ids, answer=answer))


def _fields_without_value(scene: Scene, entity: Entity) -> Iterator[tuple[Item, DataField]]:
    """Yield the fields that are named without a value."""
    for label in scene.bare:
        yield from ((label, field) for field in scene.fields(label, entity.name))


def _again(scene: Scene, entity: Entity, field: DataField) -> Used:
    """Return where a goal names a field without a value: perhaps more than once."""
    return used_by(one for one in scene.bare if field in scene.fields(one, entity.name))


def _swap(scene: Scene, entity: Entity, named: Named) -> Iterator[Attempt]:
    told = [ids[0] for _, ids in named_in(scene, entity)]
    is_mutual = len(told) == _TWO * _TWO and (
        bool(scene.with_cues(Cue.SAME)) or (scene.is_head_last and told == told[::-1])
    )
    if scene.firm or not (scene.with_cues(Cue.SWAP) or is_mutual):
        return
    (_, one), (_, other) = named
    for _, field in _fields_without_value(scene, entity):
        used = titles_used(scene, entity) | _again(scene, entity, field)
        if one[field.name] == other[field.name]:
            yield refuse(used, Reason.NOTHING_TO_DO, f"both have the same {field.label}")
            continue
        yield Attempt(used, _changes(entity, ((one, field, other), (other, field, one))))


def _changes(entity: Entity, told: Sequence[tuple[Row, DataField, Row]]) -> Reading:
    """Return the reading that gives rows the value of a field that another row has."""
    changed = tuple(
        sorted(
            (
                Change(
                    entity=entity.name,
                    row=id_of(row),
                    values=((field.name, like[field.name]),),
                )
                for row, field, like in told
            ),
            key=lambda one: one.row,
        )
    )
    return Reading(entity=entity.name, rows=tuple(one.row for one in changed), changed=changed)


def _transfer(scene: Scene, entity: Entity, named: Named) -> Iterator[Attempt]:
    """Yield the copy of a field's value from one row to the others, which stand side by side."""
    if scene.firm or not (
        scene.with_cues(Cue.SAME, Cue.SWAP, Cue.AS, Cue.ALL) or len(named) == _THREE
    ):
        return
    for _, field in _fields_without_value(scene, entity):
        used = titles_used(scene, entity) | _again(scene, entity, field)
        source = source_of(scene, [item for item, _ in named])
        if source is None:
            names = [item.text for item, _ in named]
            yield refuse(used, Reason.TWO_ROWS, "whose value is meant is not said", names)
            continue
        like = next(row for item, row in named if item is source)
        others = [row for item, row in named if item is not source]
        if like[field.name] is None:
            yield refuse(used, Reason.NO_VALUE, f"{source.text} has no {field.label}")
            continue
        changed = [(row, field, like) for row in others if row[field.name] != like[field.name]]
        if len(changed) < len(others):
            yield refuse(used, Reason.NOTHING_TO_DO, "what is asked is so already")
        else:
            yield Attempt(used, _changes(entity, changed))


def source_of(scene: Scene, titles: Sequence[Item]) -> Item | None:
    """Return the row that others are to be like: the one that is not enumerated with the others."""
    alone = [
        one
        for one in titles
        if not any(_are_joined(scene, one, other) for other in titles if other is not one)
    ]
    if len(alone) == 1:
        return alone[0]
    marked = [one for one in titles if scene.is_after(one, Cue.SAME, within=2)]
    return marked[0] if len(marked) == 1 else None


def _are_joined(scene: Scene, one: Item, other: Item) -> bool:
    """Return whether two names stand side by side, with only `and`, `of` or a comma between."""
    first, last = sorted((one, other), key=lambda item: item.number)
    between = scene.between(first, last)
    is_and = any(each.mark == "," or Cue.AND in each.cues for each in between)
    is_list = is_and and all(
        each.mark == "," or each.has(Sort.ONE) or each.cues & {Cue.AND, Cue.OF} for each in between
    )
    words = last.place - first.end - sum(each.end - each.place for each in between)
    return bool(between) and is_list and words <= _TWO


def _repair(scene: Scene, entity: Entity, named: Named) -> Iterator[Attempt]:
    """Yield the correction of rows that break a rule about a row that they link to."""
    for label in scene.bare:
        for link in scene.fields(label, entity.name):
            if link.target is not None:
                target = scene.place.world.entity(link.target)
                yield from _by_rule(scene, entity, named, (link, target))


def _by_rule(
    scene: Scene, entity: Entity, named: Named, to: tuple[DataField, Entity]
) -> Iterator[Attempt]:
    link, target = to
    titles = titles_used(scene, entity) | _again(scene, entity, link)
    seen = set[tuple[str, str]]()
    for ground, rule in combinations(scene.pairs, 2):
        for when, then in ((ground, rule), (rule, ground)):
            for held in scene.fields_of(when, target.name):
                for field in scene.fields_of(then, entity.name):
                    name = (held.name, field.name)
                    used = (
                        titles
                        | _like(scene, when)
                        | _like(scene, then)
                        | _again(scene, entity, field)
                    )
                    if name not in seen and scene.is_told(when) and scene.is_told(then):
                        seen.add(name)
                        yield _correct(
                            scene, entity, named, used, ((link, target, held, when), (field, then))
                        )


def _like(scene: Scene, pair: Pair) -> Used:
    """Return the mentions of a pair and of its repetitions."""
    same = [one for one in scene.pairs if one.item.text == pair.item.text]
    return used_by(*((one.item, one.label) for one in same))


def _correct(
    scene: Scene,
    entity: Entity,
    named: Named,
    used: Used,
    rule: tuple[tuple[DataField, Entity, DataField, Pair], tuple[DataField, Pair]],
) -> Attempt:
    (link, target, held, when), (field, then) = rule
    value = scene.place.values(entity, field, then.item)[:1]
    changed = list[Change]()
    for _, row in named:
        number = row[link.name]
        if not isinstance(number, int):
            continue
        there = scene.place.row(target.name, number)
        if scene.place.holds(when, target, held, there) and value and row[field.name] != value[0]:
            told = ((field.name, value[0]),)
            changed.append(Change(entity=entity.name, row=id_of(row), values=told))
    if not changed:
        return refuse(used, Reason.NOTHING_TO_DO, "no row breaks the rule")
    changed.sort(key=lambda one: one.row)
    rows = tuple(one.row for one in changed)
    return Attempt(used, Reading(entity=entity.name, rows=rows, changed=tuple(changed)))
