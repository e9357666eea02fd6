"""Kinds of tasks that ask for rows by their rank."""

from collections.abc import Sequence
from random import Random

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.mentions import TermSaid
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
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


@task_kind("rank", aside="several")
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
        {**words_of_part(setting, ordered.part, ordered), "place": TermSaid(_PLACES[place])},
        Expectation(
            answer=reply,
            facts=first_titles(setting, ordered, place + 1),
            read=list_to_read(setting, ordered),
        ),
        (
            *to_ordered(setting, ordered, ordered.rows[: place + 1]),
            answer(
                reply,
                sentence(
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


@task_kind("rank-three", aside="several")
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
                sentence(
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
