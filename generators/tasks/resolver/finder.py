"""Finds what a goal mentions: the longest phrase, number or cue at each word, and texts that fields are to have."""

from collections.abc import Iterator, Sequence
from itertools import count

from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.tokens import STOPS, find_quotes, split
from generators.tasks.resolver.values import Quantity, find_quantities
from generators.tasks.resolver.vocabulary import Sense, Sort, Vocabulary
from generators.tasks.resolver.words import Cue, Words
from schemas.worlds.field import Kind
from schemas.worlds.world import World

_NO_CUES: frozenset[Cue] = frozenset()
_LONGEST, _NEAR = 16, 3
_TEXTS = frozenset({Kind.TEXT, Kind.LONG_TEXT})
_NAMES = (Sort.LABEL, Sort.ONE, Sort.MANY, Sort.VIEW, Sort.PLACE, Sort.DEED, Sort.STEP)
_OPENS = frozenset({Cue.OF, Cue.COND, Cue.UNDER, Cue.TO, Cue.IN})
"""Words behind which another mention ends a text."""


class Finder:
    """Goes through the words of one goal."""

    def __init__(self, world: World, vocabulary: Vocabulary, words: Words, goal: str) -> None:
        self._world, self._vocabulary, self._words = world, vocabulary, words
        self._goal, self._quotes = goal, find_quotes(goal)
        self._tokens = split(goal, self._quotes)
        self.key = tuple(self._spell(token.text) for token in self._tokens)
        """The words, as they are compared."""
        self._quantities = {one.start: one for one in find_quantities(world, words, goal)}

    def items(self) -> list[Item]:
        """Return the mentions, numbered in their order."""
        found = self._merge_tags(self._read_texts(list(self._find())))
        found = list(self._with_strangers(found))
        return [item._replace(number=number) for number, item in zip(count(), found, strict=False)]

    def _spell(self, word: str) -> str:
        """Return the word that is meant, if it is a slip of one of a goal's own words."""
        return word if word in self._vocabulary.words else self._words.slips.get(word, word)

    def _find(self) -> Iterator[Item]:
        at = sentence = 0
        before: Item | None = None
        while at < len(self._tokens):
            item = self._quotation(at) or self._phrase(at, before) or self._mark(at)
            if item is None:
                at += 1
                continue
            found = item._replace(sentence=sentence)
            if Cue.LINK not in item.cues or before is None or not before.has(Sort.LABEL):
                before = found
            yield found
            sentence += item.mark in STOPS - {";"} and bool(item.mark)
            at = item.end

    def _quotation(self, at: int) -> Item | None:
        number = self._tokens[at].quote
        if number < 0:
            return None
        end = at
        while end < len(self._tokens) and self._tokens[end].quote == number:
            end += 1
        text, key = self._quotes[number].text.strip(), self.key[at:end]
        if Cue.IMPOSSIBLE in self._words.cues.get(key, _NO_CUES):
            return Item(0, text, at, end, 0, cues=frozenset({Cue.IMPOSSIBLE}))
        return self._literal(text, at, end)

    def _literal(self, text: str, at: int, end: int) -> Item:
        """Return a text as what it may be in the world, whole."""
        said = find_quantities(self._world, self._words, text)
        whole = next((one for one in said if (one.start, one.end) == (0, len(text))), None)
        senses = self._vocabulary.find(self.key[at:end])
        item = Item(0, text, at, end, 0, quoted=True, senses=senses)
        return item if whole is None else _with(item, whole)

    def _phrase(self, at: int, before: Item | None) -> Item | None:
        """Return the longest mention at a word: a quantity, a phrase of the world, or a cue."""
        length, senses = self._vocabulary.longest(self._plain_words(at))
        said = self._quantities.get(self._tokens[at].start)
        measured = 0 if said is None else self._words_until(at, said.end)
        cued, cues = self._cue(at)
        is_field = Cue.FIELD in cues and before is not None and before.has(Sort.LABEL)
        is_said = before is not None and before.has(Sort.LABEL) and at - before.end <= _NEAR
        is_said = is_said and any(one.sort in {Sort.CHOICE, Sort.FLAG} for one in senses)
        if (not is_said and self._is_common(at, length)) or (
            is_field and before is not None and before.end == at and before.quoted
        ):
            length, senses = 0, ()
        longest = max(length, measured, cued)
        if longest == 0:
            return None
        text = self._goal[self._tokens[at].start : self._tokens[at + longest - 1].end]
        item = Item(0, text, at, at + longest, 0)
        if length == longest:
            item = self._name(item, senses)
        if measured == longest and said is not None:
            item = _with(item, said)._replace(weak=not item.has(*TITLES))
        return item._replace(cues=cues) if cued == longest else item

    def _name(self, item: Item, senses: Sequence[Sense]) -> Item:
        """Return a phrase of the world with what it may be."""
        is_title = any(one.sort in TITLES for one in senses)
        is_exact = item.text[:1].isupper() and self._is_inside(item.place)
        is_meant = item.end - item.place > 1 and is_exact
        many = {Sense(Sort.MANY, one.entity) for one in senses if one.sort is Sort.VIEW}
        told = (*senses, *sorted(many)) if many and not is_exact else tuple(senses)
        return item._replace(senses=told, weak=not is_title and not is_meant, exact=is_exact)

    def _plain_words(self, at: int) -> tuple[str, ...]:
        end = at
        while end < len(self._tokens) and self._tokens[end].quote < 0 and end < at + _LONGEST:
            end += 1
        return self.key[at:end]

    def _words_until(self, at: int, place: int) -> int:
        end = at
        while end < len(self._tokens) and self._tokens[end].start < place:
            end += 1
        return end - at

    def _cue(self, at: int) -> tuple[int, frozenset[Cue]]:
        for length in self._words.lengths.get(self.key[at], ()):
            if at + length > len(self.key):
                continue
            cues = self._words.cues.get(self.key[at : at + length])
            if cues is not None and all(one.quote < 0 for one in self._tokens[at : at + length]):
                return length, cues
        return 0, _NO_CUES

    def _is_common(self, at: int, length: int) -> bool:
        """Return whether a phrase of the world is one of words that mean nothing by themselves, as `in`."""
        some = self._tokens[at : at + length]
        if not all(one.text in self._words.common for one in some):
            return False
        if length and all(one.text in self._words.flags for one in some):
            return False
        is_name = length and self._goal[some[0].start].isupper() and self._is_inside(at)
        return not is_name

    def _is_inside(self, at: int) -> bool:
        """Return whether a word does not begin a sentence."""
        return at > 0 and self._tokens[at - 1].text not in STOPS | {":"}

    def _mark(self, at: int) -> Item | None:
        token = self._tokens[at]
        if token.text.isalnum():
            return None
        is_end = token.end == len(self._goal) or self._goal[token.end] in ' \n"”)'
        if token.text == "." and not is_end:
            return None
        return Item(0, token.text, at, at + 1, 0, mark=token.text)

    def _read_texts(self, items: list[Item]) -> list[Item]:
        """Return the mentions with the texts that stand behind names of fields without quotation marks."""
        out, at = list[Item](), 0
        starts = {item.place: item for item in items}
        for item in items:
            if item.place < at:
                continue
            out.append(item)
            start = self._text_after(item, starts) or self._text_behind_to(item, starts)
            end = None if start is None else self._end_of_text(start, starts)
            if start is None or end is None:
                continue
            out += [one for one in items if item.end <= one.place < start]
            text = self._goal[self._tokens[start].start : self._tokens[end - 1].end]
            weak = Cue.TO in item.cues
            out.append(self._literal(text, start, end)._replace(sentence=item.sentence, weak=weak))
            at = end
        return out

    def _text_after(self, item: Item, starts: dict[int, Item]) -> int | None:
        """Return where a text begins that a named field is to have; None: none does."""
        entities = self._world
        texts = [
            one
            for one in item.senses
            if one.sort is Sort.LABEL and entities.entity(one.entity).field(one.name).kind in _TEXTS
        ]
        if not texts:
            return None
        at = item.end
        while (at in starts and Cue.LINK in starts[at].cues) or self._is_colon(at):
            at = starts[at].end if at in starts and not self._is_colon(at) else at + 1
        if at >= len(self._tokens) or self._tokens[at].quote >= 0:
            return None
        there = starts.get(at)
        first = self._goal[self._tokens[at].start]
        is_title = there is not None and there.has(*TITLES, Sort.TEXT)
        is_word = first.islower() and not self._is_code(at) and not is_title
        if there is not None and there.mark == "+":
            return at
        if is_word or (there is not None and (there.mark or self._is_other(there, texts))):
            return None
        return at

    def _text_behind_to(self, item: Item, starts: dict[int, Item]) -> int | None:
        """Return where a text of no known words begins behind `to`, as a code does; None: there is none."""
        at = item.end
        if Cue.TO not in item.cues or at in starts or at >= len(self._tokens):
            return None
        is_text = self._tokens[at].quote < 0 and (self._is_code(at) or self._is_upper(at))
        return at if is_text and self._tokens[at].text not in self._words.common else None

    def _is_colon(self, at: int) -> bool:
        return at < len(self._tokens) and self._tokens[at].text == ":"

    def _is_code(self, at: int) -> bool:
        """Return whether what stands at a word up to the next space has more than letters in it, as addresses have."""
        chunk = self._goal[self._tokens[at].start :].split(maxsplit=1)[0].rstrip(".,;:?!")
        return not chunk.isalpha()

    def _is_upper(self, at: int) -> bool:
        return self._goal[self._tokens[at].start].isupper()

    def _is_other(self, item: Item, labels: Sequence[Sense]) -> bool:
        """Return whether a mention is no beginning of a text: a name of something else, or an order."""
        if item.has(Sort.LABEL, Sort.ONE, Sort.MANY) and not item.exact:
            return True
        texts = {(one.entity, one.name) for one in labels}
        is_known = any(
            one.sort is Sort.TEXT and (one.entity, one.name) in texts for one in item.senses
        )
        return not is_known and not self._is_upper(item.place) and bool(item.cues)

    def _end_of_text(self, start: int, starts: dict[int, Item]) -> int | None:
        """Return where a text ends: before a mark, another field, the row that it is of, or what ends texts."""
        at = start
        while at < len(self._tokens) and self._tokens[at].quote < 0:
            there = starts.get(at)
            if there is not None and at > start:
                if there.mark in STOPS or there.mark in {",", "(", ")", ":"}:
                    break
                if Cue.STAY in there.cues or Cue.NOW in there.cues:
                    break
                if (Cue.AND in there.cues or there.cues & _OPENS) and self._opens(there, starts):
                    break
            at += 1
        return at if at > start else None

    def _opens(self, joint: Item, starts: dict[int, Item]) -> bool:
        """Return whether `and`, `of` or the like is followed by a name of the world, and is no part of a text."""
        at = joint.end
        while (
            at < len(self._tokens)
            and self._tokens[at].text in self._words.common
            and at < joint.end + 2
        ):
            at += 1
        return any(
            place in starts
            and starts[place].has(Sort.LABEL, Sort.ONE, Sort.MANY, Sort.VIEW, *TITLES, Sort.PLACE)
            for place in range(joint.end, at + 1)
        ) or (at < len(self._tokens) and self._tokens[at].quote >= 0)

    def _with_strangers(self, items: list[Item]) -> Iterator[Item]:
        """Yield the mentions with names of rows that there are not: behind the name of an entity, or beside a part."""
        for number, found in enumerate(items):
            item = _of_entity(found, items[number - 1] if number else None)
            behind = items[number + 1] if number + 1 < len(items) else None
            end = len(self._tokens) if behind is None else behind.place
            if item.has(Sort.PART):
                grown = self._grow(item, items[:number], items[number + 1 :])
                yield item if grown is None else grown
                continue
            yield item
            is_name = item.has(Sort.ONE) and not item.quoted
            if (
                is_name
                and end > item.end
                and self._is_upper(item.end)
                and self._tokens[item.end].text not in self._words.common
            ):
                text = self._goal[self._tokens[item.end].start : self._tokens[end - 1].end]
                yield Item(0, text, item.end, end, item.sentence, quoted=True)

    def _grow(self, part: Item, before: Sequence[Item], behind: Sequence[Item]) -> Item | None:
        """Return a part of a title with the strange words beside it, which no title has so; None: there are none."""
        known = {
            place
            for item in (*before, *behind)
            if item.quoted or item.mark or item.cues or item.has(*_NAMES, *TITLES)
            for place in range(item.place, item.end)
        }
        first, last = part.place, part.end
        while first > 0 and self._is_strange(first - 1) and first - 1 not in known:
            first -= 1
        while last < len(self._tokens) and self._is_strange(last) and last not in known:
            last += 1
        if (first, last) == (part.place, part.end):
            return None
        text = self._goal[self._tokens[first].start : self._tokens[last - 1].end]
        return Item(0, text, first, last, part.sentence, quoted=True)

    def _is_strange(self, at: int) -> bool:
        token = self._tokens[at]
        is_word = token.text.isalnum() and token.text not in self._words.common
        return is_word and token.quote < 0

    def _merge_tags(self, items: list[Item]) -> list[Item]:
        """Return the mentions with tags of one field that stand in a list as one."""
        out = list[Item]()
        for item in items:
            tags = {(one.entity, one.name) for one in item.senses if self._is_tag(one)}
            joint = out[-1] if out and (out[-1].mark == "," or Cue.AND in out[-1].cues) else None
            first = next((one for one in reversed(out) if one is not joint and not one.cues), None)
            if joint is not None and first is not None and tags and first is out[-2]:
                shared = {
                    (one.entity, one.name) for one in first.senses if self._is_tag(one)
                } & tags
                if shared:
                    senses = tuple(one for one in first.senses if (one.entity, one.name) in shared)
                    text = f"{first.text}, {item.text}"
                    out[-2:] = [first._replace(text=text, end=item.end, senses=senses)]
                    continue
            out.append(item)
        return out

    def _is_tag(self, sense: Sense) -> bool:
        if sense.sort is not Sort.CHOICE:
            return False
        return self._world.entity(sense.entity).field(sense.name).kind is Kind.TAGS


def _of_entity(item: Item, before: Item | None) -> Item:
    """Return the name of a row as one of the entity that stands right before it, if it is of several."""
    if before is None or before.quoted or before.end != item.place or not item.has(*TITLES):
        return item
    entities = {one.entity for one in before.senses if one.sort is Sort.ONE}
    kept = tuple(one for one in item.senses if one.sort in TITLES and one.entity in entities)
    others = tuple(one for one in item.senses if one.sort not in TITLES)
    return item._replace(senses=(*kept, *others)) if kept else item


def _with(item: Item, said: Quantity) -> Item:
    return item._replace(
        whole=said.whole, cents=said.cents, day=said.day, is_unclear=said.is_unclear
    )
