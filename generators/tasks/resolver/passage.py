"""The mentions of a goal in their order, and what stands before and between them."""

from collections.abc import Sequence

from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.roles import clauses_of, roles_behind, roles_of
from generators.tasks.resolver.senses import Key, Sort
from generators.tasks.resolver.tokens import STOPS, fold
from generators.tasks.resolver.words import Cue, Words

_LISTED = frozenset({Cue.AND, Cue.IT, Cue.COND})
_ASKED = frozenset({Cue.TELL, Cue.SET, Cue.DELETE, Cue.SWAP})
_ACTS = (
    *(Cue.SET, Cue.DELETE, Cue.NEW, Cue.SWAP, Cue.SAME, Cue.UNDO, Cue.WRITE, Cue.IF, Cue.ELSE),
    *(Cue.NOW, Cue.ASK),
)
"""Words for an act."""

_QUESTIONS = frozenset("?？؟")  # noqa: RUF001 - the marks of several scripts


class Passage:
    """The mentions of one goal."""

    def __init__(self, items: Sequence[Item], words: Key, language: Words) -> None:
        self.items, self.words, self.articles = items, words, language.articles
        self.is_head_last = language.is_head_last
        """Whether what is said of a value stands behind it."""
        self.has_article = language.has_article
        self.roles = list(roles_behind(items) if self.is_head_last else roles_of(items))
        """What a value at each mention is for."""
        self.clauses = frozenset(() if self.is_head_last else clauses_of(items))
        """What stands in the description of rows right behind their noun."""

    def with_cues(self, *cues: Cue) -> list[Item]:
        """Return the mentions that are one of some cues."""
        return [one for one in self.items if not one.cues.isdisjoint(cues)]

    def names(self, *sorts: Sort) -> set[str]:
        """Return the entities that are mentioned by some sorts of names."""
        return {sense.entity for one in self.items for sense in one.senses if sense.sort in sorts}

    def between(self, one: Item, other: Item) -> Sequence[Item]:
        """Return the mentions between two."""
        return self.items[one.number + 1 : other.number]

    def before(self, item: Item) -> Item | None:
        """Return the mention before another; None: it is the first."""
        return self.items[item.number - 1] if item.number else None

    def is_after(self, item: Item, *cues: Cue, within: int = 3) -> bool:
        """Return whether one of some cues stands shortly before a mention."""
        for before in reversed(self.items[: item.number]):
            if item.place - before.end > within or before.mark in STOPS:
                return False
            if not before.cues.isdisjoint(cues):
                return True
            if before.is_value or before.has(Sort.LABEL):
                return False
        return False

    def is_before(self, item: Item, cue: Cue) -> bool:
        """Return whether a cue stands right behind a mention."""
        behind = self.items[item.number + 1 : item.number + 2]
        return any(cue in one.cues and one.place == item.end for one in behind)

    def is_aim(self, item: Item) -> bool:
        """Return whether `to` or the like stands right before a value."""
        before = self.before(item)
        near = before is not None and item.place - before.end <= 1
        return near and before is not None and bool(before.cues & {Cue.TO, Cue.SET})

    def is_now(self, item: Item) -> bool:
        """Return whether `now` stands right behind a value: `is closed now`."""
        behind = self.items[item.number + 1 : item.number + 2]
        return any(Cue.NOW in one.cues and one.place == item.end for one in behind)

    def is_put(self, item: Item) -> bool:
        """Return whether a verb right behind a value says that it is new, as German verbs do: `als Status Offen eintragen`."""
        behind = self.items[item.number + 1 : item.number + 2]
        return any(one.cues >= {Cue.NOW, Cue.SET} and one.place == item.end for one in behind)

    def is_definite(self, item: Item) -> bool:
        """Return whether the article of one certain thing stands before a noun, or is written with it."""
        if self.has_article and fold(item.text).split()[:1] != [self.words[item.place]]:
            return True
        return item.place > 0 and self.words[item.place - 1] in self.articles

    def is_named(self, label: Item) -> bool:
        """Return whether the name of a field is meant as such: an article, a mark or `and` stands before it."""
        if label.quoted or label.exact or label.end - label.place > 1:
            return True
        before = self.before(label)
        near = before is not None and before.end == label.place
        is_listed = near and before is not None and bool(before.cues & {*_LISTED, Cue.AS})
        is_marked = label.place > 0 and self.words[label.place - 1] in {",", ";", ":"}
        return self.is_definite(label) or is_marked or is_listed

    def is_noun_of_row(self, item: Item) -> bool:
        """Return whether a mention is the noun of an entity right before a row's name: `the title "A house"`."""
        if self.is_head_last:
            return item.has(Sort.ONE) and self._is_beside_title(item)
        behind = self.items[item.number + 1 : item.number + 2]
        return item.has(Sort.ONE) and any(
            one.has(*TITLES) and one.place == item.end for one in behind
        )

    def _is_beside_title(self, noun: Item) -> bool:
        """Return whether a row's name stands beside a noun, perhaps with a particle between: `「A」という注文`, `注文の「A」`."""
        first, last = max(0, noun.number - 2), noun.number + 3
        before = [one for one in self.items[first : noun.number] if Cue.OF not in one.cues]
        behind = [one for one in self.items[noun.number + 1 : last] if Cue.OF not in one.cues]
        return any(one.has(*TITLES) for one in (*before[-1:], *behind[:1]))

    def asks(self, sentence: int) -> bool:
        """Return whether a sentence is a question."""
        some = [one for one in self.items if one.sentence == sentence]
        return any(one.mark in _QUESTIONS or Cue.TELL in one.cues for one in some)

    def is_plain_question(self, sentence: int) -> bool:
        """Return whether a sentence asks, and has no word for an act."""
        acts = (one for one in self.with_cues(*_ACTS) if one.sentence == sentence)
        deeds = (one for one in self.items if one.has(Sort.DEED) and one.sentence == sentence)
        is_asked = self.asks(sentence) and not any(True for _ in (*acts, *deeds))
        some = [one.cues for one in self.items if one.sentence == sentence]
        is_told = any(Cue.TELL in cues for cues in some)
        return is_asked and (is_told or not any(Cue.REQUEST in cues for cues in some))

    def may_ask(self) -> bool:
        """Return whether a goal may ask for an answer: by a word for that, a figure, a plain question, or no act at all."""
        told = self.with_cues(Cue.TELL, Cue.COUNT, Cue.SUM, Cue.MEAN, Cue.SPAN)
        sentences = {one.sentence for one in self.items}
        if not (self.with_cues(*_ACTS, Cue.BUY) or any(one.has(Sort.DEED) for one in self.items)):
            return True
        return bool(told) or any(self.is_plain_question(one) for one in sentences)

    def may_act(self) -> bool:
        """Return whether a goal may ask for more than an answer: it has no plain questions alone."""
        sorts = (Sort.LABEL, Sort.DEED) if self.has_article else (Sort.LABEL,)
        some = {one.sentence for one in self.items if one.is_value or one.has(*sorts)}
        return not some or not all(self.is_plain_question(one) for one in some)

    def is_question(self) -> bool:
        """Return whether a goal may ask for an answer."""
        return any(one.mark in _QUESTIONS or Cue.TELL in one.cues for one in self.items)

    def speaks_of_rows(self, sentence: int) -> bool:
        """Return whether a sentence speaks of the world, so that its single words may."""
        some = [one for one in self.items if one.sentence == sentence]
        is_asked = any(one.cues & _ASKED or one.mark in _QUESTIONS for one in some)
        return any(
            one.counts
            or one.has(Sort.ONE, Sort.MANY)
            or (one.has(Sort.LABEL) and (one.exact or one.end - one.place > 1 or is_asked))
            for one in some
        )
