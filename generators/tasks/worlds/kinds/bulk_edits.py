"""Kinds of tasks that change several rows: a part of a list, or named rows."""

from random import Random

from generators.tasks.worlds.ground.changes import (
    adds,
    can_put,
    changes,
    changes_of_part,
    clashes,
    draw_row,
    editable,
    form_fields,
    is_linked,
    removal_of_part,
    with_forms,
)
from generators.tasks.worlds.ground.mentions import (
    FieldSaid,
    RowSaid,
    SeveralSaid,
    StepSaid,
    TermSaid,
    ValueSaid,
    ValuesSaid,
)
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.row_conditions import (
    choice_of,
    draw_part,
    is_near,
    make_part,
    turns,
)
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
)
from generators.tasks.worlds.references.forms import fill_form, save_change
from generators.tasks.worlds.references.steps import (
    answer,
    read_page,
    read_row,
    remove,
    take_steps,
    to_form,
    to_part,
    to_row,
)
from generators.worlds.state.database import Row
from schemas.worlds.field import Kind

_EDITED, _GONE, _MOVED = range(3, 7), range(2, 6), range(2, 7)
_COPIED = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.TAGS, Kind.LINK}
_SHARED = frozenset({Kind.CHOICE, Kind.DATE, Kind.FLAG, Kind.LINK, Kind.INTEGER})
_TRIES = 8
_TWO, _THREE = 2, 3


@task_kind("edit-many", aside="several")
def edit_many(setting: Setting, random: Random) -> Draft | None:
    """Ask to set one value in all rows of a part of a list."""
    for view, entity in editable(setting, random):
        fields = [one for one in form_fields(setting, entity)[1:] if one.kind in _SHARED]
        if not fields:
            continue
        field, named = random.choice(fields), setting.namable(view, entity)
        value = new_value(setting, random, entity, field)
        part = draw_part(
            setting,
            random,
            view,
            sizes=_EDITED,
            conditions=random.choice((1, 2)),
            unlike=(field,),
            only=[row for row in named if row[field.name] != value],
        )
        if part is None or value is None:
            continue
        values: Row = {field.name: value}
        if clashes(setting, entity, *((row, values) for row in part.rows)):
            continue
        return Draft(
            {
                **setting.names(view, entity),
                "among": part.among,
                "field": FieldSaid((field,)),
                "value": ValueSaid(entity, field, value),
            },
            changes_of_part(setting, part, values),
            (
                *to_part(setting, part),
                *(
                    step
                    for row in part.rows
                    for step in (
                        *to_row(setting, view, entity, row, reads=()),
                        *save_change(setting, entity, row, values),
                    )
                ),
                answer(),
            ),
            near=part.near,
        )
    return None


@task_kind("delete-several", aside="several")
def delete_several(setting: Setting, random: Random) -> Draft | None:
    """Ask to delete all rows of a part of a list; no other row links to them."""
    for view, entity in setting.places(random):
        if not entity.can_delete:
            continue
        named = [
            row for row in setting.namable(view, entity) if not is_linked(setting, entity, row)
        ]
        part = draw_part(
            setting,
            random,
            view,
            sizes=_GONE,
            conditions=random.choice((1, 2, 2)),
            only=named,
        )
        if part is None:
            continue
        return Draft(
            {**setting.names(view, entity), "among": part.among},
            removal_of_part(setting, part),
            (
                *to_part(setting, part),
                *(
                    step
                    for row in part.rows
                    for step in (
                        *to_row(setting, view, entity, row, reads=()),
                        *remove(setting),
                    )
                ),
                answer(),
            ),
            near=part.near,
        )
    return None


@task_kind("move-several", aside="several")
def move_several(setting: Setting, random: Random) -> Draft | None:
    """Ask that all rows of a part of a list, which are in one state, take one step of their workflow."""
    for view, entity in setting.places(random):
        flow = setting.world.workflow(entity.name)
        if flow is None or flow.field not in {*view.filters, *view.columns}:
            continue
        field, named = entity.field(flow.field), setting.namable(view, entity)
        for _ in range(_TRIES):
            step = random.choice(flow.transitions)
            before = random.choice(step.before)
            other = draw_part(setting, random, view, sizes=range(2, 10**6), unlike=(field,))
            if other is None or before == step.after:
                continue
            conditions = (choice_of(setting, view, field, before), *other.conditions)
            part = make_part(setting, view, entity, conditions)
            fits = len(part.rows) in _MOVED and all(row in named for row in part.rows)
            if not fits or not is_near(setting, part) or turns(setting, part) > MAX_TURNS:
                continue
            moved: Row = {field.name: step.after}
            return Draft(
                {
                    **setting.names(view, entity),
                    "among": part.among,
                    "field": FieldSaid((field,)),
                    "after": ValueSaid(entity, field, step.after),
                    "do": StepSaid(part.among, step, field),
                },
                changes_of_part(setting, part, moved),
                (
                    *to_part(setting, part),
                    *(
                        each
                        for row in part.rows
                        for each in (
                            *to_row(setting, view, entity, row, reads=()),
                            *take_steps(setting, step),
                        )
                    ),
                    answer(),
                ),
                near=part.near,
            )
    return None


