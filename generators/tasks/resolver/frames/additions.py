"""Requests for new rows: with given values, with a value that another row has, or on the first free day."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from generators.tasks.resolver.attempt import Attempt, Used, refuse, used_by
from generators.tasks.resolver.frames.several import named_rows, titles_used
from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.reading import Change, Reading, Reason
from generators.tasks.resolver.roles import Pair
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.selection import entities_of
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row, Value
from generators.worlds.state.form_fields import asked_fields
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, View

_WEEK = 7
_WEEKDAYS = (Cue.MONDAY, Cue.TUESDAY, Cue.WEDNESDAY, Cue.THURSDAY, Cue.FRIDAY)
_FARTHEST = 400
"""So many days ahead a free one is looked for."""

_PARTS = frozenset({",", ";", "."})
"""Marks that part what is said of a new row."""

Given = tuple[Pair, DataField, Value]
"""A value of a new row, with its field."""


def read_additions(scene: Scene) -> Iterator[Attempt]:
    """Yield the readings of a goal as a request for new rows of an entity."""
    for entity in entities_of(scene):
        if entity.can_add and (scene.with_cues(Cue.NEW) or _is_whole(scene, entity)):
            yield from _create(scene, entity)
            yield from _schedule(scene, entity)


def _create(scene: Scene, entity: Entity) -> Iterator[Attempt]:
    given = _values_of(scene, entity)
    if isinstance(given, Attempt):
        yield given
        return
    groups, used = _group(given), _uses(given)
    used |= used_by(scene.again(entity.name, (field for _, field, _ in given)))
    named = named_rows(scene, entity)
    if scene.with_cues(Cue.FREE) and _calendars(scene, entity):
        return  # its day is to be found
    if _is_torn(scene, used):
        return  # something is said of the new row that is not read
    is_whole = bool(groups) and all(entity.title.name in group for group in groups)
    if is_whole and not named:
        yield Attempt(used, _addition(entity, groups))
    if is_whole and len(groups) == len(named) == 1:
        yield from _alike(scene, entity, groups[0], named[0][1], used | titles_used(scene, entity))


def _values_of(scene: Scene, entity: Entity) -> list[Given] | Attempt:
    """Return the values of a goal with their fields, or why one is not certain."""
    out = list[Given]()
    for pair in scene.pairs:
        fields = scene.fields_of(pair, entity.name)
        is_told = scene.is_told(pair)
        is_word = not is_told and _is_word(pair.item)
        if not fields or (not is_told and len(fields) > 1) or is_word:
            continue
        told = scene.place.values(entity, fields[0], pair.item)
        if len(told) != 1:
            used = used_by(pair.item, pair.label)
            reason = Reason.TWO_VALUES if told else Reason.UNCLEAR_DAY
            return refuse(used, reason, f"{fields[0].label} is not one value: {pair.item.text}")
        out.append((pair, fields[0], told[0]))
    return out


def _is_word(item: Item) -> bool:
    """Return whether a value is a single word in small letters, which may mean nothing."""
    return item.weak and not item.exact and bool(item.senses) and item.end - item.place == 1


def _is_whole(scene: Scene, entity: Entity) -> bool:
    """Return whether a goal gives all that a new row needs, and names no row: then it need not say that it is new."""
    given = _values_of(scene, entity)
    if isinstance(given, Attempt):
        return False
    needed = {
        one.name
        for one in asked_fields(scene.place.world, entity)
        if one.required and one.kind is not Kind.FLAG
    }
    return {entity.title.name, *needed} <= {field.name for _, field, _ in given}


def _uses(given: Sequence[Given]) -> Used:
    return used_by(*((pair.item, pair.label) for pair, _, _ in given))


def _group(given: Sequence[Given]) -> list[dict[str, Value]]:
    """Return the values of each new row: one begins where a field comes again."""
    groups = list[dict[str, Value]]()
    for _, field, value in given:
        if not groups or field.name in groups[-1]:
            groups.append({})
        groups[-1][field.name] = value
    return groups


def _addition(entity: Entity, groups: Sequence[dict[str, Value]]) -> Reading:
    added = tuple(
        Change(entity=entity.name, row=0, values=tuple(sorted(group.items()))) for group in groups
    )
    return Reading(entity=entity.name, added=added)


def _alike(
    scene: Scene, entity: Entity, group: dict[str, Value], like: Row, used: Used
) -> Iterator[Attempt]:
    """Yield the new row with the value that a named row has in a field."""
    for label in scene.bare:
        for field in scene.fields(label, entity.name):
            again = [one for one in scene.bare if field in scene.fields(one, entity.name)]
            if field.name in group:
                continue
            whole = {**group, field.name: like[field.name]}
            yield Attempt(used | used_by(again), _addition(entity, [whole]))


def _schedule(scene: Scene, entity: Entity) -> Iterator[Attempt]:
    views = _calendars(scene, entity)
    given = _values_of(scene, entity)
    if not views or isinstance(given, Attempt):
        return
    start = next((one for one in scene.items if one.day is not None and _is_free(scene, one)), None)
    if start is None or start.day is None:
        return
    group, twice = _once(scene, given)
    used = _uses(given) | used_by(start)
    day_names = [
        one
        for one in scene.bare
        if views[0].day in {f.name for f in scene.fields(one, entity.name)}
    ]
    inside = {one[1].name: one[2] for one in given if _is_of_many(scene, entity, one[0].item)}
    free = _first_free(scene, views[0], start, inside or twice)
    if entity.title.name not in group or free is None:
        return
    if _is_torn(scene, used):
        return
    group = {**group, views[0].day or "": free}
    yield Attempt(used | used_by(day_names), _addition(entity, [group]))


def _is_torn(scene: Scene, used: Used) -> bool:
    """Return whether something between two commas behind the name of a new row is not read."""
    first = next((one for one in scene.items if one.new), None)
    if first is None:
        return False
    start, part = first.end, list[Item]()
    for item in scene.items[first.number + 1 :]:
        if item.mark not in _PARTS:
            part.append(item)
            continue
        is_same = any(Cue.SAME in one.cues for one in part)
        is_read = not used.isdisjoint({one.number for one in part})
        if not is_same and not is_read and scene.says_something(start, item.place):
            return True
        if item.mark == ".":
            return False
        start, part = item.end, []
    return False


def _calendars(scene: Scene, entity: Entity) -> list[View]:
    views = scene.place.world.views
    return [one for one in views if one.shape is Shape.CALENDAR and one.entity == entity.name]


def _is_of_many(scene: Scene, entity: Entity, item: Item) -> bool:
    """Return whether a value describes several rows of an entity, behind their noun."""
    nouns = (one for one in reversed(scene.items[: item.number]) if one.has(Sort.ONE, Sort.MANY))
    noun = next((one for one in nouns if entity.name in {each.entity for each in one.senses}), None)
    return item.number in scene.clauses and noun is not None and noun.has(Sort.MANY)


def _is_free(scene: Scene, item: Item) -> bool:
    return all(pair.label is None for pair in scene.pairs if pair.item is item)


def _once(scene: Scene, given: Sequence[Given]) -> tuple[dict[str, Value], dict[str, Value]]:
    """Return the values of a new row, and those that are said twice: by these other rows take a day."""
    once, twice = dict[str, Value](), dict[str, Value]()
    for pair, field, value in given:
        if not scene.is_told(pair) and not pair.item.has(Sort.CHOICE):
            continue
        (twice if once.get(field.name, ...) == value else once)[field.name] = value
    return once, twice


def _first_free(scene: Scene, view: View, start: Item, taken_by: dict[str, Value]) -> str | None:
    """Return the first day without rows that have some values, from a day on, by weeks if a weekday is asked for."""
    taken = {
        str(row[view.day or ""])
        for row in scene.place.rows_of(view.entity)
        if all(row[name] == value for name, value in taken_by.items())
    }
    day = start.day or scene.place.world.at.date()
    cue = _WEEKDAYS[day.weekday()] if day.weekday() < len(_WEEKDAYS) else None
    weekly = cue is not None and any(
        one.sentence == start.sentence or _is_near(scene, one, start)
        for one in scene.with_cues(cue)
    )
    for _ in range(_FARTHEST):
        if day.isoformat() not in taken:
            return day.isoformat()
        day += timedelta(days=_WEEK if weekly else 1)
    return None


def _is_near(scene: Scene, weekday: Item, start: Item) -> bool:
    """Return whether a weekday stands in a sentence behind the start, as `It has to be a Monday`."""
    del scene
    return start.sentence < weekday.sentence <= start.sentence + 2 and not weekday.has(Sort.LABEL)
