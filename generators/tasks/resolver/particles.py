"""What stands beside a value, a field or a row: particles, bounds and nouns, and words that are written with others."""

from collections.abc import Sequence

from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.passage import Passage
from generators.tasks.resolver.place import Place
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.spoken import Frame
from generators.tasks.resolver.tokens import STOPS
from generators.tasks.resolver.words import Cue

_BARS = STOPS | {"(", ")", ">", "/"}
"""Marks that part a value from the noun that it describes."""

_BACK = 6
"""So many mentions before a row say that others are to be like it."""

_LEAST = 4
"""So many letters has a word that says enough of a value behind it."""


def end_of(passage: Passage, value: Item) -> int:
    """Return where the words of a value end: behind its bound, where that stands behind it."""
    behind = passage.items[value.number + 1 : value.number + 2]
    if not passage.is_head_last or not value.is_measure or not behind:
        return value.end
    is_bound = behind[0].place == value.end and behind[0].cues & {Cue.ABOVE, Cue.BELOW}
    return behind[0].end if is_bound else value.end


def is_like(passage: Passage, row: Item) -> bool:
    """Return whether words right behind a row say that something is to be as it is there."""
    behind = passage.items[row.number + 1 : row.number + 2] if passage.is_head_last else ()
    return any(Cue.SAME in one.cues and one.place == row.end for one in behind)


def is_said(passage: Passage, label: Item) -> bool:
    """Return whether a particle or a mark says that a noun is the name of a field."""
    behind = passage.items[label.number + 1 : label.number + 2]
    return any(one.mark == ":" or one.quoted or one.cues & {Cue.SAY, Cue.LINK} for one in behind)


def cuts(passage: Passage, *places: int) -> bool:
    """Return whether some places are within a mention."""
    return any(
        one.place < place < one.end and not one.cues for one in passage.items for place in places
    )


def precedes_noun(passage: Passage, place: Place, value: Item, frame: Frame) -> bool:
    """Return whether what is said in a sign, or in none, stands before a noun of rows that have the field, behind `の` or the like."""
    field = place.world.entity(frame.sense.entity).field(frame.sense.name)
    is_link = any(one.sort in TITLES and one.entity == field.target for one in value.senses)
    if not frame.length and not is_link and not value.is_measure:
        return False
    at = end_of(passage, value) + len(frame.behind)
    behind = passage.items[value.number + 1 :]
    joint = next((one for one in behind if one.place >= at), None)
    is_bound = at > value.end + len(frame.behind)
    if joint is None or joint.place != at or not (is_bound or joint.cues & {Cue.OF, Cue.COND}):
        return False
    nouns = (one for one in behind if one.sentence == value.sentence)
    noun = next((one for one in nouns if one.has(Sort.ONE) or one.mark in _BARS), None)
    if noun is None or (noun.place == joint.end and _owns(value, noun)):
        return False
    return any(one.sort is Sort.ONE and one.entity == frame.sense.entity for one in noun.senses)


def _owns(row: Item, noun: Item) -> bool:
    """Return whether a noun is also the name of a field that a row has."""
    entities = {one.entity for one in row.senses if one.sort in TITLES}
    return any(one.sort is Sort.LABEL and one.entity in entities for one in noun.senses)


def choice_before(passage: Passage, label: Item, value: Item) -> Item:
    """Return the name right before a link's instead of it, if a value is a choice of that field: `the rank of the author`."""
    before = passage.before(label)
    if not passage.has_article or before is None or before.end != label.place:
        return label
    choices = {(one.entity, one.name) for one in value.senses if one.sort is Sort.CHOICE}

    def is_choice_of(item: Item) -> bool:
        return any((one.entity, one.name) in choices for one in item.senses)

    return before if is_choice_of(before) and not is_choice_of(label) else label


def is_telling(frame: Frame, prefixes: Sequence[frozenset[str]]) -> bool:
    """Return whether a word before a value says enough, as one with a word written before it does: `بتقييم`."""
    word = "".join(frame.before)
    is_joined = any(word[:1] in some for some in prefixes)
    return is_joined and len(frame.before) == 1 and len(word) >= _LEAST


def is_source(passage: Passage, value: Item) -> bool:
    """Return whether a row is the one that others are to be like: `the same kind as X`."""
    for before in reversed(passage.items[max(0, value.number - _BACK) : value.number]):
        if before.mark or before.is_value:
            return False
        if Cue.SAME in before.cues:
            return True
    return False


def is_equated(between: Sequence[Item]) -> bool:
    """Return whether words between a field and what follows say that this is its value, or there are none."""
    return not between or any(one.cues & {Cue.LINK, Cue.TO, Cue.AS} for one in between)


def is_name(label: Item, value: Item) -> bool:
    """Return whether a name of a field is also that of the row's entity: `the Title "A house"`."""
    entities = {sense.entity for sense in value.senses if sense.sort in TITLES}
    return any(one.sort is Sort.ONE and one.entity in entities for one in label.senses)


def is_before_value(before: Item, value: Item) -> bool:
    """Return whether a mention right before a value belongs to it: a bound, `a day`, or the noun of its row."""
    if before.quoted:
        return False
    if before.cues & {Cue.ABOVE, Cue.BELOW} and value.is_measure:
        return True
    if Cue.ANY in before.cues and value.day is not None:
        return True
    nouns = {one.entity for one in before.senses if one.sort is Sort.ONE}
    return any(one.entity in nouns for one in value.senses if one.sort in TITLES)


def is_tight(passage: Passage, value: Item, joint: Item) -> bool:
    """Return whether `under` stands right behind a value, and is no bound: `have A under B`."""
    before = passage.before(value)
    is_had = before is not None and before.cues & {Cue.PLAIN, Cue.COND, Cue.SET, Cue.AND}
    return bool(is_had) and joint.place == value.end and joint.end - joint.place == 1
