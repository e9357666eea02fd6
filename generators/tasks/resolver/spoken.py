"""What is said of rows in verbs: predicates around a value, questions and nouns around a row, and verbs of order."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from generators.tasks.resolver.senses import Key, Sense, Sort
from generators.tasks.resolver.tokens import key_of, stem
from generators.tasks.resolver.words import Words
from schemas.worlds.field import DataField
from schemas.worlds.world import Entity, World

_VALUE, _ROW = "{value}", "{row}"
_JOINT = re.compile("\u3014.*?\u3015")
"""A sign in place of which words stand by what comes behind them."""


class Frame(NamedTuple):
    """What is said of rows around a value."""

    before: Key
    """The words before it."""
    behind: Key
    """The words behind it."""
    sense: Sense
    """The field."""
    is_predicate: bool = False
    """Whether it says that a row is so, or is to be so; otherwise it describes a row."""
    is_reduced: bool = False
    """Whether it is a predicate without its `is`, which describes unless that stands before it."""

    @property
    def length(self) -> int:
        """The number of its words."""
        return len(self.before) + len(self.behind)


class RowPhrase(NamedTuple):
    """What is said around a row for a field of it, in the stems of its words."""

    before: Key
    """The words before it."""
    behind: Key
    """The words behind it."""
    sense: Sense
    """The field."""
    target: str
    """The entity of the row that a noun leads to; empty: it is a question."""

    @property
    def length(self) -> int:
        """The number of its words."""
        return len(self.before) + len(self.behind)


def frames_of(world: World, words: Words) -> Iterator[Frame]:
    """Yield what a world says around values."""
    for _, field, sense in _fields(world):
        for phrase in field.that:
            before, value, behind = _bare(phrase).partition(_VALUE)
            if value:
                yield Frame(key_of(before), key_of(behind), sense)
        for phrase in field.does:
            before, value, behind = phrase.partition(_VALUE)
            if value:
                for form in _forms(key_of(before), words):
                    is_whole = {*form[:1]} & (words.be | words.have) - words.reduced
                    is_reduced = before.split()[:1] != [*form[:1]] and not is_whole
                    told = Frame(form, key_of(behind), sense, is_predicate=True)
                    if form or told.behind:
                        is_be = {*key_of(before)[:1]} & (words.be | words.have)
                        yield told._replace(is_reduced=bool(is_be) and is_reduced)


def frames_at(
    frames: Iterable[Frame], said: Key, end: int, places: Sequence[tuple[int, bool]], words: Words
) -> Iterator[Frame]:
    """Yield the frames whose words next to a value may be there, which few of many are.

    The value begins at one of the places, each with whether a bound is there, and stands up to `end`.
    """
    last = {said[place - 1] for place, _ in places if place}
    joints = words.joints if any(is_bound for _, is_bound in places) else frozenset[str]()
    behind = said[end : end + 1]
    for one in frames:
        is_before = not one.before or one.before[-1] in last or one.before[-1] in joints
        if is_before and one.behind[:1] in {(), behind}:
            yield one


def row_phrases_of(world: World, words: Words) -> Iterator[RowPhrase]:
    """Yield what a world says around rows: questions, and nouns for the rows that links lead to."""
    for _, field, sense in _fields(world):
        for phrase in field.asks:
            for before, behind in _question_sides(phrase, words):
                yield _around(before, behind, sense, "", words)
        for phrase in (*field.leads, *_nouns(field, words)):
            first, _, last = phrase.partition(_ROW)
            yield _around(key_of(first), key_of(last), sense, field.target or "", words)


def ranks_of(entity: Entity, field: DataField, words: Words) -> Iterator[tuple[str, Sense]]:
    """Yield the verbs by which rows compare by a field; the value of a sense is 1 where the most comes first."""
    own = field.ranks
    told = [] if own is None else [(own.more, 1), (own.most, 1), (own.less, 0), (own.least, 0)]
    for phrase, largest in told:
        key = key_of(phrase)
        bare = {key[1:]} if {*key[:1]} & words.have and not {*key[1:]} <= words.known else set()
        for form in _forms(key, words) | bare:
            if len(form) > 1 or form == key:
                yield " ".join(form), Sense(Sort.RANK, entity.name, field.name, largest)


def flag_phrases(field: DataField, words: Words) -> Iterator[str]:
    """Yield what is said of a row for which a flag is on."""
    yield from map(_bare, field.that)
    for phrase in field.does:
        for form in _forms(key_of(phrase), words):
            if len(form) > 1 or form == key_of(phrase):
                yield " ".join(form)


def _bare(phrase: str) -> str:
    """Return what is said of a row without what joins it to the next words, and quotation marks around its value."""
    return _JOINT.sub("", phrase).replace(f"「{_VALUE}」", _VALUE).replace(f"«{_VALUE}»", _VALUE)


def _nouns(field: DataField, words: Words) -> Iterator[str]:
    """Yield the nouns for the row that a link leads to: `the owner of {row}`."""
    for name in (field.label, *field.said):
        if field.target is not None:
            yield from (f"{name} {of} {_ROW}" for of in words.of)
            yield f"{_ROW}'s {name}"


def _fields(world: World) -> Iterator[tuple[Entity, DataField, Sense]]:
    for entity in world.entities:
        for field in entity.fields:
            yield entity, field, Sense(Sort.LABEL, entity.name, field.name)


def _forms(key: Key, words: Words) -> set[Key]:
    """Return the forms of a predicate: `is due`, `are due`, `be due` and `due`, `works for` and `work for`."""
    if not key:
        return {key}
    first, *rest = key
    if first in words.have and rest[:1] and rest[0] in words.be:
        first, *rest = rest
    if first in words.be:
        return {key, tuple(rest), *((one, *rest) for one in words.be)}
    if first in words.have:
        return {key, *((one, *rest) for one in words.have)}
    return {key, (stem(first, words.endings), *rest)}


def _question_sides(phrase: str, words: Words) -> Iterator[tuple[Key, Key]]:
    """Yield the words before and behind the row of a question, as it is and as a part of another: `when {row} is due`."""
    before, behind = (key_of(part) for part in phrase.split(_ROW, 1))
    yield before, behind
    if len(before) > 1 and before[-1] in words.be:
        yield before[:-1], (before[-1], *behind)
    elif len(before) > 1 and before[-1] in words.do and behind:
        yield before[:-1], behind


def _around(before: Key, behind: Key, sense: Sense, target: str, words: Words) -> RowPhrase:
    while before and before[0] in words.articles:
        before = before[1:]

    def stems(key: Key) -> Key:
        return tuple(stem(word, words.endings) for word in key)

    return RowPhrase(stems(before), stems(behind), sense, target)
