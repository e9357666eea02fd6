"""Rows that a goal describes instead of naming them, as `the order from Ann that is open`."""

from collections.abc import Iterator

from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.place import id_of
from generators.tasks.resolver.roles import Pair, Role
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.senses import Sense, Sort
from generators.tasks.resolver.words import Cue

_JOINTS = frozenset({Cue.AND, Cue.COND, Cue.OF, Cue.TO, Cue.STAY, Cue.UNDER, Cue.AS})
"""Words that may stand between what describes a row."""


def with_descriptions(scene: Scene) -> list[Item]:
    """Return the mentions with each description of a single row as that row, numbered anew."""
    found, end = list[Item](), -1
    for item in scene.items:
        if item.number <= end:
            continue
        told = list(_told_of(scene, item)) if _is_one(scene, item) else []
        entities = {one.entity for one in item.senses if one.sort is Sort.ONE}
        rows = [(entity, _rows(scene, entity, told)) for entity in sorted(entities)] if told else []
        if rows and (rows[0][1] or not item.has(Sort.LABEL)):
            end = max(one.item.number for one in told)
            while end + 1 < len(scene.items) and scene.is_part(scene.items[end + 1]):
                end += 1  # what is said behind the last value
            found.append(_as_rows(scene, item, end, rows[0]))
        else:
            found.append(item)
    return [item._replace(number=number) for number, item in enumerate(found)]


def _is_one(scene: Scene, item: Item) -> bool:
    """Return whether a mention is the noun of one certain row: behind an article for such."""
    is_noun = item.has(Sort.ONE) and not item.quoted and not scene.is_part(item)
    return is_noun and scene.is_definite(item)


def _told_of(scene: Scene, noun: Item) -> Iterator[Pair]:
    """Yield what is said of a row right behind its noun."""
    pairs = {pair.item.number: pair for pair in scene.pairs}
    labels = {pair.label.number for pair in scene.pairs if pair.label is not None}
    for item in scene.items[noun.number + 1 :]:
        pair = pairs.get(item.number)
        is_behind = pair is not None and (pair.label is None or pair.label.number > noun.number)
        if pair is not None and is_behind and pair.role is Role.COND and not item.has(Sort.LABEL):
            yield pair
        elif item.number not in labels and not scene.is_part(item) and not item.cues & _JOINTS:
            return


def _rows(scene: Scene, entity: str, told: list[Pair]) -> list[int]:
    held = scene.place.world.entity(entity)
    return [
        id_of(row)
        for row in scene.place.rows_of(entity)
        if all(
            any(
                scene.place.holds(pair, held, field, row) for field in scene.fields_of(pair, entity)
            )
            for pair in told
        )
    ]


def _as_rows(scene: Scene, noun: Item, end: int, rows: tuple[str, list[int]]) -> Item:
    """Return a description as a mention of its rows; without any, as that of something unknown."""
    entity, ids = rows
    last = scene.items[end]
    senses = tuple(Sense(Sort.TITLE, entity, value=one) for one in ids)
    text = f"{noun.text} … {last.text}"
    return Item(0, text, noun.place, last.end, noun.sentence, quoted=not senses, senses=senses)
