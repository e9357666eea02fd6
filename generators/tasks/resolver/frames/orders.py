"""Requests on rows in an order, and on the figures of rows: the first, one at a place, the first three; sums and numbers."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from generators.tasks.resolver.attempt import Attempt, Used, refuse, used_by
from generators.tasks.resolver.frames.acts import remove, set_values, take_steps
from generators.tasks.resolver.place import id_of
from generators.tasks.resolver.reading import Reading, Reason
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.selection import Fielded, Order, is_tied
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity

_PLACES = {Cue.SECOND: 1, Cue.THIRD: 2, Cue.FOURTH: 3, Cue.FIFTH: 4}
_SUMS = (Cue.SPAN, Cue.MEAN, Cue.SUM)
_SUMMED = frozenset({Kind.INTEGER, Kind.MONEY})
_THREE = 3


def read_figures(
    scene: Scene, entity: Entity, rows: Sequence[Row], used: Used
) -> Iterator[Attempt]:
    """Yield the number of rows, and the sum, mean or span of a field."""
    ids = tuple(id_of(row) for row in rows)
    if scene.with_cues(Cue.COUNT):
        yield Attempt(used, Reading(entity=entity.name, rows=ids, answer=str(len(rows))))
    way = next((one for one in _SUMS if scene.with_cues(one)), None)
    for label in scene.bare if way is not None else ():
        for field in scene.fields(label, entity.name):
            values = [int(row[field.name] or 0) for row in rows if _is_number(field, row)]
            if values and way is not None:
                answer = _figure(way, values, is_money=field.kind is Kind.MONEY)
                told = Reading(entity=entity.name, rows=ids, answer=answer)
                yield Attempt(used | used_by(label), told)


def _is_number(field: DataField, row: Row) -> bool:
    return field.kind in _SUMMED and row[field.name] is not None


def _figure(way: Cue, values: Sequence[int], *, is_money: bool) -> str:
    total = Decimal(sum(values))
    if way is Cue.MEAN:
        total /= len(values)
    elif way is Cue.SPAN:
        total = Decimal(max(values) - min(values))
    return f"{total / 100:.2f}" if is_money else f"{total.normalize():f}"


def read_order(
    scene: Scene,
    entity: Entity,
    rows: Sequence[Row],
    settings: Sequence[Fielded],
    order: Order,
) -> Iterator[Attempt]:
    """Yield the readings about the first rows of an order, or one at a place of it; `order` has what says so."""
    place = next((_PLACES[cue] for cue in _PLACES if scene.with_cues(cue)), 0)
    count = _THREE if scene.with_cues(Cue.THREE) and not settings else 1
    if len(rows) < place + count:
        yield refuse(order.used, Reason.NO_ROW, f"there are not so many {entity.many}")
        return
    places = range(_THREE) if count == _THREE else range(place, place + 1)
    chosen = [rows[one] for one in places]
    if any(is_tied(rows, order, one) for one in places):
        names = [scene.place.name(entity.name, row) for row in chosen]
        about = f"several {entity.many} have the same {order.field.label}"
        yield refuse(order.used, Reason.TWO_ROWS, about, names)
    elif settings:
        yield set_values(scene, entity, [(row, settings) for row in chosen], order.used)
    elif scene.with_cues(Cue.DELETE):
        yield remove(scene, entity, chosen, order.used)
    else:
        yield from take_steps(scene, entity, chosen, order.used)
        if not scene.with_cues(Cue.BACK, Cue.FRONT):  # a place is to be taken
            yield from _tell(scene, entity, chosen, order)


def _tell(scene: Scene, entity: Entity, rows: Sequence[Row], order: Order) -> Iterator[Attempt]:
    """Yield the readings that ask for the titles of rows, or for another field of the only one."""
    ids = tuple(id_of(row) for row in rows)
    asked = [
        (label, field)
        for label in scene.bare
        if label.number not in order.used
        for field in scene.fields(label, entity.name)
    ]
    others = [one for one in asked if one[1] not in {entity.title, order.field}]
    if not others:
        again = used_by(label for label, _ in asked)
        answer = ", ".join(str(row[entity.title.name]) for row in rows)
        yield Attempt(order.used | again, Reading(entity=entity.name, rows=ids, answer=answer))
    for label, field in others if len(rows) == 1 else ():
        answer = scene.place.fact(entity.name, rows[0], field.name)
        told = Reading(entity=entity.name, rows=ids, answer=answer)
        yield Attempt(order.used | used_by(label), told)
