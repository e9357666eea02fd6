"""A kind of task about permissions: perform an act, or request it where the user's role may not."""

from random import Random
from typing import NamedTuple

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.changes import changes, draw_change, is_linked
from generators.tasks.worlds.ground.mentions import (
    ChangeSaid,
    DeletionSaid,
    RowSaid,
    StepSaid,
    ValuesSaid,
)
from generators.tasks.worlds.ground.task import IMPOSSIBLE, Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.forms import save_change
from generators.tasks.worlds.references.steps import (
    Steps,
    act,
    answer,
    click,
    remove,
    see,
    take_steps,
    to_row,
)
from generators.worlds.state.database import Row
from generators.worlds.state.page_layout import fact_parts
from generators.worlds.state.permissions import Withheld, new_request, withheld
from schemas.tasks.expectation import Expectation, RowRule
from schemas.tasks.reference import Do, Purpose
from schemas.worlds.permissions import Act, Requests, Reserved
from schemas.worlds.world import Entity, Transition, View

_PURPOSES = {
    Act.EDIT: Purpose.EDIT,
    Act.DELETE: Purpose.DELETE,
    Act.STEP: Purpose.STEP,
}
"""The purposes of clicks on the buttons of acts."""

_MAY, _IMPOSSIBLE = 0.4, 0.5
"""The shares: of tasks on rows where the role may perform the act, and of kept tasks where requests are
impossible."""


@task_kind("ask-permission")
def ask_permission(setting: Setting, random: Random) -> Draft | None:
    """Ask for an act on a named row that may be reserved: perform it, or request it if only another role may."""
    permissions = setting.world.permissions
    if permissions is None:
        return None
    entity = setting.world.entity(permissions.entity)
    view, rule = setting.world.view_of(entity.name), random.choice(permissions.reserved)
    row = None if view is None else _pick(setting, random, view, entity, rule)
    done = None if row is None else _draw_deed(setting, random, entity, row, rule)
    if view is None or row is None or done is None:
        return None
    words = {
        **setting.names(view, entity, row),
        "what": done.said,
        "leader": permissions.leader,
    }
    way, held = (
        to_row(setting, view, entity, row, reads=()),
        _withheld_by(setting, entity, row, rule),
    )
    if held is None:
        return Draft(words, done.expect, (*way, *done.steps, answer()))
    way = way if rule.hidden else (*way, *act(setting, held.label, _PURPOSES[rule.act]))
    if permissions.requests is not None:
        added = Expectation(added=(_request_rule(setting, permissions.requests, row, held),))
        return Draft(words, added, (*way, click(held.ask, Purpose.ASK), answer()))
    if random.random() >= _IMPOSSIBLE:
        return None
    expect = Expectation(answer=IMPOSSIBLE, looked=(setting.title(entity, row),))
    last = fact_parts(setting.world, entity)[0][1][-1]
    read = (see(last.label),) if rule.hidden else ()
    refused = answer(IMPOSSIBLE, sentence("kinds.refused"))
    return Draft(words, expect, (*way, *read, refused), like="ask-permission")


def _pick(
    setting: Setting, random: Random, view: View, entity: Entity, rule: Reserved
) -> Row | None:
    """Return a row on which the act is possible or withheld; None: there is no such row."""
    step = _step(setting, entity, rule)
    rows = [row for row in setting.namable(view, entity) if _can(setting, entity, row, step)]
    kept = [row for row in rows if _withheld_by(setting, entity, row, rule) is not None]
    deletes = rule.act is Act.DELETE
    free = [
        row for row in rows if row not in kept and not (deletes and is_linked(setting, entity, row))
    ]
    among = free if free and (not kept or random.random() < _MAY) else kept
    return setting.pick(random, entity, among) if among else None


