"""Requests with a condition: one value if a fact of a row is so, and another if it is not."""

from collections.abc import Iterator, Sequence
from itertools import permutations

from generators.tasks.resolver.attempt import Attempt, Used, refuse, used_by
from generators.tasks.resolver.frames.several import named_rows, titles_used
from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.place import NUMBERS, TEXTS, id_of
from generators.tasks.resolver.reading import Change, Reading, Reason
from generators.tasks.resolver.roles import Pair, Role
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.selection import entities_of
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity

_VALUES = 3


def read_conditions(scene: Scene) -> Iterator[Attempt]:
    """Yield the readings of a goal as: if a fact is so, one value, else another."""
    if not scene.with_cues(Cue.IF, Cue.ELSE):
        return
    for entity in entities_of(scene):
        named = named_rows(scene, entity)
        if len(named) != 1:
            continue
        row, used = named[0][1], titles_used(scene, entity)
        values = [
            one
            for one in scene.items
            if one.is_value and one.number not in used
            if not one.has(Sort.LABEL) or (one.quoted and scene.is_labelled(one))
            if not one.weak
            or scene.is_labelled(one)
            or scene.is_framed(one)
            or _is_meant(scene, entity, one)
        ]
        if len(values) == _VALUES:
            for when, then, other in _orders(scene, values):
                yield from _choose(scene, entity, row, (when, then, other), used)


def _orders(scene: Scene, values: Sequence[Item]) -> list[tuple[Item, Item, Item]]:
    """Return the ways to take three values as the fact's, the one if it is so, and the other: the last is that."""
    *two, last = values
    told = [(one, other, last) for one, other in permutations(two)]
    roles = {pair.item.number: pair for pair in scene.pairs}
    sure = [
        each
        for each in told
        if _is_condition(roles.get(each[0].number)) and not _is_condition(roles.get(each[1].number))
    ]
    marked = [each for each in told if _is_if(scene, each[0])]
    return marked if len(marked) == 1 else sure or told


def _is_if(scene: Scene, value: Item) -> bool:
    """Return whether `if` stands at a value: shortly before it, or behind it where that says what it is for."""
    if not scene.is_head_last:
        return scene.is_after(value, Cue.IF)
    behind = next(
        (
            one
            for one in scene.items[value.number + 1 :]
            if not one.cues & {Cue.ABOVE, Cue.BELOW, Cue.NOT}
        ),
        None,
    )
    return behind is not None and Cue.IF in behind.cues


def _is_meant(scene: Scene, entity: Entity, value: Item) -> bool:
    """Return whether a single word or number is a value of the condition or one of the two."""
    if Cue.NOT in value.cues and value.has(Sort.FLAG):
        return False  # `no` begins sentences
    if value.is_measure and not value.senses:
        bounds = {pair.item.number for pair in scene.pairs if pair.over is not None}
        is_told = scene.is_labelled(value) or value.number in bounds or value.is_amount
        return (
            is_told
            or scene.is_aim(value)
            or scene.is_after(value, Cue.ELSE)
            or scene.is_before(value, Cue.IF)
            or (scene.is_head_last and scene.is_after(value, Cue.IF))
            or value.day is not None
        )
    if value.has(Sort.TEXT) and (scene.is_aim(value) or scene.is_after(value, Cue.ELSE)):
        return True
    return any(
        scene.place.fits(entity, field, value)
        for one in scene.items
        for field in scene.fields(one, entity.name)
        if field.kind not in TEXTS
    )


def _is_condition(pair: Pair | None) -> bool:
    return pair is not None and (pair.role is Role.COND or pair.over is not None)


def _choose(
    scene: Scene, entity: Entity, row: Row, told: tuple[Item, Item, Item], used: Used
) -> Iterator[Attempt]:
    when, then, other = told
    labels = {one.number: one for one in scene.items if one.has(Sort.LABEL)}
    for fact in _nearest(scene, entity, when) or _named_fields(scene, entity, when):
        for field in _named_fields(scene, entity, then):
            if field == fact or not scene.place.fits(entity, field, other):
                continue
            named = [
                one
                for one in labels.values()
                if {fact.name, field.name} & _names(scene, one, entity)
            ]
            all_used = used | used_by(when, then, other) | used_by(named)
            yield _set(scene, (entity, row), told, (fact, field), all_used)


def _nearest(scene: Scene, entity: Entity, value: Item) -> list[DataField]:
    """Return the fields of the last name before a value that it may belong to, unless it has its own."""
    if scene.is_labelled(value) and value.is_measure is False:
        return []
    is_bound = any(one.item is value and one.over is not None for one in scene.pairs)
    before = [
        [
            field
            for field in scene.fields(one, entity.name)
            if scene.place.fits(entity, field, value)
            and (field.kind is Kind.MONEY or not value.has_currency)
            and (field.kind in NUMBERS or not is_bound)
        ]
        for one in scene.items[: value.number]
    ]
    return next((some for some in reversed(before) if some), [])


def _named_fields(scene: Scene, entity: Entity, value: Item) -> list[DataField]:
    """Return the fields that a goal names and a value may belong to: the value's own, if it has one."""
    pair = next((one for one in scene.pairs if one.item is value), None)
    if pair is not None and (pair.label is not None or scene.is_framed(value)):
        return scene.fields_of(pair, entity.name)
    return [
        field
        for one in scene.items
        for field in scene.fields(one, entity.name)
        if scene.place.fits(entity, field, value)
    ]


def _names(scene: Scene, label: Item, entity: Entity) -> set[str]:
    return {field.name for field in scene.fields(label, entity.name)}


def _set(
    scene: Scene,
    subject: tuple[Entity, Row],
    told: tuple[Item, Item, Item],
    fields: tuple[DataField, DataField],
    used: Used,
) -> Attempt:
    (entity, row), (when, then, other), (fact, field) = subject, told, fields
    known = {pair.item.number: pair for pair in scene.pairs}
    pair = known.get(when.number) or Pair(when, None, Role.COND, *scene.bound_of(when))
    is_so = scene.place.holds(pair, entity, fact, row)
    values = scene.place.values(entity, field, then if is_so else other)
    if len(values) != 1:
        return refuse(used, Reason.TWO_VALUES, f"{field.label} has not one value")
    if row[field.name] == values[0]:
        return refuse(used, Reason.NOTHING_TO_DO, "what is asked is so already")
    number = id_of(row)
    change = Change(entity=entity.name, row=number, values=((field.name, values[0]),))
    return Attempt(used, Reading(entity=entity.name, rows=(number,), changed=(change,)))
