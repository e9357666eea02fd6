"""Finds what a goal mentions: the longest phrase, number or cue at each word, and texts that fields are to have."""

import re
from collections.abc import Iterator, Sequence
from itertools import count

from generators.tasks.resolver.genitives import Genitives
from generators.tasks.resolver.goal_text import GoalText
from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.merging import (
    merge_brackets,
    once,
    states_or_fields,
    with_numbers,
    with_signs_before,
)
from generators.tasks.resolver.new_names import NewNames
from generators.tasks.resolver.senses import Sense, Sort
from generators.tasks.resolver.strangers import Strangers
from generators.tasks.resolver.texts import TextReader
from generators.tasks.resolver.tokens import STOPS, spelling_of
from generators.tasks.resolver.values import Quantity, find_quantities
from generators.tasks.resolver.vocabulary import Vocabulary, longest_of
from generators.tasks.resolver.words import Cue, Words
from generators.tasks.resolver.writing import without_gaps
from schemas.worlds.field import Kind
from schemas.worlds.world import World

_NO_CUES: frozenset[Cue] = frozenset()
_NEAR, _TWO = 3, 2
_ITS = (("it",), ("them",))
_NOUNS = frozenset({Sort.ONE, Sort.MANY, Sort.LABEL})
_VERBS = frozenset({Cue.TELL, Cue.COUNT, Cue.SET, Cue.WRITE})
_NO_VALUES = frozenset({Cue.DELETE, Cue.MEAN, Cue.SUM, Cue.NEW, Cue.FREE})
"""What a word does not say as the value of a field that stands before it, as `priority mean`."""
_ROWS = frozenset({*TITLES, Sort.ONE, Sort.MANY, Sort.VIEW})
"""What names rows."""

_CODE = re.compile(
    r"(?<![\w-])(?:[A-Z]{1,3}-?|[A-Z]{2,3} )\d{3,}(?![\w-])"
    r"|(?<![\w.@-])\+?\d+(?:[ -]\d+)+(?![\w-])|(?<![\w.@-])[\w-]+\.[a-z]{3,4}(?![\w.@-])"
    r"|(?<![\w.@+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
)
"""Codes as records have them: letters and a number, several numbers as of telephones, names of files, and addresses."""


