"""A goal's mentions put together: which value belongs to which field, and what is left."""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.new_names import new_nouns
from generators.tasks.resolver.pairing import Pairing
from generators.tasks.resolver.passage import Passage
from generators.tasks.resolver.place import TEXTS, Place
from generators.tasks.resolver.roles import Pair, Role
from generators.tasks.resolver.senses import Key, Sort
from generators.tasks.resolver.spoken import Frame
from generators.tasks.resolver.tokens import key_of, stem
from generators.tasks.resolver.words import ENDS, Cue, Words
from schemas.worlds.field import DataField

_REST, _NEAR = 24, 4
"""So many words may stand between two parts of one phrase, and between a bound and its value."""


class Scene(Passage):
    """The mentions of a goal, and what belongs together."""

    def __init__(
        self,
        place: Place,
        items: Sequence[Item],
        words: Key,
        frames: Sequence[Frame],
        language: Words,
        *,
        spoken: Collection[str],
        strangers: Sequence[str],
        names_first: bool,
    ) -> None:
        super().__init__(items, words, language)
        self.place, self.strangers = place, strangers
        """Where the goal is read, and the names in it that are not the world's."""
        self._language, self._spoken = language, spoken
        self._pairing = Pairing(self, place, frames, language, names_first=names_first)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The values with fields, in their order; titles without a field are not among them."""
        return tuple(self._make(one) for one in self.items if self._is_paired(one))

    @cached_property
    def firm(self) -> tuple[Pair, ...]:
        """The values with fields that are not just single words which may mean nothing."""
        return tuple(one for one in self.pairs if self._is_firm(one))

    @cached_property
    def titles(self) -> tuple[Item, ...]:
        """The rows that are named and are no value of a field."""
        known = {*self._pairing.labels, *self._pairing.framed}
        return tuple(one for one in self.items if one.has(*TITLES) and one.number not in known)

    @cached_property
    def literals(self) -> tuple[Item, ...]:
        """The quotations of what the world does not have, without a field."""
        labels = self._pairing.labels
        return tuple(one for one in self.items if one.is_literal and one.number not in labels)

    @cached_property
    def bare(self) -> tuple[Item, ...]:
        """The names of fields that have no value, in their order."""
        return tuple(
            one
            for one in self._pairing.bare()
            if not (self.has_article and self._is_noun(one))
            if not one.weak or one.exact or self.speaks_of_rows(one.sentence)
        )

    def _is_noun(self, item: Item) -> bool:
        """Return whether the name of a field is rather the noun of rows: before the name of one, or before the end of an order."""
        behind = self.items[item.number + 1 : item.number + 2]
        is_ordered = any(one.place == item.end and one.cues & ENDS for one in behind)
        return item.has(Sort.ONE) and (is_ordered or self.is_noun_of_row(item))

    def with_cues(self, *cues: Cue) -> list[Item]:
        """Return the mentions that are one of some cues, and no part of the name of a field around a value."""
        found = super().with_cues(*cues)
        return [
            one
            for one in found
            if not ((one.has(Sort.LABEL) or self.is_head_last) and self.is_part(one))
        ]

    def may_ask(self) -> bool:
        """Return whether a goal may ask for an answer: also by a word for questions that begins a part of it."""
        return super().may_ask() or any(
            word in self._language.questions and (not place or not self.words[place - 1].isalnum())
            for place, word in enumerate(self.words)
        )

    def deeds(self, entity: str) -> list[str]:
        """Return the steps of an entity's workflow that a goal has words for; all of their words must be there."""
        found = [
            sense
            for item in self.items
            for sense in item.senses
            if sense.sort is Sort.DEED and sense.entity == entity
            if self._ends_so(item, str(sense.value))
        ]
        whole = [sense.name for sense in found if sense.value]
        return whole or [sense.name for sense in found]

    def _ends_so(self, item: Item, behind: str) -> bool:
        key = key_of(behind)
        rest = self.words[item.end : item.end + _REST]
        return not key or any(rest[at : at + len(key)] == key for at in range(len(rest)))

    def fields(self, item: Item, entity: str) -> list[DataField]:
        """Return the fields of an entity that a name may be of."""
        known = (one for one in item.senses if one.sort is Sort.LABEL and one.entity == entity)
        return [self.place.world.entity(entity).field(sense.name) for sense in known]

    def fields_of(self, pair: Pair, entity: str) -> list[DataField]:
        """Return the fields of an entity that a pair may be of."""
        held, item = self.place.world.entity(entity), pair.item
        framed = self._pairing.framed.get(item.number)
        told = {one.name for one in item.senses if one.entity == entity}
        if pair.label is not None:
            some = self.fields(pair.label, entity)
        elif framed is not None:
            some = [held.field(one.name) for one in framed if one.entity == entity]
        elif not told and pair.over is None and item.day is None and not item.is_amount:
            return []  # a bare number may be anything
        else:
            some = [one for one in held.fields if one.kind not in TEXTS or one.name in told]
        return [field for field in some if self.place.fits(held, field, item)]

    def again(self, entity: str, fields: Iterable[DataField]) -> list[Item]:
        """Return the names without a value of fields that a goal has named elsewhere with one."""
        some = [*fields]
        return [one for one in self.bare if any(each in some for each in self.fields(one, entity))]

    @cached_property
    def unread(self) -> list[tuple[int, int]]:
        """Return the words, by place and sentence, that no mention has, though the world speaks so of rows."""
        known = {place for one in self.items for place in (*range(one.place, one.end), *one.also)}
        known |= self._pairing.words | self._behind_deeds()
        sentences = {one.place: one.sentence for one in self.items}
        out, sentence = list[tuple[int, int]](), 0
        for place, word in enumerate(self.words):
            sentence = sentences.get(place, sentence)
            is_idle = word in self._language.common or word in self._language.idle
            is_word = not is_idle and stem(word, self._language.endings) in self._spoken
            if place not in known and is_word:
                out.append((place, sentence))
        return out

    def says_something(self, start: int, end: int) -> bool:
        """Return whether words from one place up to another mean anything: there is a value or a name, or no small word."""
        inside = [one for one in self.items if start <= one.place < end]
        if any(one.is_value or one.has(Sort.LABEL) for one in inside):
            return True
        small = self._language.common | self._language.idle | self._language.known
        return any(word not in small for word in self.words[start:end])

    def _behind_deeds(self) -> set[int]:
        """Return the places of what stands behind the row in words for a step: `hand … in for review`."""
        out = set[int]()
        for item in self.items:
            for sense in item.senses:
                key = key_of(str(sense.value)) if sense.sort is Sort.DEED and sense.value else ()
                for at in range(item.end, len(self.words) - len(key) + 1):
                    if key and self.words[at : at + len(key)] == key:
                        out |= {*range(at, at + len(key))}
        return out

    def new_entities(self) -> set[str]:
        """Return the entities of which a goal asks for new rows."""
        named = {one.new for one in self.items if one.new}
        return named | {entity for _, entity in new_nouns(self.items, self.place.world)}

    def is_part(self, item: Item) -> bool:
        """Return whether a mention is part of what is said around a value."""
        return item.number in self._pairing.swallowed

    def is_labelled(self, item: Item) -> bool:
        """Return whether a value has a field that the goal names."""
        return item.number in self._pairing.labels

    def is_framed(self, item: Item) -> bool:
        """Return whether a value has a field by what is said around it."""
        return item.number in self._pairing.framed

    def is_told(self, pair: Pair) -> bool:
        """Return whether a goal says of which field a value is."""
        return pair.label is not None or self.is_framed(pair.item)

    def _is_paired(self, item: Item) -> bool:
        if item.number in self._pairing.labels or item.number in self._pairing.framed:
            return True
        is_other = self.is_part(item) or item.is_literal or item.has(*TITLES, Sort.LABEL)
        if not item.is_value or is_other or (item.weak and item.has(Sort.FLAG)):
            return False
        if item.weak and item.cues and not item.exact and not self.is_aim(item):
            return False  # `over` is seldom a state
        return not item.weak or self.is_aim(item) or self.speaks_of_rows(item.sentence)

    def _is_firm(self, pair: Pair) -> bool:
        is_told = pair.label is not None or pair.item.number in self._pairing.framed
        is_exact = pair.item.exact and pair.item.has(Sort.CHOICE)
        return is_told or not pair.item.weak or pair.role is Role.SET or is_exact

    def _make(self, item: Item) -> Pair:
        if item.number in self._pairing.framed:
            over, negated = self.bound_of(item)
            role = Role.COND if over is not None else self._framed_role(item)
            return Pair(item, None, role, over, negated)
        label = self._pairing.labels.get(item.number)
        over, negated = self.bound_of(item)
        role = Role.COND if over is not None else self._role(item, label)
        return Pair(item, label, role, over, negated)

    def _framed_role(self, item: Item) -> Role:
        """Return what a value is for by what is said around it: a predicate describes rows, or says how they are to be."""
        start = self._pairing.predicates.get(item.number)
        if start is None or item.number in self.clauses:
            return Role.COND
        if self.is_now(item):
            return Role.SET
        word = self.words[start - 1] if start > 0 else ""
        before = next(
            (one for one in reversed(self.items[: item.number]) if one.end <= start), None
        )
        if any(one.place < start < one.end and Cue.SET in one.cues for one in self.items):
            return Role.SET
        is_noun = before is not None and before.end == start and before.has(Sort.ONE, Sort.MANY)
        if word in self._language.relatives or is_noun:
            return Role.COND
        return Role.EITHER if before is None else self._role_behind(before, item)

    def _role_behind(self, before: Item, item: Item) -> Role:
        """Return what a predicate is for by what stands before it: behind `and` the same as the one before."""
        if before.sentence != item.sentence:
            return Role.EITHER
        last = self.items[before.number - 1] if Cue.AND in before.cues and before.number else None
        if last is not None and last.number in self._pairing.framed:
            return self._framed_role(last)
        return self.roles[before.number]

    def _role(self, item: Item, label: Item | None) -> Role:
        first = item if label is None or item.number < label.number else label
        if self.is_head_last:
            return self._role_of_particles(item, label)
        is_adjective = label is None and self._is_adjective(item)
        if self.is_put(item) and not is_adjective:
            return Role.SET
        is_inside = item.number in self.clauses
        if is_adjective or (is_inside and (label is None or label.number in self.clauses)):
            return Role.COND
        between = () if label is None or first is item else self.between(label, item)
        is_new = any(Cue.SET in one.cues for one in between) or self.is_now(item)
        if self.is_aim(item) or self.is_aim(first) or is_new:
            return Role.COND if self.is_plain_question(item.sentence) else Role.SET
        if label is None and item.weak:
            return Role.EITHER if self._is_predicate(item) else Role.COND
        role = self.roles[first.number]
        is_behind = (
            first is item and label is not None
        )  # `with "Open" as its Status` is said of both
        return Role.EITHER if is_behind and role is Role.COND else role

    def _is_adjective(self, item: Item) -> bool:
        """Return whether a choice stands between an article and the noun of rows that have it: `take the poetry author`."""
        behind = self.items[item.number + 1 : item.number + 2]
        nouns = {
            one.entity
            for each in behind
            if each.place == item.end
            for one in each.senses
            if one.sort in {Sort.ONE, Sort.MANY}
        }
        choices = (one.entity for one in item.senses if one.sort is Sort.CHOICE)
        return self.is_definite(item) and any(one in nouns for one in choices)

    def _role_of_particles(self, item: Item, label: Item | None) -> Role:
        """Return what a value is for by the particle behind it, else by the one between its field and it."""
        role = self.roles[item.number]
        if role is not Role.EITHER or label is None:
            return role
        between = self.between(label, item)
        if any(Cue.SAY in one.cues for one in between):
            return Role.COND
        return Role.SET if any(Cue.LINK in one.cues for one in between) else role

    def _is_predicate(self, item: Item) -> bool:
        """Return whether it is said of a row that is named before that a flag is on: `X is blocked`."""
        before = self.before(item)
        is_row = before is not None and before.has(*TITLES) and before.end == item.place
        words = self._language
        is_verb = self.words[item.place] in words.be or self.words[item.place] in words.have
        return is_row and is_verb and item.has(Sort.CHOICE) and item.end - item.place > 1

    def bound_of(self, item: Item) -> tuple[Cue | None, bool]:
        """Return `above` or `below`, if it stands before a value, and whether the value is said not to be."""
        if self.is_head_last:
            return self._bound_behind(item)
        over, negated = None, False
        for before in reversed(self.items[: item.number]):
            is_bound = not before.cues.isdisjoint({Cue.ABOVE, Cue.BELOW}) and item.is_measure
            is_other = not is_bound and (
                before.is_value or before.has(Sort.LABEL) or bool(before.mark)
            )
            if is_other or item.place - before.end > _NEAR:
                break
            if over is None and item.is_measure and before.cues & {Cue.ABOVE, Cue.BELOW}:
                over = Cue.ABOVE if Cue.ABOVE in before.cues else Cue.BELOW
            negated = negated or Cue.NOT in before.cues
        return over, negated

    def _bound_behind(self, item: Item) -> tuple[Cue | None, bool]:
        """Return the same where it stands right behind a value."""
        behind = next((one for one in self.items[item.number + 1 :] if one.place == item.end), None)
        cues = frozenset[Cue]() if behind is None else behind.cues
        over = next((one for one in (Cue.ABOVE, Cue.BELOW) if one in cues), None)
        return (over if item.is_measure else None), Cue.NOT in cues
