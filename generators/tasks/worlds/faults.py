"""Gives a task the fault of its site: one that the task comes to whoever does it, drawn by its seed.

The task stays the same: its world, goal and reference. Where somebody else changes a row meanwhile, this change is a
part of what is expected.
"""

from collections.abc import Iterator
from random import Random

from generators.tasks.worlds.ground.task import Meanwhile, WorldTask
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.steps import opened_view
from generators.worlds.state.form_fields import asked_fields
from schemas.tasks.expectation import RowRule
from schemas.tasks.reference import Purpose
from schemas.worlds.fault import MENDS_A_FORM, Fault
from schemas.worlds.field import Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity

_OF_FORMS = 0.75
"""The share of faults of a form among the tasks that send one."""

_CHANGE = {Kind.INTEGER, Kind.MONEY, Kind.CHOICE}
"""Kinds of fields that somebody else changes."""

_LISTS = {Shape.LIST, Shape.GRID}


def with_fault(setting: Setting, task: WorldTask, random: Random) -> WorldTask:
    """Return a task with a fault that whoever does it comes to; without one if there is none."""
    possible = list(_possible(setting, task))
    of_forms = [fault for fault in possible if fault in MENDS_A_FORM]
    others = [fault for fault in possible if fault not in MENDS_A_FORM]
    among = of_forms if of_forms and (not others or random.random() < _OF_FORMS) else others
    order = random.sample(among, len(among))
    for fault in order:
        if fault is not Fault.STALE_ROW:
            return task.model_copy(update={"fault": fault})
        stale = _with_other_change(setting, task, random)
        if stale is not None:
            return stale
    return task


def _possible(setting: Setting, task: WorldTask) -> Iterator[Fault]:
    """Yield the faults that a task's reference comes to."""
    purposes = {step.purpose for step in task.reference}
    sends_form = Purpose.SAVE in purposes and Purpose.NEXT_PART not in purposes
    if sends_form or (purposes & {Purpose.STEP, Purpose.CONFIRM} and not _uses_cards(purposes)):
        yield Fault.SAVE_FAILS
    if sends_form:
        yield Fault.SESSION_ENDS
    if sends_form and Purpose.EDIT in purposes:
        yield Fault.STALE_ROW
    opened = (opened_view(setting, step) for step in task.reference)
    first = next((view for view in opened if view is not None), None)
    if first is not None:
        yield Fault.DIALOG
        yield Fault.PAGE_FAILS
        if first.shape in _LISTS:
            yield Fault.SLOW_PAGE


def _uses_cards(purposes: set[Purpose | None]) -> bool:
    return bool(purposes & {Purpose.CARD_STEP, Purpose.MOVE_CARD, Purpose.SAVE_CELL})


def _with_other_change(setting: Setting, task: WorldTask, random: Random) -> WorldTask | None:
    """Return a task whose first row somebody else changes while its form is open; None: no field can be changed."""
    for place, rule in enumerate(task.expect.changed):
        row_id, entity = rule.where.get("id"), setting.world.entity(rule.table)
        if not isinstance(row_id, int):
            continue
        other = _other_change(setting, entity, row_id, rule, random)
        if other is None:
            return None
        wider = rule.model_copy(update={"set": {**rule.set, other.field: other.value}})
        changed = (*task.expect.changed[:place], wider, *task.expect.changed[place + 1 :])
        expect = task.expect.model_copy(update={"changed": changed})
        found = {"fault": Fault.STALE_ROW, "meanwhile": other, "expect": expect}
        return task.model_copy(update=found)
    return None


def _other_change(
    setting: Setting, entity: Entity, row_id: int, rule: RowRule, random: Random
) -> Meanwhile | None:
    """Return another value for a field of a row that the task neither changes nor reads; None: there is none."""
    rows = setting.rows_of(entity)
    row = next(one for one in rows if one["id"] == row_id)
    flow = setting.world.workflow(entity.name)
    kept = {*rule.set, *entity.apart, entity.title.name, flow.field if flow else ""}
    fields = [
        field
        for field in asked_fields(setting.world, entity)
        if field.kind in _CHANGE and field.name not in kept and row[field.name] is not None
    ]
    for field in random.sample(fields, len(fields)):
        others = {one[field.name] for one in rows} - {row[field.name], None}
        if others:
            value = random.choice(sorted(others, key=str))
            return Meanwhile(entity=entity.name, row=row_id, field=field.name, value=value)
    return None
