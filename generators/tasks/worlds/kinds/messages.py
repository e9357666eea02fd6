"""Kinds of tasks on threads: write a message, with words of the goal or a value of another row."""

from random import Random

from generators.tasks.worlds.ground.changes import (
    reply_rule,
)
from generators.tasks.worlds.ground.new_values import notes
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import NUMBERS, Setting, is_plain, name_field, quote
from generators.tasks.worlds.references.pattern_steps import (
    reply,
)
from generators.tasks.worlds.references.steps import answer, read_row, to_row
from schemas.tasks.expectation import Expectation
from schemas.worlds.field import Kind
from schemas.worlds.patterns import Thread
from schemas.worlds.world import Entity, View

_QUOTED = NUMBERS | {Kind.TEXT, Kind.CHOICE}


@task_kind(
    "write-message",
    aside="one",
    needs=Thread,
    words="""
    terse: {one} {title}: write {text}, then {button}.
    terse: {button} under {title}: {text}.
    terse: {title}: message {text}.
    en: [Please write|Write] {text} under the {one} {title}, and send it with {button}.
    en: [Open|Find|Look up] {title} [under|in] {view} and [leave|add] the message {text} there, by {button}.
    en: The {one} {title} [needs|still lacks] an answer: {text} [Send|Post] just these words with {button}.
    en: [Could you tell|Tell] [those who|all who] read the {one} {title} [this|the following]: {text} [The button is|You send it by] {button}.
    en: [Under|On the page of] {title}, [one of the {many}|which is a {one}], [write|put] {text} and [click|press] {button}.
    en: [I have to leave|I am leaving], so [please answer|answer] the {one} {title} [for me|in my place] with {text}, word for word, and {button}.
    de: Schreibe bei {one} {title} {text} und sende es mit {button}.
    de: Unter {view} braucht {title} diese Nachricht: {text} Sende sie mit {button}.
    fr: Écris {text} sous {one} {title} et envoie avec {button}.
    fr: Dans {view}, ouvre {title} et laisse le message {text} avec {button}.
    es: Escribe {text} en {one} {title} y envíalo con {button}.
    es: En {view}, abre {title} y deja el mensaje {text} con {button}.
    """,
)
def write_message(setting: Setting, random: Random) -> Draft | None:
    """Ask for a message with given words under a named row."""
    for thread, view, entity in _threads(setting, random):
        row = setting.pick(random, entity, setting.namable(view, entity))
        text = random.choice(notes(setting))
        return Draft(
            {
                **setting.names(view, entity, row),
                "text": quote(text),
                "button": quote(thread.reply),
            },
            Expectation(added=(reply_rule(setting, thread, row, text),)),
            (
                *to_row(setting, view, entity, row, reads=()),
                *reply(setting, thread, text),
                answer(),
            ),
        )
    return None


@task_kind(
    "write-fact",
    needs=Thread,
    words="""
    terse: {field} of {other}: write it under {title}, {button}.
    terse: {title}: {button} with the {field} of {other}.
    en: [Please answer|Answer] the {one} {title} with the {field} of {other}: [just that|that and nothing else], as its page shows it. [Send it with|The button is] {button}.
    en: [Look up|Find out] what {other} has as {field}, and [write it|put it] under the {one} {title} as a message, by {button}. [Add no other words.|No other words, please.]
    en: [Somebody asks|They ask] under {title} for the {field} of the {one} {other}. [Reply|Write] there with [exactly|only] what its page says, and {button}.
    en: [Open|Go to] {other} [under|in] {view}, [read|note] its {field}, and [leave|post] that as a message on the page of {title} with {button}.
    en: What {title} [lacks|waits for] is the {field} of another {one}, {other}. [Write|Put] it there [as it stands|word for word] and [press|click] {button}.
    en: [Quote|Copy] the {field} of {other} in a message under {title}, [without anything around it|and leave out all else]; {button} sends it.
    de: Antworte bei {one} {title} mit {field} von {other}, genau so, wie es dort steht, und sende es mit {button}.
    fr: Réponds sous {one} {title} avec {field} de {other}, tel que la page l'affiche, et envoie avec {button}.
    es: Responde en {one} {title} con {field} de {other}, tal como lo muestra su página, y envíalo con {button}.
    """,
)
def write_fact(setting: Setting, random: Random) -> Draft | None:
    """Ask for a message under a named row with another row's value, to be read on its page."""
    for thread, view, entity in _threads(setting, random):
        named = setting.namable(view, entity)
        row = setting.pick(random, entity, named)
        fields = setting.facts(entity, _QUOTED)
        told = [
            (field, other)
            for field in fields
            for other in named
            if other is not row
            and other[field.name] is not None
            and is_plain(setting.fact(entity, field, other))
        ]
        if not told:
            continue
        field, other = random.choice(told)
        text = setting.fact(entity, field, other)
        return Draft(
            {
                **setting.names(view, entity, row),
                "field": name_field(field),
                "other": quote(setting.title(entity, other)),
                "button": quote(thread.reply),
            },
            Expectation(added=(reply_rule(setting, thread, row, text),)),
            (
                *read_row(setting, view, entity, other, (field,)),
                *to_row(setting, view, entity, row, reads=()),
                *reply(setting, thread, text),
                answer(),
            ),
        )
    return None


def _threads(setting: Setting, random: Random) -> list[tuple[Thread, View, Entity]]:
    """Return the threads of entities with rows that a task can name, in random order."""
    return [
        (thread, view, entity)
        for view, entity in setting.places(random)
        if (thread := setting.world.thread(entity.name)) is not None
        and setting.namable(view, entity)
    ]
