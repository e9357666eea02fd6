"""Finds the names of rows to add, where a goal gives them without that of their field: `a new client: Ann Lee, …`."""

from collections.abc import Callable, Iterator, Sequence

from generators.tasks.resolver.goal_text import GoalText
from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.tokens import STOPS
from generators.tasks.resolver.words import Cue, Words
from schemas.worlds.world import World

_NEAR, _FAR = 4, 12
"""So many words may stand between `new` and a noun, and between the noun and a colon."""

_ENDS = STOPS | {",", ";", "(", ":"}


def new_nouns(items: Sequence[Item], world: World) -> Iterator[tuple[Item, str]]:
    """Yield the nouns of rows that a goal says are new, with their entity."""
    for number, item in enumerate(items):
        if Cue.NEW not in item.cues:
            continue
        for behind in items[number + 1 :]:
            if behind.place - item.end > _NEAR or behind.mark or behind.is_value:
                break
            entity = _entity(behind, world)
            if entity:
                yield behind, entity
                break
        else:
            continue
        before = items[number - 1] if number else None
        entity = "" if before is None or before.end != item.place else _entity(before, world)
        if before is not None and entity:
            yield before, entity  # `two rentals are missing`


def _entity(item: Item, world: World) -> str:
    nouns = (one.entity for one in item.senses if one.sort in {Sort.ONE, Sort.MANY})
    return next((one for one in nouns if world.entity(one).can_add), "")


class NewNames:
    """Finds the names of new rows in one goal."""

    def __init__(
        self, world: World, text: GoalText, words: Words, literal: Callable[..., Item]
    ) -> None:
        """Find names behind the nouns of new rows; in languages where nouns stand last there are none."""
        self._world, self._text, self._common, self._literal = world, text, words.common, literal
        self._idle = words.idle
        self._has_nouns_last = words.is_head_last

    def read(self, items: list[Item]) -> list[Item]:
        """Return the mentions with the names of new rows."""
        noun, entity = next(new_nouns(items, self._world), (None, ""))
        if noun is None or self._has_nouns_last:
            return items
        opener = self._opener(items, noun)
        if opener is None:
            return items
        opens = [opener, *(one for one in items if one.mark == ";" and one.place > opener.place)]
        out = items
        for one in opens:
            out = self._with_name(out, one, entity)
        return out

    def _opener(self, items: Sequence[Item], noun: Item) -> Item | None:
        """Return the mark behind which the first new row is told: a colon, or what stands right behind the noun."""
        marks = [one for one in items if one.mark and one.place >= noun.end]
        colon = next((one for one in marks if one.mark == ":"), None)
        is_label = bool(marks) and marks[0].mark == "("  # `a room (floor: 2)`
        if colon is not None and colon.place - noun.end <= _FAR and not is_label:
            inside = (one for one in items if noun.end <= one.place < colon.place)
            if not any(one.is_value and not one.weak for one in inside):
                return colon
        first = marks[0] if marks else None
        if first is None:
            return None
        between = self._text.key[noun.end : first.place]
        return first if all(word in self._common for word in between) else None

    def _with_name(self, items: list[Item], opener: Item, entity: str) -> list[Item]:
        start, end = opener.end, opener.end
        tokens = self._text.tokens
        marks = {one.place: one.mark for one in items if one.mark}
        while end < len(tokens) and (tokens[end].quote >= 0 or marks.get(end, "") not in _ENDS):
            end += 1
        if end == start or marks.get(end, "") == ":" or not self._is_name(items, start, end):
            return items
        inside = [one for one in items if start <= one.place < end]
        text = self._text.between(start, end)
        if len(inside) == 1 and inside[0].quoted:
            named = inside[0]._replace(new=entity)
        else:
            sentence = inside[0].sentence if inside else opener.sentence
            named = self._literal(text, start, end)._replace(sentence=sentence, new=entity)
        kept = [one for one in items if one not in inside]
        at = sum(one.place < start for one in kept)
        return [*kept[:at], named, *kept[at:]]

    def _is_name(self, items: Sequence[Item], start: int, end: int) -> bool:
        """Return whether words are a name: neither that of a field with its value, nor what is said of a row."""
        first = next((one for one in items if one.place == start), None)
        if first is not None and first.quoted:
            return first.end == end
        if first is not None and first.cues & {Cue.TIMES, Cue.NOISE}:
            return False
        is_label = first is not None and (first.has(Sort.LABEL) or Cue.FIELD in first.cues)
        if first is not None and is_label and first.end < end:
            return False
        is_word = self._text.tokens[start].text in self._common | self._idle
        return self._text.is_upper(start) or not is_word