def oversteps(setting: Setting, draft: Draft) -> bool:
    """Return whether a task asks for an act that the signed-in user's role may not perform."""
    permissions = setting.world.permissions
    if permissions is None:
        return False
    entity = setting.world.entity(permissions.entity)
    return any(
        _concerns(setting, entity, draft, rule, held)
        for rule in (*draft.expect.changed, *draft.expect.removed)
        if rule.table == entity.name
        for row in _on_the_way(setting, entity, setting.row(entity, _id(rule)))
        for held in withheld(setting.world, entity, row)
    )


def _on_the_way(setting: Setting, entity: Entity, row: Row) -> list[Row]:
    """Return the row in its current state and in every state that it may pass on its way to another."""
    flow = setting.world.workflow(entity.name)
    states = {state for step in flow.transitions for state in step.before} if flow else ()
    return [row, *({**row, flow.field: state} for state in sorted(states) if flow is not None)]


def _concerns(
    setting: Setting, entity: Entity, draft: Draft, rule: RowRule, held: Withheld
) -> bool:
    """Return whether a change of a row includes a withheld act."""
    flow = setting.world.workflow(entity.name)
    state = flow.field if flow is not None else ""
    match held.rule.act:
        case Act.DELETE:
            return not rule.set
        case Act.EDIT:
            return bool({*rule.set} - {state})
        case Act.STEP:
            step = _step(setting, entity, held.rule)
            after = step.after if step is not None else ""
            return any(
                held.label in {one.on, one.text} or (one.do is Do.DRAG and one.text == after)
                for one in draft.reference
            )


def _id(rule: RowRule) -> int:
    number = rule.where.get("id")
    if not isinstance(number, int):
        raise TypeError(f"a rule of a change names no row: {rule.where}")
    return number


def _step(setting: Setting, entity: Entity, rule: Reserved) -> Transition | None:
    flow = setting.world.workflow(entity.name)
    steps = flow.transitions if flow is not None else ()
    return next((step for step in steps if step.name == rule.step), None)


def _can(setting: Setting, entity: Entity, row: Row, step: Transition | None) -> bool:
    """Return whether a row's state allows a step; True for acts other than steps."""
    flow = setting.world.workflow(entity.name)
    if step is None or flow is None:
        return True
    return row[flow.field] in step.before and row[flow.field] != step.after


def _withheld_by(setting: Setting, entity: Entity, row: Row, rule: Reserved) -> Withheld | None:
    held = withheld(setting.world, entity, row)
    return next((one for one in held if one.rule == rule), None)


class _Deed(NamedTuple):
    """An act on a row."""

    said: StepSaid | DeletionSaid | ChangeSaid
    expect: Expectation
    steps: Steps
    """The steps, from the row's page."""


def _draw_deed(
    setting: Setting, random: Random, entity: Entity, row: Row, rule: Reserved
) -> _Deed | None:
    """Return the act of a rule on a row; None: the row cannot be changed."""
    said = RowSaid(entity, setting.title(entity, row), row, setting.world.view_of(entity.name))
    step, flow = _step(setting, entity, rule), setting.world.workflow(entity.name)
    if step is not None and flow is not None:
        return _Deed(
            StepSaid(said, step, entity.field(flow.field)),
            changes(entity, (row, {flow.field: step.after})),
            take_steps(setting, step),
        )
    if rule.act is Act.DELETE:
        gone = RowRule(table=entity.name, where={"id": row["id"]})
        return _Deed(DeletionSaid(said), Expectation(removed=(gone,)), remove(setting))
    values = draw_change(setting, random, entity, row, 1)
    if not values or entity.title.name in values:
        return None
    return _Deed(
        ChangeSaid(said, ValuesSaid(entity, values)),
        changes(entity, (row, values)),
        save_change(setting, entity, row, values),
    )


def _request_rule(setting: Setting, asked: Requests, row: Row, held: Withheld) -> RowRule:
    """Return the rule that a request for a row was added."""
    number = setting.next_id(setting.world.entity(asked.entity))
    made = new_request(setting.world, asked, int(row["id"] or 0), number, held.label)
    return RowRule(table=asked.entity, where={"id": number, **made})
