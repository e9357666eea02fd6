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
        is_many = item.has(Sort.MANY) and scene.has_article and bool(rows) and len(rows[0][1]) != 1
        if rows and (rows[0][1] or not item.has(Sort.LABEL)) and not is_many:
            end = max(one.item.number for one in told)
            while end + 1 < len(scene.items) and scene.is_part(scene.items[end + 1]):
                end += 1  # what is said behind the last value
            found.append(_as_rows(scene, item, end, rows[0]))
        else:
            found.append(item)
    return [item._replace(number=number) for number, item in enumerate(found)]


def with_descriptions_before(scene: Scene) -> list[Item]:
    """Return the same where what describes a row stands before its noun; descriptions of several rows stay."""
    found = list[Item]()
    for item in scene.items:
        told = _told_before(scene, item) if item.has(Sort.ONE) and not item.quoted else []
        entities = sorted({one.entity for one in item.senses if one.sort is Sort.ONE})
        rows = [(entity, _rows(scene, entity, told)) for entity in entities] if told else []
        single = next((each for each in rows if len(each[1]) == 1), None)
        if single is None:
            found.append(item)
            continue
        first = min(one.number for pair in told for one in (pair.item, pair.label) if one)
        found = [one for one in found if one.number < first]
        entity, (row,) = single
        place = scene.items[first].place
        sense = Sense(Sort.TITLE, entity, value=row)
        text = f"{scene.items[first].text} … {item.text}"
        found.append(Item(item.number, text, place, item.end, item.sentence, senses=(sense,)))
    return [item._replace(number=number) for number, item in enumerate(found)]


_PARTICLES = frozenset({Cue.OF, Cue.COND, Cue.SAY, Cue.FIELD, Cue.ABOVE, Cue.BELOW, Cue.NOT})


def _told_before(scene: Scene, noun: Item) -> list[Pair]:
    """Return what is said of a row right before its noun."""
    pairs = {pair.item.number: pair for pair in scene.pairs}
    labels = {pair.label.number for pair in scene.pairs if pair.label is not None}
    out = list[Pair]()
    for item in reversed(scene.items[: noun.number]):
        pair = pairs.get(item.number)
        if pair is not None and pair.role is Role.COND and not item.has(Sort.LABEL):
            out.append(pair)
        elif (
            item.number not in labels
            and not scene.is_part(item)
            and item.mark != ","
            and not item.cues & _PARTICLES
        ):
            break
    return out


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
