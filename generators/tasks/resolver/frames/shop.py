"""Requests of carts and maps: order things with quantities, and take the cheapest free place."""

import re
from collections.abc import Iterator, Sequence

from generators.tasks.resolver.attempt import Attempt, Used, refuse, used_by
from generators.tasks.resolver.frames.several import titles_used
from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.place import id_of
from generators.tasks.resolver.reading import Change, Reading, Reason
from generators.tasks.resolver.roles import Role
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.selection import splits
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row
from schemas.worlds.cart import Cart
from schemas.worlds.field import Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, Transition, View

_PLACE = re.compile(r"(\d+)[A-Z]$")
"""The end of a place's title: its row and its letter."""


def read_shop(scene: Scene) -> Iterator[Attempt]:
    """Yield the readings of a goal as an order by the cart, or as taking a place."""
    world = scene.place.world
    if world.cart is not None:
        yield from _order(scene, world.cart)
    for view in world.views:
        if view.shape is Shape.MAP:
            yield from _take(scene, view)


def _order(scene: Scene, cart: Cart) -> Iterator[Attempt]:
    """Yield the order of a goal: each quantity, with what stands behind it."""
    entity = scene.place.world.entity(cart.things)
    counts = [one for one in scene.items if one.whole is not None and _is_count(scene, one)]
    wanted, used = list[tuple[int, int]](), used_by(counts)
    for number, count in enumerate(counts):
        end = counts[number + 1].number if number + 1 < len(counts) else len(scene.items)
        start = counts[number - 1].number + 1 if number else 0
        part = (
            scene.items[start : count.number]
            if scene.is_head_last
            else scene.items[count.number + 1 : end]
        )
        found = _find_thing(scene, entity, cart, part)
        if found is None:
            return
        row, of = found
        used |= of
        wanted.append((id_of(row), count.whole or 0))
    if wanted:
        rows = tuple(sorted(row for row, _ in wanted))
        yield Attempt(used, Reading(entity=entity.name, rows=rows, ordered=tuple(sorted(wanted))))


def _is_count(scene: Scene, item: Item) -> bool:
    """Return whether a number says how many of a thing are wanted."""
    behind = scene.items[item.number + 1 : item.number + 2]
    if behind and Cue.OF in behind[0].cues:
        behind = scene.items[item.number + 2 : item.number + 3]
    return any(
        Cue.TIMES in one.cues or one.has(*TITLES) or not one.cues.isdisjoint({Cue.CHEAPEST})
        for one in behind
    )


def _find_thing(
    scene: Scene, entity: Entity, cart: Cart, part: Sequence[Item]
) -> tuple[Row, Used] | None:
    """Return the thing that a part of a goal names, or the cheapest that it describes."""
    titles = [(one, number) for one in part for number in one.ids(entity.name)]
    cheap = [one for one in part if not one.cues.isdisjoint({Cue.CHEAPEST})]
    if not cheap and len(titles) == 1:
        return scene.place.row(entity.name, titles[0][1]), used_by(titles[0][0])
    inside = {one.number for one in part}
    pairs = [pair for pair in scene.pairs if pair.item.number in inside]
    for split in splits(scene, entity, [pair._replace(role=Role.COND) for pair in pairs]):
        rows = [
            row
            for row in scene.place.rows_of(entity.name)
            if all(scene.place.holds(pair, entity, field, row) for pair, field in split.conditions)
        ]
        rows.sort(key=lambda row: int(row[cart.price] or 0))
        if cheap and split.conditions and rows:
            return rows[0], used_by(*((pair.item, pair.label) for pair, _ in split.conditions))
    return None


def _take(scene: Scene, view: View) -> Iterator[Attempt]:
    """Yield the step that takes the cheapest free place that has a trait, in a part of a map."""
    entity, flow = scene.place.world.entity(view.entity), scene.place.world.workflow(view.entity)
    way = scene.with_cues(Cue.BACK, Cue.FRONT)
    prices = [one for one in entity.fields if one.kind is Kind.MONEY and one.name in view.columns]
    bounds = [one for one in scene.items if one.whole is not None and not _is_told(scene, one)]
    if flow is None or not way or not prices or len(bounds) != 1:
        return
    steps = [one for one in flow.transitions if view.free in one.before]
    buttons = [one for one in scene.items if one.has(Sort.STEP)]
    told = {sense.name for one in buttons for sense in one.senses if sense.sort is Sort.STEP}
    told |= {*scene.deeds(entity.name)}
    ends = {one.value for item in scene.items for one in item.senses if one.name == flow.field}
    chosen = [one for one in steps if one.name in told or one.after in ends] or steps
    buttons += [one for one in scene.items if scene.has_article and _is_end(one, chosen[:1])]
    labels = [one for one in scene.bare if prices[0] in scene.fields(one, entity.name)]
    for split in splits(scene, entity, [pair._replace(role=Role.COND) for pair in scene.pairs]):
        used = used_by(bounds, buttons, labels) | titles_used(scene, entity)
        used |= used_by(*((pair.item, pair.label) for pair, _ in split.conditions))
        conditions = [
            (pair, field)
            for pair, field in split.conditions
            if pair.item is not bounds[0] and field.name != flow.field
        ]
        if not conditions or len(chosen) != 1:
            continue
        rows = [
            row
            for row in scene.place.rows_of(entity.name)
            if row[flow.field] == view.free
            and _is_there(
                str(row[entity.title.name]), bounds[0].whole or 0, is_back=Cue.BACK in way[0].cues
            )
            and all(scene.place.holds(pair, entity, field, row) for pair, field in conditions)
        ]
        rows.sort(key=lambda row: int(row[prices[0].name] or 0))
        if not rows:
            yield refuse(used, Reason.NO_ROW, "no free place is as it is described")
        elif rows[1:] and rows[0][prices[0].name] == rows[1][prices[0].name]:
            yield refuse(used, Reason.TWO_ROWS, "several free places are the cheapest")
        else:
            number = id_of(rows[0])
            change = Change(entity=entity.name, row=number, values=((flow.field, chosen[0].after),))
            yield Attempt(used, Reading(entity=entity.name, rows=(number,), changed=(change,)))


def _is_end(item: Item, steps: Sequence[Transition]) -> bool:
    """Return whether a mention is the state that steps lead to."""
    ends = {one.after for one in steps}
    return any(one.sort is Sort.CHOICE and one.value in ends for one in item.senses)


def _is_told(scene: Scene, item: Item) -> bool:
    return any(pair.item is item and pair.label is not None for pair in scene.pairs)


def _is_there(title: str, bound: int, *, is_back: bool) -> bool:
    found = _PLACE.search(title)
    if found is None:
        return False
    return int(found[1]) >= bound if is_back else int(found[1]) <= bound
