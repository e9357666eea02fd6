"""Kinds of tasks on written records: follow a procedure, and undo a past change."""

from random import Random

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.changes import can_put, changes, clashes, reply_rule
from generators.tasks.worlds.ground.mentions import NounSaid, TextSaid
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.facts import keep
from generators.tasks.worlds.references.forms import save_change
from generators.tasks.worlds.references.pattern_steps import reply
from generators.tasks.worlds.references.steps import (
    Steps,
    answer,
    because,
    in_words_of,
    read_page,
    see,
    take_steps,
    to_row,
)
from generators.worlds.drawing.histories import tracked_fields
from generators.worlds.state.database import Row, Value
from schemas.tasks.expectation import Expectation
from schemas.tasks.reference import Fact
from schemas.worlds.field import DataField
from schemas.worlds.records import History, Procedure
from schemas.worlds.world import Entity, Transition, View

_FEWEST = 2
"""Minimum number of changes of a procedure to a row, and of a row's past changes."""


@task_kind("procedure")
def procedure(setting: Setting, random: Random) -> Draft | None:
    """Ask to follow a named procedure for a named row; only the procedure's page says what to do."""
    manual = setting.world.manual
    guides = None if manual is None else setting.world.view_of(manual.entity)
    if manual is None or guides is None:
        return None
    number = random.randrange(len(manual.procedures))
    one = manual.procedures[number]
    entity = setting.world.entity(one.entity)
    view, pages = setting.world.view_of(entity.name), setting.world.entity(manual.entity)
    rows = (
        []
        if view is None
        else [row for row in setting.namable(view, entity) if _is_asked(setting, entity, one, row)]
    )
    page = setting.rows_of(pages)[number]
    if view is None or not rows or page not in setting.namable(guides, pages):
        return None
    row = setting.pick(random, entity, rows)
    followed = _follow(setting, view, entity, one, row)
    why = sentence("kinds.manual", told=str(page[manual.text]), on=followed[0].on)
    return Draft(
        {
            **setting.names(view, entity, row),
            "procedure": TextSaid(one.title),
            "guides": guides.label,
        },
        _expectation(setting, entity, one, row),
        (
            *read_page(setting, guides, pages, page, pages.field(manual.text)),
            *because(why, followed),
            answer(),
        ),
    )


def _values(one: Procedure, row: Row) -> Row:
    """Return the values that a procedure changes in a row's form."""
    return {put.field: put.value for put in one.puts if row[put.field] != put.value}


def _step(setting: Setting, one: Procedure) -> Transition | None:
    flow = setting.world.workflow(one.entity)
    steps = flow.transitions if flow is not None else ()
    return next((step for step in steps if step.name == one.step), None)


def _is_asked(setting: Setting, entity: Entity, one: Procedure, row: Row) -> bool:
    """Return whether a procedure applies to a row and changes enough."""
    step, values = _step(setting, one), _values(one, row)
    flow = setting.world.workflow(entity.name)
    if step is not None and flow is not None:
        state = row[flow.field]
        if state not in step.before or state == step.after:
            return False
    is_told = all(can_put(setting, entity.field(name), value) for name, value in values.items())
    count = len(values) + (step is not None) + bool(one.message)
    return (
        bool(values)
        and count >= _FEWEST
        and is_told
        and not clashes(setting, entity, (row, values))
    )


def _expectation(setting: Setting, entity: Entity, one: Procedure, row: Row) -> Expectation:
    """Return the expectation of following a procedure."""
    step, flow = _step(setting, one), setting.world.workflow(entity.name)
    state: Row = {flow.field: step.after} if step is not None and flow is not None else {}
    changed = changes(entity, (row, {**_values(one, row), **state})).changed
    thread = setting.world.thread(entity.name)
    if not one.message or thread is None:
        return Expectation(changed=changed)
    return Expectation(changed=changed, added=(reply_rule(setting, thread, row, one.message),))


def _follow(setting: Setting, view: View, entity: Entity, one: Procedure, row: Row) -> Steps:
    """Return the steps that follow a procedure for a row."""
    step, thread = _step(setting, one), setting.world.thread(entity.name)
    return (
        *to_row(setting, view, entity, row, reads=()),
        *save_change(setting, entity, row, _values(one, row)),
        *(take_steps(setting, step) if step is not None else ()),
        *(reply(setting, thread, one.message) if one.message and thread is not None else ()),
    )


@task_kind("undo")
def undo(setting: Setting, random: Random) -> Draft | None:
    """Ask to undo the last change of a named row; its past changes show the old value."""
    history = setting.world.history
    if history is None:
        return None
    entity = setting.world.entity(history.entity)
    view, past = setting.world.view_of(entity.name), setting.world.entity(history.changes)
    if view is None:
        return None
    found = [
        (row, last, back)
        for row in setting.namable(view, entity)
        if (last := _last(setting, history, row)) is not None
        and (back := _back(setting, history, last)) is not None
        and not clashes(setting, entity, (row, {back[0].name: back[1]}))
    ]
    if not found:
        return None
    row, last, (field, value) = random.choice(found)
    values: Row = {field.name: value}
    title = " ".join(setting.title(past, last).split())
    edits = save_change(setting, entity, row, values)
    why = sentence(
        "kinds.put_back",
        field=field.label,
        before=str(last[history.before]),
        how=in_words_of(edits[0]),
    )
    return Draft(
        {**setting.names(view, entity, row), "past": NounSaid(past.many)},
        changes(entity, (row, values)),
        (
            *to_row(setting, view, entity, row, reads=()),
            *keep(
                (see(title),), [Fact(of=title, label=field.label, value=str(last[history.before]))]
            ),
            *because(why, edits),
            answer(),
        ),
    )


def _last(setting: Setting, history: History, row: Row) -> Row | None:
    """Return the last change of a row; None: the row has fewer than two changes."""
    changed = [
        one
        for one in setting.rows_of(setting.world.entity(history.changes))
        if one[history.link] == row["id"]
    ]
    changed.sort(key=lambda one: str(one[history.day]))
    return changed[-1] if len(changed) >= _FEWEST else None


def _back(setting: Setting, history: History, last: Row) -> tuple[DataField, Value] | None:
    """Return the field of a change with its old value; None: no form accepts that value."""
    entity = setting.world.entity(history.entity)
    field = next(
        one for one in tracked_fields(setting.world, entity) if one.label == last[history.field]
    )
    shown = {
        setting.show(entity, field, row[field.name]): row[field.name]
        for row in setting.rows_of(entity)
    }
    value = shown.get(str(last[history.before]))
    return (field, value) if can_put(setting, field, value) else None