class Finder:
    """Goes through the words of one goal."""

    def __init__(self, world: World, vocabulary: Vocabulary, words: Words, goal: str) -> None:
        self._world, self._vocabulary, self._words = world, vocabulary, words
        self._text = GoalText(vocabulary, words, goal)
        self._ranked = set[str]()
        self.key = self._text.key
        """The words, as they are compared."""
        self._texts = TextReader(world, words, self._text, self._literal, vocabulary.predicates)
        self._new_names = NewNames(world, self._text, words, self._literal)
        self._genitives = Genitives(world, vocabulary, self._text)
        self._strangers = Strangers(words, self._text)
        self._quantities = {one.start: one for one in find_quantities(world, words, goal)}

    def items(self) -> list[Item]:
        """Return the mentions, numbered in their order."""
        first = list(self._find())
        self._ranked = {one.entity for item in first for one in item.senses if one.sort in _ROWS}
        words = {*self._text.key, *self._vocabulary.stems(self._text.key)}
        is_ranked = self._ranked and not words.isdisjoint(self._vocabulary.last_of_ranks)
        whole = list(self._find()) if is_ranked else first
        named = self._new_names.read(list(once(merge_brackets(whole))))
        found = self._merge_tags(
            self._texts.read(list(with_numbers(self._world, self._vocabulary, named)))
        )
        if not self._words.has_spaces:
            found = list(with_signs_before(self._text, self._literal, found))
        found = list(self._strangers.added_to(found))
        if self._words.is_head_last:
            found = list(states_or_fields(found))
        return [item._replace(number=number) for number, item in zip(count(), found, strict=False)]

    def strangers(self, items: Sequence[Item]) -> tuple[str, ...]:
        """Return the names of several words that are no mentions."""
        return self._strangers.names_beside(items)

    def _find(self) -> Iterator[Item]:
        at = sentence = 0
        before: Item | None = None
        while at < len(self._text.tokens):
            item = self._quotation(at) or self._phrase(at, before) or self._mark(at)
            item = self._code(at, item) or item
            if item is None:
                at += 1
                continue
            found = item._replace(sentence=sentence)
            is_link = Cue.LINK in item.cues or item.mark == ":"
            if not is_link or before is None or not before.has(Sort.LABEL):
                before = found
            yield found
            sentence += item.mark in STOPS - {";"} and bool(item.mark)
            at = item.end

    def _quotation(self, at: int) -> Item | None:
        number = self._text.tokens[at].quote
        if number < 0:
            return None
        end = at
        while end < len(self._text.tokens) and self._text.tokens[end].quote == number:
            end += 1
        text, key = self._text.quotes[number].text.strip(), self._text.key[at:end]
        if Cue.IMPOSSIBLE in self._words.cues.get(key, _NO_CUES):
            return Item(0, text, at, end, 0, cues=frozenset({Cue.IMPOSSIBLE}))
        return self._literal(text, at, end)

    def _code(self, at: int, there: Item | None) -> Item | None:
        """Return a code that the world does not have, as `K2040`, as a text; None: none stands here."""
        found = _CODE.match(self._text.goal, self._text.tokens[at].start)
        if found is None or self._text.tokens[at].quote >= 0:
            return None
        end = at + self._words_until(at, found.end())
        is_part = there is not None and there.end == at + 1 < end and not there.has(*TITLES)
        is_known = there is not None and (
            there.end > at + 1 or there.has(*TITLES, Sort.TEXT, Sort.CHOICE)
        )
        if is_known and not is_part:
            return None
        return self._literal(without_gaps(found[0]), at, end)

    def _literal(self, text: str, at: int, end: int) -> Item:
        """Return a text as what it may be in the world, whole."""
        said = find_quantities(self._world, self._words, text)
        whole = next((one for one in said if (one.start, one.end) == (0, len(text))), None)
        senses = self._vocabulary.find(self._text.key[at:end])
        item = Item(0, text, at, end, 0, quoted=True, senses=senses)
        return item if whole is None else _with(item, whole)

    def _phrase(self, at: int, before: Item | None) -> Item | None:
        """Return the longest mention at a word: a quantity, a phrase of the world, or a cue."""
        length, senses = self._vocabulary.longest(self._plain_words(at), self._ranked)
        said = self._quantities.get(self._text.tokens[at].start)
        measured = 0 if said is None else self._words_until(at, said.end)
        cued, cues = self._cue(at)
        cued, cues = self._before_name(at, cued, cues)
        if length == 1 and any(one.sort is Sort.FLAG for one in senses) and self._is_other_word(at):
            length, senses = 0, ()
        is_field = Cue.FIELD in cues and before is not None and before.has(Sort.LABEL)
        is_said = before is not None and before.has(Sort.LABEL) and at - before.end <= _NEAR
        is_said = (is_said or self._is_aim(at, before)) and any(
            one.sort in {Sort.CHOICE, Sort.FLAG} for one in senses
        )
        is_adjective = self._is_adjective(at, length, senses)
        is_said = is_said or is_adjective or self._is_deed(at, length, senses)
        is_mere = (not is_said and self._is_common(at, length)) or self._is_of_field(
            senses, before, at
        )
        if is_mere or (is_field and before is not None and before.end == at and before.quoted):
            length, senses = 0, ()
        if self._words.has_article:
            length, senses = self._genitives.name(at, self._plain_words(at), length, senses)
        length, senses = self._whole_title(at, *self._without_joint(at, length, senses))
        if cued == length and any(one.sort in _NOUNS for one in senses) and self._is_noun(at):
            cues -= _VERBS
        if is_said and self._is_choice_of(before, senses):
            cued = min(cued, length)
            cues -= _NO_VALUES
        longest = max(length, measured, cued)
        if longest == 0:
            return None
        text = self._text.between(at, at + longest)
        item = Item(0, text, at, at + longest, 0)
        if length == longest:
            item = self._name(item, senses)
        if measured == longest and said is not None:
            item = _with(item, said)._replace(weak=not item.has(*TITLES))
        if is_adjective and length == longest:
            return item._replace(exact=True)
        return item._replace(cues=cues) if cued == longest else item

    def _is_of_field(self, senses: Sequence[Sense], before: Item | None, at: int) -> bool:
        """Return whether words for a step rather say what a field is to be, where they stand behind it."""
        is_behind = before is not None and before.end == at and before.has(Sort.LABEL)
        is_deed = bool(senses) and all(one.sort is Sort.DEED for one in senses)
        return self._words.is_head_last and is_behind and is_deed

    def _is_noun(self, at: int) -> bool:
        """Return whether an article stands before a word, so that it is no verb, as in `le compte`."""
        return at > 0 and self._text.key[at - 1] in self._words.articles

    @staticmethod
    def _is_choice_of(before: Item | None, senses: Sequence[Sense]) -> bool:
        """Return whether a phrase is a choice, and one of the field before it if that is named."""
        fields = {(one.entity, one.name) for one in before.senses} if before is not None else set()
        is_named = before is not None and before.has(Sort.LABEL)
        return any(
            one.sort is Sort.CHOICE and (not is_named or (one.entity, one.name) in fields)
            for one in senses
        )

    def _is_aim(self, at: int, before: Item | None) -> bool:
        """Return whether `goes to` or the like stands right before a word, as what something is to become does."""
        if before is None or before.end != at or not before.cues & {Cue.SET, Cue.AS}:
            return False
        return Cue.AS in before.cues or Cue.TO in self._words.cues.get(
            self._text.key[at - 1 : at], _NO_CUES
        )

    def _without_joint(
        self, at: int, length: int, senses: tuple[Sense, ...]
    ) -> tuple[int, tuple[Sense, ...]]:
        """Return nothing instead of a field as `Vom Konto` if it may be `vom` before another: in small letters."""
        is_joint = Cue.OF in self._words.cues.get(self._text.key[at : at + 1], _NO_CUES)
        if length < _TWO or not is_joint:
            return length, senses
        rest = self._vocabulary.find(self._text.key[at + 1 : at + length])
        is_other = any(one.sort in {Sort.LABEL, Sort.ONE} for one in rest)
        return (0, ()) if is_other and not self._text.is_upper(at) else (length, senses)

    def _whole_title(
        self, at: int, length: int, senses: tuple[Sense, ...]
    ) -> tuple[int, tuple[Sense, ...]]:
        """Return the noun of an entity instead of it with a part of a title, if a whole title stands behind it."""
        if not length or any(one.sort is not Sort.PART for one in senses):
            return length, senses
        words = self._plain_words(at)
        for noun in range(1, length):
            named = [one for one in self._vocabulary.find(words[:noun]) if one.sort is Sort.ONE]
            if not named or noun == len(words):
                continue
            rest, found = self._vocabulary.longest(words[noun:])
            if noun + rest > length and any(one.sort is Sort.TITLE for one in found):
                return noun, tuple(named)
        return length, senses

    def _name(self, item: Item, senses: Sequence[Sense]) -> Item:
        """Return a phrase of the world with what it may be."""
        is_title = any(one.sort in TITLES for one in senses)
        is_exact = item.text[:1].isupper() and self._text.is_inside(item.place)
        is_meant = item.end - item.place > 1 and is_exact
        is_exact = is_meant if self._words.has_capital_nouns else is_exact
        is_noun = any(one.sort is Sort.ONE for one in senses)
        is_long = item.end - item.place > 1 and not is_noun
        is_meant = is_meant or (is_long and not self._words.has_spaces)
        many = {Sense(Sort.MANY, one.entity) for one in senses if one.sort is Sort.VIEW}
        is_many = many and not is_exact and self._words.has_plurals
        told = (*senses, *sorted(many)) if is_many else tuple(senses)
        return item._replace(senses=told, weak=not is_title and not is_meant, exact=is_exact)

    def _plain_words(self, at: int) -> tuple[str, ...]:
        end = at
        while (
            end < len(self._text.tokens)
            and self._text.tokens[end].quote < 0
            and end < at + longest_of(self._words)
        ):
            end += 1
        return self._text.key[at:end]

    def _words_until(self, at: int, place: int) -> int:
        end = at
        while end < len(self._text.tokens) and self._text.tokens[end].start < place:
            end += 1
        return end - at

    def _cue(self, at: int) -> tuple[int, frozenset[Cue]]:
        for length in self._words.lengths.get(self._text.key[at], ()):
            if at + length > len(self._text.key):
                continue
            cues = self._words.cues.get(self._text.key[at : at + length])
            if cues is not None and all(
                one.quote < 0 for one in self._text.tokens[at : at + length]
            ):
                return length, self._by_accents(at, length, cues)
        return 0, _NO_CUES

    def _before_name(self, at: int, cued: int, cues: frozenset[Cue]) -> tuple[int, frozenset[Cue]]:
        """Return a cue without the words that begin a name of the world, as `as` of `classed as For us`."""
        for off in range(1, cued):
            words = self._plain_words(at + off)
            length, _ = self._vocabulary.longest(words) if words else (0, ())
            is_name = self._text.is_upper(at + off) or not self._words.has_spaces
            if length > 1 and off + length > cued and is_name:
                return off, self._words.cues.get(self._text.key[at : at + off], _NO_CUES)
        return cued, cues

    def _is_adjective(self, at: int, length: int, senses: Sequence[Sense]) -> bool:
        """Return whether a small word is a value before the noun of rows: `the everything hires`."""
        is_choice = any(one.sort is Sort.CHOICE for one in senses)
        if not is_choice or not at or self._text.key[at - 1] not in self._words.articles:
            return False
        words = self._plain_words(at + length) if at + length < len(self._text.tokens) else ()
        named = self._vocabulary.longest(words)[1] if words else ()
        nouns = {one.entity for one in named if one.sort in {Sort.ONE, Sort.MANY}}
        return any(one.entity in nouns for one in senses if one.sort is Sort.CHOICE)

    def _is_deed(self, at: int, length: int, senses: Sequence[Sense]) -> bool:
        """Return whether a word that means little is a step that is to be taken: `let it`."""
        behind = self._text.key[at + length : at + length + 1]
        return any(one.sort is Sort.DEED for one in senses) and behind in _ITS

    def _by_accents(self, at: int, length: int, cues: frozenset[Cue]) -> frozenset[Cue]:
        """Return what a phrase says by its accents, if others differ from it in nothing else."""
        known = self._words.spellings.get(self._text.key[at : at + length], {})
        return known.get(spelling_of(self._text.between(at, at + length)), cues)

    def _is_other_word(self, at: int) -> bool:
        """Return whether a word has no accent where yes or no has one, as `si` and `sí`."""
        key = self._text.key[at : at + 1]
        said = self._text.letters_of(self._text.tokens[at])
        return key in self._words.spellings and said not in self._words.flags

    def _is_common(self, at: int, length: int) -> bool:
        """Return whether a phrase of the world is one of words that mean nothing by themselves, as `in`."""
        some = self._text.tokens[at : at + length]
        if not all(one.text in self._words.common for one in some):
            return False
        if length and all(self._text.letters_of(one) in self._words.flags for one in some):
            return False
        is_inside = self._text.is_inside(at) or (
            length > 1 and self._text.key[at - 1 : at] == (":",)
        )
        is_name = length and self._text.goal[some[0].start].isupper() and is_inside
        return not is_name

    def _mark(self, at: int) -> Item | None:
        token = self._text.tokens[at]
        if token.text.isalnum():
            return None
        is_end = token.end == len(self._text.goal) or self._text.goal[token.end] in ' \n"”)'
        if token.text == "." and not is_end:
            return None
        return Item(0, token.text, at, at + 1, 0, mark=token.text)

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


def _with(item: Item, said: Quantity) -> Item:
    return item._replace(
        whole=said.whole, cents=said.cents, day=said.day, is_unclear=said.is_unclear
    )
