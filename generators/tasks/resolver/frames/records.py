"""Requests by a website's own records: undo a past change, follow a written procedure, write a message."""

from collections.abc import Iterator

from generators.tasks.resolver.attempt import Attempt, Used, refuse, used_by
from generators.tasks.resolver.frames.several import named_rows, titles_used
from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.place import id_of
from generators.tasks.resolver.reading import Change, Reading, Reason
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row, Value
from schemas.worlds.patterns import Thread
from schemas.worlds.records import History, Procedure
from schemas.worlds.world import Entity

_TWO = 2
_JOINED = frozenset({Cue.OF, Cue.NEW})


def read_records(scene: Scene) -> Iterator[Attempt]:
    """Yield the readings of a goal as a request by a website's records."""
    world = scene.place.world
    if world.history is not None and scene.with_cues(Cue.UNDO):
        yield from _undo(scene, world.history)
    yield from _procedures(scene)
    for thread in world.threads:
        yield from _messages(scene, thread)


def _undo(scene: Scene, history: History) -> Iterator[Attempt]:
    entity = scene.place.world.entity(history.entity)
    named = named_rows(scene, entity)
    if len(named) != 1 or scene.firm:
        return
    row, used = named[0][1], titles_used(scene, entity) | used_by(scene.with_cues(Cue.UNDO))
    past = [one for one in scene.place.rows_of(history.changes) if one[history.link] == row["id"]]
    past.sort(key=lambda one: str(one[history.day]))
    if not past:
        yield refuse(used, Reason.NO_ROW, f"{named[0][0].text} was not changed")
        return
    if len(past) > 1 and past[-1][history.day] == past[-2][history.day]:
        yield refuse(used, Reason.TWO_ROWS, "two changes are of the last day")
        return
    yield _put_back(scene, entity, row, (history, past[-1]), used)


def _put_back(
    scene: Scene, entity: Entity, row: Row, last: tuple[History, Row], used: Used
) -> Attempt:
    history, change = last
    fields = [one for one in entity.fields if one.label == change[history.field]]
    for field in fields:
        known = {
            scene.place.fact(entity.name, one, field.name): one[field.name]
            for one in scene.place.rows_of(entity.name)
        }
        before = str(change[history.before])
        if before in known and known[before] != row[field.name]:
            values = ((field.name, known[before]),)
            told = Change(entity=entity.name, row=id_of(row), values=values)
            return Attempt(used, Reading(entity=entity.name, rows=(told.row,), changed=(told,)))
    return refuse(used, Reason.NO_VALUE, "what was there before is not known")


def _procedures(scene: Scene) -> Iterator[Attempt]:
    manual = scene.place.world.manual
    if manual is None or scene.firm:
        return
    pages = named_rows(scene, scene.place.world.entity(manual.entity))
    used = titles_used(scene, scene.place.world.entity(manual.entity))
    if len(pages) != 1:
        return
    title = str(pages[0][1][scene.place.world.entity(manual.entity).title.name])
    for one in manual.procedures:
        entity = scene.place.world.entity(one.entity)
        named = named_rows(scene, entity)
        if one.title == title and len(named) == 1:
            yield _carry_out(scene, entity, one, named[0][1], used | titles_used(scene, entity))


def _carry_out(scene: Scene, entity: Entity, one: Procedure, row: Row, used: Used) -> Attempt:
    world, number = scene.place.world, id_of(row)
    values: dict[str, Value] = {
        put.field: put.value for put in one.puts if row[put.field] != put.value
    }
    flow = world.workflow(entity.name)
    step = (
        next((step for step in flow.transitions if step.name == one.step), None) if flow else None
    )
    if flow is not None and step is not None:
        values[flow.field] = step.after
    if not values:
        return refuse(used, Reason.NOTHING_TO_DO, "what the procedure says is so already")
    change = Change(entity=entity.name, row=number, values=tuple(sorted(values.items())))
    thread = world.thread(entity.name)
    added = (
        () if thread is None or not one.message else (_message(scene, thread, number, one.message),)
    )
    return Attempt(
        used, Reading(entity=entity.name, rows=(number,), changed=(change,), added=added)
    )


def _message(scene: Scene, thread: Thread, row: int, text: str) -> Change:
    """Return a new message about a row."""
    values: dict[str, Value] = {thread.link: row, thread.text: text}
    number = scene.place.next_id(thread.messages)
    return Change(entity=thread.messages, row=number, values=tuple(sorted(values.items())))


def _messages(scene: Scene, thread: Thread) -> Iterator[Attempt]:
    """Yield the messages that a goal asks for: with words of its own, or with a field of another row."""
    entity = scene.place.world.entity(thread.entity)
    named = named_rows(scene, entity)
    buttons = [one for one in scene.items if one.has(Sort.REPLY)]
    used = titles_used(scene, entity) | used_by(buttons)
    if not buttons and not scene.with_cues(Cue.WRITE):
        return
    if len(named) == 1 and len(scene.literals) == 1:
        text, row = scene.literals[0], id_of(named[0][1])
        told = _message(scene, thread, row, text.text)
        yield Attempt(used | used_by(text), Reading(entity=entity.name, rows=(row,), added=(told,)))
    if len(named) == _TWO:
        for label in scene.bare:
            for field in scene.fields(label, entity.name):
                at = _address(scene, [item for item, _ in named], label)
                if at is None:
                    names = [item.text for item, _ in named]
                    yield refuse(
                        used | used_by(label),
                        Reason.TWO_ROWS,
                        "which of the rows gets the message is not said",
                        names,
                    )
                    continue
                row = next(id_of(one) for item, one in named if item is at)
                other = next(one for item, one in named if item is not at)
                told = _message(
                    scene, thread, row, scene.place.fact(entity.name, other, field.name)
                )
                yield Attempt(
                    used | used_by(label), Reading(entity=entity.name, rows=(row,), added=(told,))
                )


def _is_under(scene: Scene, title: Item) -> bool:
    """Return whether words at a row say that a message is for it."""
    if not scene.is_head_last:
        return scene.is_after(title, Cue.UNDER)
    some = [one for one in scene.items[title.number + 1 :] if not one.has(Sort.ONE)][:2]
    is_called = len(some) > 1 and Cue.OF in some[0].cues  # `「A」というトピックに`
    if is_called and scene.items[some[0].number + 1].has(Sort.ONE):
        some = some[1:]
    return any(one.cues & {Cue.TO, Cue.UNDER} for one in some[:1])


def _address(scene: Scene, titles: list[Item], label: Item) -> Item | None:
    """Return the row that gets a message: the one behind `under`, or else the one whose field is not named."""
    marked = [one for one in titles if _is_under(scene, one)]
    if scene.is_head_last and not marked:  # `「A」は「B」の状態待ちです`
        marked = [one for one in titles if not scene.is_before(one, Cue.OF)]
    if len(marked) == 1:
        return marked[0]
    behind = [one for one in titles if one.number > label.number]
    owned = [
        one
        for one in behind
        if all(
            each.cues & _JOINED or each.has(Sort.ONE) or each.mark == ","
            for each in scene.between(label, one)
        )
        and scene.between(label, one)
    ]
    if len(owned) == 1:
        return next(one for one in titles if one is not owned[0])
    return None
