"""Puts together the mentions of a goal that stand side by side: a name in brackets, a number behind its noun, the signs of a street."""

from collections.abc import Callable, Iterator, Sequence

from generators.tasks.resolver.goal_text import GoalText
from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.tokens import key_of
from generators.tasks.resolver.vocabulary import Vocabulary
from generators.tasks.resolver.words import Cue
from schemas.worlds.world import World

_BRACKETED = 4


def once(items: list[Item]) -> Iterator[Item]:
    """Yield the mentions without a day in brackets that repeats the one before them."""
    skipped = -1
    for number, item in enumerate(items):
        if number <= skipped:
            continue
        behind = items[number + 1 : number + 4]
        marks = [one.mark for one in behind]
        if item.day is not None and marks == ["(", "", ")"] and behind[1].day == item.day:
            skipped = number + len(behind)
        yield item


def merge_brackets(items: list[Item]) -> list[Item]:
    """Return the mentions with names of one field, of which the second stands in brackets, as one: `author ("By")`."""
    out = list[Item]()
    for item in items:
        out.append(item)
        if item.mark != ")" or len(out) < _BRACKETED:
            continue
        label, opens, other, _ = out[-_BRACKETED:]
        shared = tuple(
            one for one in label.senses if one in other.senses and one.sort is Sort.LABEL
        )
        if shared and opens.mark == "(" and other.quoted:
            out[-_BRACKETED:] = [label._replace(end=item.end, senses=shared, exact=True)]
    return out


def with_numbers(world: World, vocabulary: Vocabulary, items: Sequence[Item]) -> Iterator[Item]:
    """Yield the mentions with a number in quotation marks behind a noun as the row of that: `the order "3048"`."""
    for number, item in enumerate(items):
        before = items[number - 1] if number else None
        is_number = item.quoted and item.text.isdigit()
        if before is None or not is_number or before.end != item.place:
            yield item
            continue
        nouns = (one.entity for one in before.senses if one.sort is Sort.ONE)
        names = (f"{world.entity(one).one} {item.text}" for one in nouns)
        found = (one for name in names for one in vocabulary.find(key_of(name)))
        named = tuple(one for one in found if one.sort in TITLES)
        yield item._replace(senses=named, whole=None, cents=None) if named else item


def with_signs_before(
    text: GoalText, literal: Callable[[str, int, int], Item], items: Sequence[Item]
) -> Iterator[Item]:
    """Yield the mentions with a code that signs stand right before, as those of a street, with these."""
    end = 0
    for item in items:
        start = item.place
        is_code = item.is_literal and text.tokens[item.place].quote < 0
        while is_code and end < start and text.is_strange(start - 1):
            start -= 1
        if start < item.place:
            said = literal(text.between(start, item.end), start, item.end)
            yield said._replace(sentence=item.sentence)
        else:
            yield item
        end = item.end


def states_or_fields(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the mentions with what is a field and the state of a row as one of these: a state, if `の` or a noun is behind it."""
    for number, item in enumerate(items):
        states = tuple(one for one in item.senses if one.sort is Sort.CHOICE)
        labels = tuple(one for one in item.senses if one.sort is Sort.LABEL)
        if not states or not labels or item.quoted:
            yield item
            continue
        own = {(one.entity, one.name) for one in labels}
        if any((one.entity, one.name) in own for one in states):
            behind = next((one for one in items[number + 1 : number + 2]), None)
            is_state = behind is not None and (
                behind.has(Sort.ONE) or bool(behind.cues & {Cue.OF, Cue.COND, Cue.IF, Cue.TO})
            )
        else:
            before = items[max(0, number - 2) : number]
            is_state = bool(before) and before[0].has(Sort.LABEL) and Cue.SAY in before[-1].cues
        others = tuple(one for one in item.senses if one.sort is not Sort.CHOICE)
        yield item._replace(senses=states if is_state else others)
