"""Finds the names of rows that there are not: behind the name of an entity, or beside a part of a title."""

from collections.abc import Iterator, Sequence

from generators.tasks.resolver.goal_text import GoalText
from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.words import Words

_NEAR = 3
_NAMES = (Sort.LABEL, Sort.ONE, Sort.MANY, Sort.VIEW, Sort.PLACE, Sort.DEED, Sort.STEP)


class Strangers:
    """The names in one goal that the world does not have."""

    def __init__(self, words: Words, text: GoalText) -> None:
        self._words, self._text = words, text

    def added_to(self, items: list[Item]) -> Iterator[Item]:
        """Yield the mentions with names of rows that there are not: behind the name of an entity, or beside a part."""
        for number, found in enumerate(items):
            item = _of_entity(found, items[number - 1] if number else None)
            behind = items[number + 1] if number + 1 < len(items) else None
            end = len(self._text.tokens) if behind is None else behind.place
            if item.has(Sort.PART):
                grown = self._grow(item, items[:number], items[number + 1 :])
                yield self._without_end(item) if grown is None else grown
                continue
            yield item
            is_name = item.has(Sort.ONE) and not item.quoted
            if is_name and behind is not None and self._is_number_of(item, behind):
                text = self._text.between(item.place, behind.end)
                yield Item(0, text, item.end, behind.place, item.sentence, quoted=True)
                continue
            if (
                is_name
                and end > item.end
                and self._text.is_upper(item.end)
                and self._text.tokens[item.end].text not in self._words.common
            ):
                text = self._text.between(item.end, end)
                yield Item(0, text, item.end, end, item.sentence, quoted=True)

    def _is_number_of(self, noun: Item, number: Item) -> bool:
        """Return whether a number right behind a noun is that of a row which there is not."""
        is_number = number.place == noun.end and number.text.isdigit()
        return is_number and len(number.text) > _NEAR and not noun.has(Sort.LABEL)

    def names_beside(self, items: Sequence[Item]) -> tuple[str, ...]:
        """Return the names of several words that are no mentions: within a sentence, each with a capital letter."""
        known = {place for item in items for place in range(item.place, item.end)}
        out, start = list[str](), 0
        for at in range(len(self._text.tokens) + 1):
            if at < len(self._text.tokens) and self._is_name(at) and at not in known:
                continue
            if at - start > 1:
                out.append(self._text.between(start, at))
            start = at + 1
        return tuple(out)

    def _is_name(self, at: int) -> bool:
        return self._text.is_strange(at) and self._text.is_upper(at) and self._text.is_inside(at)

    def _without_end(self, part: Item) -> Item:
        """Return a part of a title as it is; one whose last word means nothing, as `the key for`, as a name of nothing."""
        if self._text.tokens[part.end - 1].text not in self._words.common:
            return part
        return part._replace(quoted=True, senses=())

    def _grow(self, part: Item, before: Sequence[Item], behind: Sequence[Item]) -> Item | None:
        """Return a part of a title with the strange words beside it, which no title has so; None: there are none."""
        known = {
            place
            for item in (*before, *behind)
            if item.quoted or item.mark or item.cues or item.has(*_NAMES, *TITLES)
            for place in range(item.place, item.end)
        }
        first, last = part.place, part.end
        while first > 0 and self._text.is_strange(first - 1) and first - 1 not in known:
            first -= 1
        while last < len(self._text.tokens) and self._text.is_strange(last) and last not in known:
            last += 1
        if (first, last) == (part.place, part.end):
            return None
        text = self._text.between(first, last)
        return Item(0, text, first, last, part.sentence, quoted=True)


def _of_entity(item: Item, before: Item | None) -> Item:
    """Return the name of a row as one of the entity that stands right before it, if it is of several."""
    if before is None or before.quoted or before.end != item.place or not item.has(*TITLES):
        return item
    entities = {one.entity for one in before.senses if one.sort is Sort.ONE}
    kept = tuple(one for one in item.senses if one.sort in TITLES and one.entity in entities)
    others = tuple(one for one in item.senses if one.sort not in TITLES)
    return item._replace(senses=(*kept, *others)) if kept else item
