"""Kinds of tasks with one change of the state: create, edit, move, delete, and combinations."""

from random import Random

from generators.policy.sentences.vary import said
from generators.tasks.worlds.ground.changes import (
    adds,
    can_put,
    changes,
    clashes,
    draw_change,
    draw_condition,
    draw_row,
    editable,
    find_ways,
    form_fields,
    in_words,
    is_linked,
    with_forms,
)
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import NUMBERS, Setting, name_field, quote, term
from generators.tasks.worlds.references.forms import fill_form, save_change
from generators.tasks.worlds.references.steps import (
    answer,
    because,
    in_words_of,
    is_listed,
    read_row,
    remove,
    take_steps,
    to_form,
    to_row,
)
from generators.worlds.state.database import Row
from schemas.tasks.expectation import Expectation, RowRule
from schemas.worlds.field import Kind

_COPIED = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.TAGS, Kind.LINK}


@task_kind(
    "create",
    words="""
    terse: New {one}: {stated}.
    terse: Add under {view}: {stated}.
    en: [Create|Add|Enter] a new {one} with {stated}.
    en: [Please add|Please enter|Put in] this {one} under {view}: {stated}. [Leave everything else as the form has it|The rest stays as it is].
    en: {site} lacks one {one}. [What is known of it|What I have been told]: {stated}. [See to it that it is there|Please enter it].
    en: [I was told|{person2} says] that {view} should list one more {one}, with {stated}; [it does not yet|it is still missing].
    en: [We have|There is] a new {one}: {stated}. [It belongs into {site}|Put it into {view}|Please record it].
    en: [Could you|Would you] record one more {one} [in {site}|under {view}]? [It has|What it needs is] {stated}.
    de: Lege unter {view} neu an: {one} mit {stated}.
    de: Bitte trage ein: {one} mit {stated}. Alles andere bleibt, wie es ist.
    fr: Ajoute dans {view} : {one} avec {stated}.
    fr: Il manque {one} avec {stated} ; [ajoute-le|enregistre-le], s'il te plaît.
    es: Añade en {view}: {one} con {stated}.
    es: Falta {one} con {stated}; regístralo, por favor.
    """,
)
def create(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row with given values."""
    for view, entity in with_forms(setting, random):
        values = draw_row(setting, random, entity)
        if values is None:
            continue
        return Draft(
            {**setting.names(view, entity), "stated": in_words(setting, entity, values)},
            adds(setting, entity, values),
            (*to_form(setting, view, entity), *fill_form(setting, entity, values), answer()),
        )
    return None


@task_kind(
    "create-alike",
    words="""
    terse: New {one}: {stated}; {field} as in {title}.
    terse: Add {one}, {field} like {title}: {stated}.
    en: [Create|Add|Enter] a new {one} with {stated}, and with the same {field} as {title} has.
    en: [Please look up|Look up|Check] which {field} the {one} {title} has, and then add another {one} with the same {field} and with {stated}.
    en: We need one more {one}, with {stated}. [Nobody told me|I was not told] the {field}, only that it is [the one|that] of {title}.
    en: Under {view} there should [soon|] be another {one}, with {stated}. Its {field} is [to match|the same as] the {field} of {title}.
    en: [Take over|Copy] the {field} of {title} [into|for] a new {one}, [of which the rest is|which otherwise has] {stated}.
    en: [There is|We got] a new {one}: {stated}. [For the|As to the] {field}, do as with {title}.
    de: Lege an: {one} mit {stated}; {field} soll wie bei {title} sein.
    fr: Ajoute {one} avec {stated} ; pour {field}, reprends la valeur de {title}.
    es: Añade {one} con {stated}; en {field}, lo mismo que {title}.
    """,
)
def create_alike(setting: Setting, random: Random) -> Draft | None:
    """Ask for a new row that copies one value from another row, to be read on its page."""
    for view, entity in with_forms(setting, random):
        values = draw_row(setting, random, entity)
        named = setting.namable(view, entity)
        if values is None or not named:
            continue
        like = setting.pick(random, entity, named)
        fields = [
            entity.field(name)
            for name in values
            if entity.field(name).kind in _COPIED
            and entity.field(name) is not entity.title
            and can_put(setting, entity.field(name), like[name])
        ]
        if not fields:
            continue
        field = random.choice(fields)
        values = {**values, field.name: like[field.name]}
        if clashes(setting, entity, ({}, values)):
            continue
        rest = {name: value for name, value in values.items() if name != field.name}
        return Draft(
            {
                **setting.names(view, entity, like),
                "stated": in_words(setting, entity, rest),
                "field": name_field(field),
            },
            adds(setting, entity, values),
            (
                *read_row(setting, view, entity, like, (field,)),
                *to_form(setting, view, entity),
                *fill_form(setting, entity, values),
                answer(),
            ),
        )
    return None


@task_kind(
    "edit",
    aside="one",
    words="""
    terse: {one} {title}: set {stated}.
    terse: {title}: {stated}.
    en: [Change|Update] the {one} {title} so that it has {stated}.
    en: [Please open|Open] {title} under {view}, [correct it to|change it to|enter] {stated}, and save it.
    en: In {site} the {labels} of the {one} {title} is [out of date|wrong]. [The page should say|It should be] {stated} instead.
    en: I [noticed|saw|was told] that the {one} {title} does not have {stated} yet. That is what it should have; [all else about it is right|the rest is fine].
    en: [For|With] the {one} {title}, {stated} [is what should stand there|is right]. [Please correct it|Put that in].
    en: [Could you|Would you] see to {title} [under|in] {view}? It [needs|should have] {stated}.
    de: Ändere bei {one} {title}: {stated}.
    de: Bei {title} unter {view} sollte stehen: {stated}. Bitte berichtige das.
    fr: Modifie {one} {title} : {stated}.
    fr: Pour {title} dans {view}, il faut {stated}. Corrige-le, s'il te plaît.
    es: Cambia {one} {title}: {stated}.
    es: En {title}, dentro de {view}, debe poner {stated}. Corrígelo, por favor.
    """,
)
def edit(setting: Setting, random: Random) -> Draft | None:
    """Ask to change one field of a named row."""
    return _edit(setting, random, 1)


@task_kind(
    "edit-two",
    aside="one",
    words="""
    terse: {one} {title}: set {stated}.
    terse: {title}: {stated}.
    en: [Change|Update] two things about the {one} {title}: {stated}.
    en: [Please open|Open] {title} under {view}, [put in|enter] {stated}, and save both together.
    en: In {site} the {labels} of the {one} {title} are [out of date|wrong]. [The page should say|They should be] {stated} instead.
    en: I [noticed|saw|was told] that the {one} {title} does not have {stated} yet. That is what it should have; [all else about it is right|the rest is fine].
    en: [For|With] the {one} {title}, {stated} [are what should stand there|are right]. [Please correct both|Put them in].
    en: [Could you|Would you] see to {title} [under|in] {view}? It [needs|should have] {stated}.
    de: Ändere bei {one} {title} zweierlei: {stated}.
    de: Bei {title} unter {view} sollte stehen: {stated}. Bitte berichtige beides.
    fr: Modifie deux choses dans {one} {title} : {stated}.
    es: Cambia dos cosas en {one} {title}: {stated}.
    """,
)
def edit_two(setting: Setting, random: Random) -> Draft | None:
    """Ask to change two fields of a named row."""
    return _edit(setting, random, 2)


def _edit(setting: Setting, random: Random, number: int) -> Draft | None:
    for view, entity in editable(setting, random):
        row = setting.pick(random, entity, setting.namable(view, entity))
        values = draw_change(setting, random, entity, row, number)
        if len(values) < number:
            continue
        return Draft(
            {
                **setting.names(view, entity, row),
                "stated": in_words(setting, entity, values),
                "labels": f" {term('and')} ".join(
                    name_field(entity.field(name)) for name in values
                ),
            },
            changes(entity, (row, values)),
            (
                *to_row(setting, view, entity, row, reads=()),
                *save_change(setting, entity, row, values),
                answer(),
            ),
        )
    return None


@task_kind(
    "conditional",
    aside="one",
    words="""
    terse: {one} {title}: {fact} {condition}? Then {field} {first}, else {field} {second}.
    terse: {title}, {field}: {first} if {fact} {condition}, else {second}.
    en: If the {fact} of the {one} {title} is {condition}, [set|change] its {field} to {first}; otherwise [set|change] it to {second}.
    en: [Please check|Check] the {one} {title}. [Where|If] its {fact} is {condition}, its {field} should become {first}, and in any other case {second}.
    en: [There is a rule|We have a rule] for {view}: where {fact} is {condition}, {field} is {first}, and where it is not, {second}. Apply [the rule|it] to {title}.
    en: I do not [remember|know] the {fact} of the {one} {title}. [Should it be|If it is] {condition}, I want {first} as its {field}; [should it not|if not], I want {second}.
    en: The {field} of {title} [depends on|hangs on] its {fact}: {first} [if that is|where that is] {condition}, {second} [if not|otherwise]. [Please set it|Set it accordingly].
    en: [Look at|Open] {title} [under|in] {view}. {fact} {condition} [means|calls for] {field} {first}; anything else [means|calls for] {field} {second}. Change it [accordingly|to what is right].
    de: Wenn bei {one} {title} {fact} {condition} ist, setze {field} auf {first}, sonst auf {second}.
    fr: Si {fact} de {one} {title} est {condition}, mets {field} à {first}, sinon à {second}.
    es: Si {fact} de {one} {title} es {condition}, pon {field} en {first}; si no, en {second}.
    """,
)
def conditional(setting: Setting, random: Random) -> Draft | None:
    """Ask for one change if a fact of a named row meets a condition, and for another otherwise."""
    for view, entity in editable(setting, random):
        row = setting.pick(random, entity, setting.namable(view, entity))
        facts = setting.facts(entity, NUMBERS | {Kind.CHOICE})
        told = [field for field in facts if row[field.name] is not None]
        fields = [field for field in form_fields(setting, entity) if field is not entity.title]
        if not told or not fields:
            continue
        fact, field = random.choice(told), random.choice(fields)
        first = new_value(setting, random, entity, field, unlike=(row[field.name],))
        other = new_value(setting, random, entity, field, unlike=(row[field.name], first))
        found = draw_condition(setting, random, entity, fact, row)
        if fact is field or first is None or other is None or found is None:
            continue
        condition, holds = found
        values: Row = {field.name: first if holds else other}
        if clashes(setting, entity, (row, values)):
            continue
        edits = save_change(setting, entity, row, values)
        after = setting.show(entity, field, values[field.name])
        why = said(
            "kinds.condition",
            fact=fact.label,
            value=setting.fact(entity, fact, row),
            met="" if holds else "not ",
            field=field.label,
            after=after.rstrip("."),
            how=in_words_of(edits[0]),
        )
        return Draft(
            {
                **setting.names(view, entity, row),
                "fact": name_field(fact),
                "condition": condition,
                "field": name_field(field),
                "first": quote(setting.show(entity, field, first)),
                "second": quote(setting.show(entity, field, other)),
            },
            changes(entity, (row, values)),
            (
                *to_row(
                    setting, view, entity, row, reads=() if is_listed(view, [fact]) else (fact,)
                ),
                *because(why, edits),
                answer(),
            ),
        )
    return None


@task_kind(
    "move",
    aside="one",
    words="""
    terse: {one} {title}: {field} {before} to {after}.
    terse: {title} to {after}.
    en: [Bring|Move|Take] the {one} {title} to the {field} {after}.
    en: [Please see to it|Make sure|See to it] that the {field} of {title} under {view} is {after}.
    en: The {one} {title} still has the {field} {before}, but [in truth it has long been|it should be] {after}. Update {site}.
    en: [By the end of today|By {day}] I expect to find the {one} {title} with {after} as its {field}.
    en: [For|With] {title}, {before} is no longer [true|right]: its {field} [should be|is to become] {after}.
    en: [Could you|Would you] take {title} [under|in] {view} from {before} to {after}?
    de: Bringe {one} {title} von {before} auf {after}.
    de: Bei {title} unter {view} soll {field} auf {after} stehen.
    fr: Fais passer {one} {title} de {before} à {after}.
    es: Lleva {one} {title} de {before} a {after}.
    """,
)
def move(setting: Setting, random: Random) -> Draft | None:
    """Ask to bring a named row to another state of its workflow, one or two steps away."""
    for view, entity in setting.places(random):
        flow, named = setting.world.workflow(entity.name), setting.namable(view, entity)
        if flow is None or not named:
            continue
        row = setting.pick(random, entity, named)
        ways = find_ways(flow.transitions, str(row[flow.field]))
        if not ways:
            continue
        length = random.choice(sorted({len(way) for way in ways}))
        way = random.choice([each for each in ways if len(each) == length])
        field, after = entity.field(flow.field), way[-1].after
        return Draft(
            {
                **setting.names(view, entity, row),
                "field": name_field(field),
                "before": quote(str(row[field.name])),
                "after": quote(after),
            },
            changes(entity, (row, {field.name: after})),
            (
                *to_row(
                    setting, view, entity, row, reads=() if is_listed(view, [field]) else (field,)
                ),
                *take_steps(setting, *way),
                answer(),
            ),
        )
    return None


@task_kind(
    "delete",
    aside="one",
    words="""
    terse: {one} {title}: delete.
    terse: Delete {title}.
    en: [Delete|Remove] the {one} {title}.
    en: [Please remove|Please delete|Take] {title} from {view}.
    en: The {one} {title} was entered [by mistake|too early]. {site} should no longer have it; [leave its neighbours alone|the rest stays].
    en: I keep stumbling over the {one} {title} under {view}, [which nobody needs any more|which is of no use]. Get rid of it [for good|for ever].
    en: [We no longer need|Nobody needs] the {one} {title}. [Please delete it|Remove it] [from {site}|under {view}].
    en: [Could you|Would you] see to it that {title} [is gone from|no longer stands in] {view}?
    de: Lösche {one} {title}.
    de: {title} unter {view} wird nicht mehr gebraucht; bitte löschen.
    fr: Supprime {one} {title}.
    fr: On n'a plus besoin de {title} dans {view} ; supprime-le.
    es: Elimina {one} {title}.
    es: Ya no hace falta {title} en {view}; elimínalo.
    """,
)
def delete(setting: Setting, random: Random) -> Draft | None:
    """Ask to delete a named row; no other row links to it."""
    for view, entity in setting.places(random):
        named = [
            row for row in setting.namable(view, entity) if not is_linked(setting, entity, row)
        ]
        if not entity.can_delete or not named:
            continue
        row = setting.pick(random, entity, named)
        return Draft(
            setting.names(view, entity, row),
            Expectation(removed=(RowRule(table=entity.name, where={"id": row["id"]}),)),
            (
                *to_row(setting, view, entity, row, reads=()),
                *remove(setting),
                answer(),
            ),
        )
    return None