@task_kind("create-several")
def create_several(setting: Setting, random: Random) -> Draft | None:
    """Ask for two or three new rows with their own values."""
    for view, entity in with_forms(setting, random):
        drawn = [draw_row(setting, random, entity) for _ in range(random.choice((2, 2, 3)))]
        rows = [row for row in drawn if row is not None]
        titles = {str(row[entity.title.name]).casefold() for row in rows}
        if len(rows) < len(drawn) or len(titles) < len(rows):
            continue
        return Draft(
            {
                **setting.names(view, entity),
                "number": TermSaid({2: "two", 3: "three"}[len(rows)]),
                "each": SeveralSaid(tuple(ValuesSaid(entity, row) for row in rows)),
            },
            adds(setting, entity, *rows),
            (
                *(
                    step
                    for row in rows
                    for step in (
                        *to_form(setting, view, entity),
                        *fill_form(setting, entity, row),
                    )
                ),
                answer(),
            ),
        )
    return None


@task_kind("transfer")
def transfer(setting: Setting, random: Random) -> Draft | None:
    """Ask to copy a field's value from one named row to two others."""
    for view, entity in editable(setting, random):
        named = setting.namable(view, entity)
        fields = [one for one in form_fields(setting, entity)[1:] if one.kind in _COPIED]
        if not fields or len(named) < _THREE:
            continue
        field, like = random.choice(fields), setting.pick(random, entity, named)
        others = [row for row in named if row[field.name] != like[field.name]]
        if not can_put(setting, field, like[field.name]) or len(others) < _TWO:
            continue
        two, values = random.sample(others, 2), {field.name: like[field.name]}
        if clashes(setting, entity, *((row, values) for row in two)):
            continue
        return Draft(
            {
                **setting.names(view, entity, like),
                "field": FieldSaid((field,)),
                "first": RowSaid(entity, setting.title(entity, two[0]), two[0], view),
                "second": RowSaid(entity, setting.title(entity, two[1]), two[1], view),
            },
            changes(entity, *((row, values) for row in two)),
            (
                *read_row(setting, view, entity, like, (field,)),
                *(
                    step
                    for row in two
                    for step in (
                        *to_row(setting, view, entity, row, reads=()),
                        *save_change(setting, entity, row, values),
                    )
                ),
                answer(),
            ),
        )
    return None


@task_kind("swap")
def swap(setting: Setting, random: Random) -> Draft | None:
    """Ask to undo a mix-up: two named rows have each other's value of a field."""
    for view, entity in editable(setting, random):
        named = setting.namable(view, entity)
        fields = [one for one in form_fields(setting, entity)[1:] if one.kind in _COPIED]
        told = [
            (field, row)
            for field in fields
            for row in named
            if can_put(setting, field, row[field.name])
        ]
        if not told:
            continue
        field, one = random.choice(told)
        others = [row for each, row in told if each is field and row[field.name] != one[field.name]]
        if not others:
            continue
        other = setting.pick(random, entity, others)
        pairs: list[tuple[Row, Row]] = [
            (one, {field.name: other[field.name]}),
            (other, {field.name: one[field.name]}),
        ]
        if clashes(setting, entity, *reversed(pairs)):
            continue
        return Draft(
            {
                **setting.names(view, entity),
                "field": FieldSaid((field,)),
                "first": RowSaid(entity, setting.title(entity, one), one, view),
                "second": RowSaid(entity, setting.title(entity, other), other, view),
            },
            changes(entity, *pairs),
            (
                *read_row(setting, view, entity, one, (field,)),
                *read_page(setting, view, entity, other, field),
                *save_change(setting, entity, *pairs[1]),
                *to_row(setting, view, entity, one, reads=()),
                *save_change(setting, entity, *pairs[0]),
                answer(),
            ),
        )
    return None
