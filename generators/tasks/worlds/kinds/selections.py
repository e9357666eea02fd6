"""Kinds of tasks about the first row of a sorted part of a list: name it, change it, move it."""

from random import Random

from generators.tasks.worlds.ground.changes import changes, draw_change, find_ways, in_words
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import (
    Setting,
    name_field,
    quote,
)
from generators.tasks.worlds.kinds.answers import is_asked_for
from generators.tasks.worlds.references.forms import save_change
from generators.tasks.worlds.references.sorted_lists import (
    draw_ordered,
    list_to_read,
    to_first,
    to_ordered,
    why_first,
    words_of_part,
)
from generators.tasks.worlds.references.steps import answer, take_steps
from schemas.tasks.expectation import Expectation

_CHOSEN = range(3, 30)


@task_kind(
    "choose",
    aside="several",
    words="""
    terse: {among}, {word} {field}: {name}?
    terse: {conditions}, {word} {field}: {name}?
    en: [I am looking for|I need|We want] the {one} with the {word} {field} of those where {conditions}. What is its {name}?
    en: [Of all|Among the] {many} where {conditions}, which has the {word} {field}? [Answer with|Give me] the {name}.
    en: [Please pick|Pick|Choose] one of the {many} [for {person2}|for me]. What must hold: {conditions}. After that the {word} {field} [decides|counts]. [Answer with|Tell me] its {name}.
    en: [Two things must hold|Both must be so]: {conditions}. [Among what is left|Of the {many} that remain], which has the {word} {field}? Its {name}, please.
    en: [What would you take|What is the best choice] [under|from] {view}, if only those count where {conditions}, and the {word} {field} wins? [Answer with|Reply with] the {name}.
    en: Only {many} where {conditions} are [of use|of use to {person2}]. [So find|Find] the one of them with the {word} {field}, and [answer with|tell me] its {name}.
    de: Gesucht: unter {among} der Eintrag, bei dem {field} am {word} ist. [Antworte mit|Nenne mir] {name}.
    fr: Il me faut, parmi {among}, l'élément dont {field} a la valeur la {word}. [Réponds avec|Donne-moi] {name}.
    es: Busco entre {among} el elemento con el valor {word} de {field}. [Responde con|Dime] {name}.
    """,
)
def choose(setting: Setting, random: Random) -> Draft | None:
    """Ask for the row with the largest or smallest value among those that meet two conditions."""
    ordered = draw_ordered(setting, random, _CHOSEN, (2,))
    if ordered is None:
        return None
    reply = setting.title(ordered.part.entity, ordered.rows[0])
    if not is_asked_for(reply):
        return None
    return Draft(
        words_of_part(setting, ordered.part, ordered),
        Expectation(answer=reply, read=list_to_read(setting, ordered)),
        (
            *to_ordered(setting, ordered, ordered.rows[:1]),
            answer(reply, why_first(setting, ordered)),
        ),
        "computed",
        near=ordered.part.near,
    )


@task_kind(
    "choose-edit",
    aside="several",
    words="""
    terse: {among}, {word} {field}: set {stated}.
    terse: Set {stated} for that of the {among} with the {word} {field}.
    en: [Find|Take|Look for] the {one} with the {word} {field} [among|of] all {among}, and [set there|change it to] {stated}.
    en: [Please change|Change] one of the {among}, the one with the {word} {field}: it should have {stated}.
    en: The one of the {among} with the {word} {field} [should get|is to get|needs] {stated}. [See to it|Please enter that|Put it in], under {view}.
    en: [I do not know its {name}|I forget its {name}], but it has the {word} {field} of all {among}, and it [must have|should have] {stated}.
    en: Of the {many} where {conditions}, the one with the {word} {field} is [out of date|wrong]: [it has to say|correct it to] {stated}.
    en: [Go to|Look at] {view}, [go through|look through] the {among}, and where {field} is the {word}, [enter|put in] {stated}.
    de: Ändere unter {among} den Eintrag, bei dem {field} am {word} ist: {stated}.
    fr: Parmi {among}, prends l'élément dont {field} a la valeur la {word} et mets-y {stated}.
    es: Entre {among}, toma el elemento con el valor {word} de {field} y pon {stated}.
    """,
)
def choose_edit(setting: Setting, random: Random) -> Draft | None:
    """Ask to change the row with the largest or smallest value among those that meet conditions."""
    ordered = draw_ordered(setting, random, _CHOSEN, (2, 1), can=lambda one: one.can_edit)
    if ordered is None:
        return None
    entity, row = ordered.part.entity, ordered.rows[0]
    values = draw_change(setting, random, entity, row, random.randint(1, 2))
    if not values or entity.title.name in values:
        return None
    return Draft(
        {
            **words_of_part(setting, ordered.part, ordered),
            "stated": in_words(setting, entity, values),
        },
        changes(entity, (row, values), read=list_to_read(setting, ordered)),
        (
            *to_first(setting, ordered),
            *save_change(setting, entity, row, values),
            answer(),
        ),
        near=ordered.part.near,
    )


@task_kind(
    "choose-move",
    aside="several",
    words="""
    terse: {among}, {word} {field}: {state} to {after}.
    terse: To {after}: that of the {among} with the {word} {field}.
    en: [Find|Take|Look for] the {one} with the {word} {field} [among|of] all {among} and [bring it to|move it on to] the {state} {after}.
    en: [Please see to it that|Make sure that|I want to find that] the one of the {among} with the {word} {field} has the {state} {after}.
    en: Of the {many} where {conditions}, the one with the {word} {field} [comes next|is due]: its {state} [should become|is to be] {after}.
    en: [I do not know its {name}|I forget its {name}], but it is the one of the {among} with the {word} {field}; [its {state} should be|bring its {state} to] {after}.
    en: [Under|In] {view}, {after} is the right {state} for one of the {among}: the one with the {word} {field}. [Update it|Please update it].
    en: [When|Once] you have found the {one} with the {word} {field} among the {among}, [change|take] it to {state} {after}.
    de: Bringe unter {among} den Eintrag, bei dem {field} am {word} ist, auf {state} {after}.
    fr: Parmi {among}, fais passer à {state} {after} l'élément dont {field} a la valeur la {word}.
    es: Entre {among}, lleva a {state} {after} el elemento con el valor {word} de {field}.
    """,
)
def choose_move(setting: Setting, random: Random) -> Draft | None:
    """Ask to move the row with the largest or smallest value among those that meet conditions to another state."""
    ordered = draw_ordered(
        setting,
        random,
        _CHOSEN,
        (2, 1),
        can=lambda one: setting.world.workflow(one.name) is not None,
    )
    if ordered is None:
        return None
    entity, row = ordered.part.entity, ordered.rows[0]
    flow = setting.world.workflow(entity.name)
    known = () if flow is None else find_ways(flow.transitions, str(row[flow.field]))
    if flow is None or not known:
        return None
    way = random.choice(known)
    return Draft(
        {
            **words_of_part(setting, ordered.part, ordered),
            "state": name_field(entity.field(flow.field)),
            "after": quote(way[-1].after),
        },
        changes(entity, (row, {flow.field: way[-1].after}), read=list_to_read(setting, ordered)),
        (
            *to_first(setting, ordered),
            *take_steps(setting, *way),
            answer(),
        ),
        near=ordered.part.near,
    )
