"""Finds questions and nouns around rows, as `who does Ann work for` and `the company Ann works for`, and names their fields."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.senses import Key, Sense, Sort
from generators.tasks.resolver.spoken import RowPhrase
from generators.tasks.resolver.tokens import stem
from generators.tasks.resolver.words import Cue, Words

_DEEPEST = 4
"""So many phrases around one row are looked for."""


class _Unit(NamedTuple):
    """The words of a row: its name, or a noun for a row that a link leads to."""

    start: int
    end: int
    sentence: int
    entities: frozenset[str]


class _Match(NamedTuple):
    """Phrases of one length around a row, at one place."""

    start: int
    """The place of the first word."""
    row: int
    """The place of the row's first word."""
    end: int
    """The place behind the last word."""
    found: tuple[RowPhrase, ...]


def with_row_phrases(
    items: Sequence[Item], words: Key, phrases: Sequence[RowPhrase], language: Words
) -> list[Item]:
    """Return the mentions with each phrase around a row as the name of its field, numbered anew."""
    told, stems = list(items), tuple(stem(word, language.endings) for word in words)
    reached = frozenset[str]()
    for unit in (*_units(items, words, language), *_pronouns(items, words, language)):
        at: _Unit | None = unit
        if words[unit.start] in language.pronouns:
            at = unit._replace(entities=unit.entities | reached)
        for _ in range(_DEEPEST):
            match = None if at is None else _match(told, words, stems, at, (phrases, language))
            if at is None or match is None or _is_known(told, at, match):
                break
            told = _replace(told, at, match)
            targets = frozenset(one.target for one in match.found if one.target)
            reached |= targets
            at = _Unit(match.start, match.end, at.sentence, targets) if targets else None
    return [item._replace(number=number) for number, item in enumerate(told)]


def _units(items: Sequence[Item], words: Key, language: Words) -> Iterator[_Unit]:
    """Yield the named rows, and the nouns of certain ones."""
    for item in items:
        entities = frozenset(one.entity for one in item.senses if one.sort in TITLES)
        if entities:
            yield _Unit(item.place, item.end, item.sentence, entities)
        nouns = frozenset(one.entity for one in item.senses if one.sort is Sort.ONE)
        if nouns and item.place and words[item.place - 1] in language.articles:
            yield _Unit(item.place, item.end, item.sentence, nouns)


def _pronouns(items: Sequence[Item], words: Key, language: Words) -> Iterator[_Unit]:
    """Yield the words that stand for a row which a goal names anywhere."""
    named = frozenset(s.entity for one in items for s in one.senses if s.sort in TITLES)
    marks, sentence = {item.place: item for item in items}, 0
    for place, word in enumerate(words):
        sentence = marks[place].sentence if place in marks else sentence
        if named and word in language.pronouns:
            yield _Unit(place, place + 1, sentence, named)


def _starts(items: Sequence[Item], words: Key, unit: _Unit, language: Words) -> Iterator[int]:
    """Yield where the words of a row may begin: with its noun, and with the article."""
    yield unit.start
    at = unit.start
    noun = next((one for one in items if one.end == at and one.has(Sort.ONE)), None)
    if noun is not None and not unit.entities.isdisjoint(_ones(noun)):
        at = noun.place
        yield at
    if at > 0 and words[at - 1] in language.articles:
        yield at - 1


def _ones(noun: Item) -> set[str]:
    return {one.entity for one in noun.senses if one.sort is Sort.ONE}


def _match(
    items: Sequence[Item],
    words: Key,
    stems: Key,
    unit: _Unit,
    known: tuple[Sequence[RowPhrase], Words],
) -> _Match | None:
    """Return the longest phrases around a row."""
    phrases, language = known
    best: _Match | None = None
    for row in _starts(items, words, unit, language):
        for one in phrases:
            start, end = row - len(one.before), unit.end + len(one.behind)
            if (
                one.sense.entity not in unit.entities
                or start < 0
                or stems[start:row] != one.before
                or stems[unit.end : end] != one.behind
            ):
                continue
            length = 0 if best is None else best.found[0].length
            if one.length > length:
                best = _Match(start, row, end, (one,))
            elif best is not None and one.length == length and one not in best.found:
                best = best._replace(found=(*best.found, one))
    return best


def _is_known(items: Sequence[Item], unit: _Unit, match: _Match) -> bool:
    """Return whether the name of a field stands already in place of a phrase."""
    places = {*range(match.start, match.row), *range(unit.end, match.end)}
    return any(one.is_alone and one.place in places for one in items)


def _replace(items: Sequence[Item], unit: _Unit, match: _Match) -> list[Item]:
    """Return the mentions with the name of a field in place of what stands in a phrase around a row."""
    before, behind = range(match.start, match.row), range(unit.end, match.end)
    kept = [
        one
        for one in items
        if one.is_alone or (one.place not in before and one.place not in behind)
    ]
    place = before or behind
    is_asked = not any(one.target for one in match.found)
    label = Item(
        0,
        " ".join((*match.found[0].before, "…", *match.found[0].behind)),
        place.start,
        place.stop,
        unit.sentence,
        senses=_senses(match.found),
        cues=frozenset({Cue.TELL}) if is_asked else frozenset(),
        exact=True,
        is_alone=True,
        also=tuple(behind),
    )
    at = next((n for n, one in enumerate(kept) if one.place >= place.start), len(kept))
    return [*kept[:at], label, *kept[at:]]


def _senses(found: Iterable[RowPhrase]) -> tuple[Sense, ...]:
    return tuple(dict.fromkeys(one.sense for one in found))
