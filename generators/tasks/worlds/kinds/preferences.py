"""A kind of task on settings: several are changed and saved together."""

from random import Random

from generators.tasks.worlds.ground.changes import (
    form_fields,
    in_words,
    set_rule,
)
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


@task_kind(
    "preferences",
    needs=Shape.SETTINGS,
    words="""
    terse: {view}: {stated}.
    terse: Set {stated} under {view}.
    terse: {stated}: save it in {view}.
    en: [Please set|Set|Put] {stated} [under|in] {view}, and [save it|save that].
    en: [I would like|I want|We need] {stated} as settings in {site}; [they are|you find them] under {view}.
    en: [Go to|Open] {view} and [see to it that|make sure that] it says {stated} [there|on that page]. [Leave the rest as it is.|Nothing else should change.]
    en: The settings of {site} [do not suit me|are not right]. [Under|In] {view} it should be {stated}.
    en: [From now on|Starting now], [let|have] {site} work with {stated}. [Everything else|All that I do not name] [stays|may stay] under {view} as it is.
    en: [Somebody changed|Somebody has changed] what stands under {view}. [Make it|Set it to] {stated} [again|once more], please.
    de: Stelle unter {view} bitte {stated} ein und speichere es.
    de: In {site} soll unter {view} gelten: {stated}. Alles andere bleibt.
    fr: Sous {view}, règle {stated} et enregistre.
    fr: Dans {site}, il faut {stated} sous {view} ; ne change rien d'autre.
    es: En {view}, pon {stated} y guárdalo.
    es: En {site} debe quedar {stated} en {view}; no cambies nada más.
    """,
)
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
                "stated": in_words(setting, entity, values),
            },
            Expectation(changed=(set_rule(view, values),)),
            (*to_setting(setting, view, values), answer()),
        )
    return None
