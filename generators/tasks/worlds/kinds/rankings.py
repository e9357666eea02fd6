"""Kinds of tasks that ask for rows by their rank."""

from collections.abc import Sequence
from random import Random

from generators.policy.sentences.vary import said
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import (
    Setting,
    term,
)
from generators.tasks.worlds.kinds.answers import is_asked_for
from generators.tasks.worlds.references.sorted_lists import (
    draw_ordered,
    first_titles,
    list_to_read,
    to_ordered,
    words_of_part,
)
from generators.tasks.worlds.references.steps import (
    answer,
)
from generators.worlds.words.catalogue import catalogue
from schemas.tasks.expectation import Expectation, Matches

_PLACES = {1: "second", 2: "third", 3: "fourth", 4: "fifth"}


@task_kind(
    "rank",
    aside="several",
    words="""
    terse: {among} by {field}, {word} first: {name} of the {place}?
    terse: {place} of {among} by {field}, {word} first?
    en: [Put|Imagine] the {among} in order of {field}, the {word} first. What is the {name} of the {place}?
    en: [Sorted|Ordered] by {field} with the {word} first, which of the {among} is the {place}? [Answer with|Give me] its {name}.
    en: [Please tell me|Tell me|Find out] which of the {among} comes {place} by {field}, when the {word} comes first; [its {name} is enough|the {name} alone].
    en: The first of the {among} by {field} ([the {word}|{word} first]) [is known|I know already]. [I need|Give me] the {name} of the {place} in that order.
    en: [From|Out of] {view}, [take|look at] the {among}; go by {field}, {word} first, and [answer with|tell me] the {name} of the {place}.
    en: [There is a list|I made a list] of the {among} by {field}, {word} first, and its {place} line [is unreadable|got lost]. Which {name} [stood|belongs] there?
    de: {among}, nach {field} geordnet, beginnend mit dem {word} Wert: {name} von Platz {place}?
    de: Ordne {among} nach {field}, beginnend mit dem {word} Wert. [Nenne mir|Sag mir] {name} von Platz {place}.
    fr: {among}, dans l'ordre de {field}, en commençant par la valeur la {word} : {name} du {place} ?
    es: {among}, por orden de {field}, empezando por el valor {word}: ¿{name} del {place}?
    """,
)
def rank_place(setting: Setting, random: Random) -> Draft | None:
    """Ask for the row of a part of a list that is second, third, fourth or fifth in an order."""
    ordered = draw_ordered(setting, random, range(5, 30), (1, 1, 2))
    if ordered is None:
        return None
    place = random.choice(sorted(_PLACES))
    reply = setting.title(ordered.part.entity, ordered.rows[place])
    if not is_asked_for(reply):
        return None
    return Draft(
        {**words_of_part(setting, ordered.part, ordered), "place": term(_PLACES[place])},
        Expectation(
            answer=reply,
            facts=first_titles(setting, ordered, place + 1),
            read=list_to_read(setting, ordered),
        ),
        (
            *to_ordered(setting, ordered, ordered.rows[: place + 1]),
            answer(
                reply,
                said(
                    "kinds.rank",
                    field=ordered.field.label,
                    word=ordered.word,
                    place=_PLACES[place],
                    told=ordered.in_words(setting, place),
                ),
            ),
        ),
        "computed",
        near=ordered.part.near,
    )


@task_kind(
    "rank-three",
    aside="several",
    words="""
    terse: {among}: first three by {field}, {word} first?
    terse: First three of {among} by {field}, {word} first: {name}?
    en: Which three of the {among} [come first|are the first] by {field}, the {word} first? [Answer with|Give me] their {name}, in this order.
    en: [Please list|List|Name] the first three of the {among} in order of {field}, [beginning with the {word}|the {word} first], by their {name}.
    en: [For the notice board|For a slide|For {person2}] I need three lines, [each with|each] the {name} of one of the {among}: the three [at the head of|that lead] the list by {field}, {word} first.
    en: [Go through|Look through] the {among} [under {view}|in {site}] and [tell me|answer with] the {name} of the one with the {word} {field}, then of the next, then of the third.
    en: [Sort|Order] the {among} by {field}, {word} first, and [answer with|read me|send me] the {name} of the first, the second and the third, [in this order|one after another].
    en: [We honour|We mention|We write to] three of the {among}: those that come first by {field}, {word} first. [Who are they, in order?|Give the {name} of each, in order.]
    de: Nenne die ersten drei von {among} nach {field}, beginnend mit dem {word} Wert, in dieser Reihenfolge ({name}).
    fr: Donne, dans l'ordre, les trois premiers de {among} par {field}, en commençant par la valeur la {word} ({name}).
    es: Nombra por orden los tres primeros de {among} según {field}, empezando por el valor {word} ({name}).
    """,
)
def rank_three(setting: Setting, random: Random) -> Draft | None:
    """Ask for the first three rows of a part of a list, in order."""
    ordered = draw_ordered(setting, random, range(5, 30), (1, 1, 2))
    if ordered is None:
        return None
    titles = first_titles(setting, ordered, 3)
    if not all(map(is_asked_for, titles)):
        return None
    return Draft(
        words_of_part(setting, ordered.part, ordered),
        Expectation(
            answer=Matches(matches=_in_order(setting, titles)),
            facts=titles,
            read=list_to_read(setting, ordered),
        ),
        (
            *to_ordered(setting, ordered, ordered.rows[:3]),
            answer(
                ", ".join(titles),
                said(
                    "kinds.rank_three",
                    field=ordered.field.label,
                    word=ordered.word,
                    told="; ".join(ordered.in_words(setting, place) for place in range(3)),
                ),
            ),
        ),
        "computed",
        near=ordered.part.near,
    )


def _in_order(setting: Setting, titles: Sequence[str]) -> str:
    """Return a pattern of the titles in order, separated by commas, numbers, lines or the world's word for and.

    Some languages write that word as a part of the word beside it.
    """
    joins = _literally(catalogue(setting.world.language).say("contents.and"))
    gap = rf"(?:\W+(?:(?:{joins}|\d)\W+)*(?:{joins})?|{joins})"
    told = gap.join(map(_literally, titles))
    return rf"(?i)\W*(?:1\W+)?{told}\W*"


def _literally(text: str) -> str:
    return "".join(
        one if one.isalnum() or not one.isascii() else rf"\x{ord(one):02x}" for one in text
    )
