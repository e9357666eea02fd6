"""Puts values and fields together: by the words between them, or by what is said around a value."""

from collections.abc import Iterable, Iterator, Sequence

from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.particles import (
    choice_before,
    cuts,
    end_of,
    is_before_value,
    is_equated,
    is_like,
    is_name,
    is_said,
    is_source,
    is_telling,
    is_tight,
    precedes_noun,
)
from generators.tasks.resolver.passage import Passage
from generators.tasks.resolver.place import Place
from generators.tasks.resolver.roles import Role
from generators.tasks.resolver.senses import Sense, Sort
from generators.tasks.resolver.spoken import Frame, frames_at
from generators.tasks.resolver.tokens import STOPS
from generators.tasks.resolver.words import Cue, Words
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity

_TO, _NEAR, _FAR = ("to",), 4, 9
"""How many words may stand between a field and its value: behind it, and before it."""

_BARS = STOPS | {",", "(", ")", ">", "/"}
"""Marks that part a field from what stands behind them."""


class Pairing:
    """The fields of a goal's values."""

    def __init__(
        self,
        passage: Passage,
        place: Place,
        frames: Sequence[Frame],
        words: Words,
        *,
        names_first: bool,
    ) -> None:
        """Pair values with fields.

        `names_first`: whether the name of an entity and of a field is the entity's, right before the name of a row.
        """
        self._passage, self._place, self._names_first = passage, place, names_first
        self._words, self._known = words, frozenset(passage.words)
        self.labels: dict[int, Item] = {}
        """The name of its field, by the value's number."""
        self.framed: dict[int, tuple[Sense, ...]] = {}
        """The fields of values by what is said around them, as `due on …`."""
        self.predicates: dict[int, int] = {}
        """Where what is said around a value begins, by the value's number, if it is a predicate."""
        self.words = set[int]()
        """The places of words that are said around values."""
        self.swallowed = set[int]()
        """What is part of what is said around a value."""
        frames = [one for one in frames if self._may_stand(one)]
        self._name_new()
        self._frame(
            [one for one in frames if one.length > 1 or is_telling(one, self._words.prefixes)]
        )
        self._pair()
        self._frame(frames)

    def _may_stand(self, frame: Frame) -> bool:
        """Return whether a goal has the words of a frame, whose last before a value may be left out for a bound."""
        words = self._known
        is_last = not frame.before or frame.before[-1] in words
        is_last = is_last or frame.before[-1] in self._words.joints
        return is_last and words.issuperset(frame.before[:-1]) and words.issuperset(frame.behind)

    def bare(self) -> Iterator[Item]:
        """Yield the names of fields that have no value."""
        used = {label.number for label in self.labels.values()} | {*self.labels} | self.swallowed
        for one in self._passage.items:
            if one.has(Sort.LABEL) and one.number not in used:
                yield one

    def starts(self, item: Item) -> Iterator[tuple[int, bool]]:
        """Yield where the words of a value may begin: with its noun, a bound or an article; and whether a bound is there."""
        items, words = self._passage.items, self._passage.words
        at, is_bound, number = item.place, False, item.number
        yield at, is_bound
        while True:
            before = items[number - 1] if number else None
            if before is not None and before.end == at and is_before_value(before, item):
                is_bound = is_bound or not before.cues.isdisjoint({Cue.ABOVE, Cue.BELOW})
                at, number = before.place, number - 1
            elif at > 0 and words[at - 1] in self._words.articles:
                at -= 1
            else:
                return
            yield at, is_bound

    def _name_new(self) -> None:
        """Take names of new rows for what they are."""
        for item in self._passage.items:
            if item.new:
                title = self._place.world.entity(item.new).title.name
                self.framed[item.number] = (Sense(Sort.LABEL, item.new, title),)

    def _is_free(self, item: Item) -> bool:
        if item.is_alone:
            return False
        held = item.number in self.labels or item.number in self.framed
        return item.is_value and not held and item.number not in self.swallowed

    def _pair(self) -> None:
        for item in self._passage.items:
            if self._is_free(item):
                self._pair_behind(item)
        for item in self._passage.items:
            if item.has(Sort.LABEL):
                self._pair_before(item)
        for item in self._passage.items:
            if self._is_free(item):
                self._pair_far(item)

    def _pair_behind(self, value: Item) -> None:
        """Pair a value with the field behind it: `"Open" as its Status`."""
        for behind in self._passage.items[value.number + 1 : value.number + 4]:
            if behind.has(Sort.LABEL) and behind.is_alone:
                return
            if behind.has(Sort.LABEL):
                is_row = value.has(*TITLES) and not self._is_link(behind, value)
                near = behind.place - value.end <= _NEAR and not is_row
                if self._is_unit(behind, value):
                    self.labels[value.number] = behind
                    return
                joints = self._passage.between(value, behind)
                if near and self._is_joint(value, joints) and self._is_of(behind, value):
                    self.labels[value.number] = behind
                return
            if (behind.mark and behind.mark != "(") or not (behind.cues or behind.mark):
                return

    def _is_unit(self, label: Item, value: Item) -> bool:
        """Return whether the name of a field of whole numbers stands right behind a number: `16 days`."""
        if label.place != value.end or value.whole is None or value.senses:
            return False
        numbers = [field for _, field in self._fields(label) if field.kind is Kind.INTEGER]
        return bool(numbers) and self._is_of(label, value)

    def _is_joint(self, value: Item, joints: Sequence[Item]) -> bool:
        """Return whether words between a value and a field say that it is its value: `as`, or `for` behind `it says`."""
        before = self._passage.before(value)
        is_said = before is not None and Cue.SAY in before.cues
        if (
            len(joints) == 1
            and Cue.UNDER in joints[0].cues
            and is_tight(self._passage, value, joints[0])
        ):
            return True
        if value.quoted and len(joints) == 1 and Cue.OF in joints[0].cues:
            return joints[0].end - joints[0].place == 1
        return any(
            one.cues & {Cue.AS, Cue.FOR}
            or one.mark == "("
            or (is_said and one.cues & {Cue.UNDER, Cue.OF})
            for one in joints
        )

    def _pair_before(self, label: Item) -> None:
        """Pair a field with the value behind it: `Status is "Open"`."""
        is_used = any(one is label for one in self.labels.values())
        if is_used or label.is_alone or label.number in {*self.labels, *self.swallowed}:
            return
        if self._words.is_head_last and label.has(Sort.ONE) and not is_said(self._passage, label):
            return
        for behind in self._passage.items[label.number + 1 :]:
            if behind.mark in _BARS or behind.place - label.end > _FAR:
                return
            is_either = self._passage.is_before(behind, Cue.IF) and any(
                one.mark == ":" for one in self._passage.between(label, behind)
            )  # `it depends on the age: 5 if it is below 7, else 6`
            if self._is_free(behind):
                if is_either:
                    return
                if self._is_of(label, behind) and not self._is_row(label, behind):
                    self.labels[behind.number] = choice_before(self._passage, label, behind)
                return
            if behind.has(Sort.LABEL, Sort.ONE, Sort.MANY, Sort.VIEW) or Cue.AND in behind.cues:
                return

    def _pair_far(self, value: Item) -> None:
        """Pair a value with a field that nothing else is paired with: `set the Status of … to "Open"`."""
        is_aim = self._passage.is_aim(value)
        is_new = is_aim or self._passage.roles[value.number] is Role.SET
        is_aim = is_aim or (self._words.is_head_last and is_new)
        is_like_it = value.has(*TITLES) and is_source(self._passage, value)
        if is_like_it or value.has(Sort.LABEL) or not (is_new or value.quoted or value.is_amount):
            return
        joint = self._passage.before(value)
        is_listed = joint is not None and joint.mark == ":"
        if not is_aim and (value.has(*TITLES) or (value.is_literal and not is_listed)):
            return
        free = [
            one
            for one in self.bare()
            if not one.is_alone
            and not (
                self._words.is_head_last and one.has(Sort.ONE) and not is_said(self._passage, one)
            )
            and not self._passage.is_noun_of_row(one)
            and self._is_of(one, value)
            and self._speaks(one)
        ]
        if value.has(*TITLES):
            free = [one for one in free if self._is_link(one, value)]
        here = [one for one in free if one.sentence == value.sentence]
        before = [one for one in here if one.number < value.number]
        behind = [one for one in here if one.number > value.number]
        elsewhere = [one for one in free if one.sentence != value.sentence]
        found = [
            *reversed(before),
            *(() if value.weak and value.is_literal else (*behind, *elsewhere)),
        ]
        if found:
            self.labels[value.number] = found[0]

    def _speaks(self, label: Item) -> bool:
        return not label.weak or label.exact or self._passage.speaks_of_rows(label.sentence)

    def _fields(self, label: Item) -> Iterator[tuple[Entity, DataField]]:
        """Yield the fields that a name may be of."""
        for sense in label.senses:
            if sense.sort is Sort.LABEL:
                entity = self._place.world.entity(sense.entity)
                yield entity, entity.field(sense.name)

    def _is_of(self, label: Item, value: Item) -> bool:
        """Return whether a mention may be a value of a field that is named."""
        return any(self._place.fits(*each, value) for each in self._fields(label))

    def _is_row(self, label: Item, value: Item) -> bool:
        """Return whether a value is rather the row whose field is named: `the Status of "A lamp"`, `the same as …`."""
        if not value.has(*TITLES):
            return False
        between = self._passage.between(label, value)
        if is_like(self._passage, value) or self._is_genitive(label, value):
            return True
        is_noun = not between or (
            self._words.is_head_last and all(Cue.OF in one.cues for one in between)
        )
        is_entity = is_noun if self._names_first else not self._is_link(label, value)
        if is_entity and is_name(label, value):
            return True
        if self._passage.asks(value.sentence) and not is_equated(between):
            return self._is_of_row(label, value)
        is_named = any(one.cues & {Cue.OF, Cue.SAME} or one.has(Sort.ONE) for one in between)
        if is_named or self._passage.is_after(label, Cue.SAME):
            return True
        return not self._is_link(label, value) and any(Cue.AS in one.cues for one in between)

    def _is_genitive(self, label: Item, value: Item) -> bool:
        """Return whether a row's name stands right behind a field that it has: Arabic has no word for `of` there."""
        is_described = self._passage.roles[label.number] is Role.COND
        is_near = value.place == label.end and not is_described and self._passage.has_article
        return is_near and self._is_of_row(label, value) and not self._is_link(label, value)

    def _is_of_row(self, label: Item, value: Item) -> bool:
        """Return whether a row has a field that is named, and the field is not its title."""
        return any(
            value.ids(entity.name) and field is not entity.title
            for entity, field in self._fields(label)
        )

    def _is_link(self, label: Item, value: Item) -> bool:
        """Return whether a name is that of a link which may lead to a row that a mention is."""
        rows = {sense.entity for sense in value.senses if sense.sort in TITLES}
        return any(field.target in rows for _, field in self._fields(label))

    def _frame(self, frames: Sequence[Frame]) -> None:
        """Find the fields of values by what is said around them; of several such phrases of an entity the longest counts."""
        for item in self._passage.items:
            if not item.is_value or item.number in self.labels or item.number in self.framed:
                continue
            places = [*self.starts(item)]
            found = [
                (one, start)
                for one in frames_at(frames, self._passage.words, item.end, places, self._words)
                if (start := self._start(item, one, places)) is not None
                and self._place.is_fit(one.sense, item)
                if one.is_predicate or not self._is_noun(item, one.sense.entity)
            ]
            if not found:
                continue
            found = self._of_named(item, found)
            if not found:
                continue
            if (named := self._name_before(item, found)) is not None:
                self.labels[item.number] = named
                continue
            longest, start = max(found, key=lambda one: (one[0].length, one[0].is_predicate))
            lengths = dict[str, int]()
            for one, _ in found:
                entity = one.sense.entity
                lengths[entity] = max(one.length, lengths.get(entity, 0))
            told = (one.sense for one, _ in found if one.length == lengths[one.sense.entity])
            self.framed[item.number] = tuple(dict.fromkeys(told))
            if longest.is_predicate:
                self.predicates[item.number] = start
            if longest.is_reduced and not self._is_behind_be(start):
                del self.predicates[item.number]
            end = end_of(self._passage, item)
            inside = {*range(start, item.place), *range(end, end + len(longest.behind))}
            self.words |= inside
            self.swallowed |= {one.number for one in self._passage.items if one.place in inside}

    def _of_named(self, item: Item, found: list[tuple[Frame, int]]) -> list[tuple[Frame, int]]:
        """Return what is said of rows that a goal names; if it names none of those, what has no name of a field before."""
        named = self._passage.names(*TITLES, Sort.ONE, Sort.MANY, Sort.VIEW)
        own = [one for one in found if one[0].sense.entity in named]
        if own:
            return own
        for before in reversed(self._passage.items[: item.number]):
            if before.has(Sort.LABEL) and self._is_of(before, item):
                return []
            if not before.cues & {Cue.LINK, Cue.ABOVE, Cue.BELOW, Cue.ANY}:
                return found
        return found

    def _name_before(self, item: Item, found: Sequence[tuple[Frame, int]]) -> Item | None:
        """Return the name of a field right before a value, as pages have it, though it is also said around values."""
        before = self._passage.before(item)
        if before is None or before.end != item.place or not before.has(Sort.LABEL):
            return None
        senses = {one.sense for one, start in found if start == before.place}
        is_exact = before.quoted or (before.exact and item.quoted)
        return before if is_exact and not senses.isdisjoint(before.senses) else None

    def _is_behind_be(self, start: int) -> bool:
        """Return whether `is` or the like stands before a predicate without it."""
        words = self._passage.words[max(0, start - 2) : start]
        return any(word in self._words.be or word == "s" for word in words)

    def _is_noun(self, item: Item, entity: str) -> bool:
        """Return whether what stands around the name of a row is rather its noun: no row of the phrase is spoken of."""
        before = self._passage.before(item)
        is_noun = before is not None and before.end == item.place and before.has(Sort.ONE)
        nouns = self._passage.names(Sort.ONE, Sort.MANY, Sort.VIEW)
        return is_noun and item.has(*TITLES) and entity not in nouns

    def _start(self, item: Item, frame: Frame, places: Iterable[tuple[int, bool]]) -> int | None:
        """Return where the words of a frame around a value begin; None: they are not there."""
        words, before = self._passage.words, frame.before
        if before == _TO and self._is_to_set(item):
            return None
        end = end_of(self._passage, item)
        if words[end : end + len(frame.behind)] != frame.behind:
            return None
        for place, is_bound in places:
            start = place - len(before)
            if start >= 0 and words[start:place] == before and self._is_there(item, frame, start):
                return start
            if is_bound and before[:-1] and before[-1] in self._words.joints:
                start = place - len(before) + 1
                is_so = start >= 0 and words[start:place] == before[:-1]
                if is_so and self._is_there(item, frame, start, less=1):
                    return start
        return None

    def _is_to_set(self, item: Item) -> bool:
        """Return whether a value behind `to` is one that a field is to have, in a sentence that sets any."""
        sets = (one for one in self._passage.with_cues(Cue.SET) if one.sentence == item.sentence)
        return self._passage.is_aim(item) and any(True for _ in sets)

    def _is_there(self, item: Item, frame: Frame, start: int, *, less: int = 0) -> bool:
        if self._words.is_head_last and cuts(
            self._passage, start, end_of(self._passage, item) + len(frame.behind)
        ):
            return False
        if self._words.is_head_last and frame.length <= 1:
            return precedes_noun(self._passage, self._place, item, frame)
        return frame.length - less > 1 or self._follows_noun(item, start, frame)

    def _follows_noun(self, item: Item, start: int, frame: Frame) -> bool:
        """Return whether a single word before a value stands behind a noun of rows, or behind what describes them."""
        items = self._passage.items
        if frame.is_predicate and start > 0:
            word = self._passage.words[start - 1]
            if word in self._words.pronouns or word in self._words.relatives:
                return True
        before = next((one for one in reversed(items[: item.number]) if one.end <= start), None)
        if before is None or before.end < start - 1:
            return False
        if Cue.AND in before.cues and before.number:
            before = items[before.number - 1]
        is_cond = self._passage.roles[before.number] is Role.COND
        is_told = before.is_value and not before.has(*TITLES) and is_cond
        is_row = frame.is_predicate and not frame.is_reduced and before.has(*TITLES)
        return before.has(Sort.ONE, Sort.MANY) or before.number in self.framed or is_told or is_row
