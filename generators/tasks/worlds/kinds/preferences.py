"""A kind of task on settings: several are changed and saved together."""

from random import Random

from generators.tasks.worlds.ground.changes import (
    form_fields,
    set_rule,
)
from generators.tasks.worlds.ground.mentions import ValuesSaid
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.pattern_steps import (
    to_setting,
    views_of,
)
from generators.tasks.worlds.references.steps import answer
from generators.worlds.state.database import Row
from schemas.tasks.expectation import Expectation
from schemas.worlds.patterns import Shape


@task_kind("preferences", needs=Shape.SETTINGS)
def preferences(setting: Setting, random: Random) -> Draft | None:
    """Ask to change one to three settings and save them together."""
    for view in views_of(setting, Shape.SETTINGS):
        entity = setting.world.entity(view.entity)
        now = setting.row(entity, 1)
        asked = form_fields(setting, entity)
        drawn = random.sample(asked, min(random.randint(1, 3), len(asked)))
        drawn_values = {
            field.name: new_value(setting, random, entity, field, unlike=(now[field.name],))
            for field in drawn
        }
        values: Row = {
            field.name: drawn_values[field.name]
            for field in asked
            if drawn_values.get(field.name) is not None
        }
        if not values:
            continue
        return Draft(
            {
                "site": setting.world.title,
                "view": view.label,
                "stated": ValuesSaid(entity, values),
            },
            Expectation(changed=(set_rule(view, values),)),
            (*to_setting(setting, view, values), answer()),
        )
    return None
