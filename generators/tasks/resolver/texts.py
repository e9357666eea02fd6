"""Finds the texts that fields are to have or have, where they stand without quotation marks beside the name of a field."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from generators.tasks.resolver.goal_text import GoalText
from generators.tasks.resolver.mentions import TITLES, Item
from generators.tasks.resolver.senses import Key, Sense, Sort
from generators.tasks.resolver.tokens import STOPS
from generators.tasks.resolver.words import Cue, Words
from schemas.worlds.field import Kind
from schemas.worlds.world import World

_NO_CUES: frozenset[Cue] = frozenset()
_VERB = re.compile("[ぁ-ん]{3,}$")
_TEXTS = frozenset({Kind.TEXT, Kind.LONG_TEXT})
_OPENS = frozenset({Cue.OF, Cue.COND, Cue.UNDER, Cue.TO, Cue.IN})
"""Words behind which another mention ends a text."""

_CUTS = frozenset({Cue.AND, Cue.COND, Cue.SET, Cue.LINK, Cue.DELETE, Cue.NOW, Cue.STAY})
"""Words that are no part of a title before them."""

Literal = Callable[[str, int, int], Item]
"""Returns a text, from a word up to another, as what it may be in the world."""


def _is_within(item: Item, text: Item) -> bool:
    """Return whether a mention is a part of a text."""
    is_part = text.place <= item.place and item.end <= text.end
    return is_part and text.quoted and item.end - item.place < text.end - text.place


class TextReader:
    """Reads the texts of one goal."""

    def __init__(
        self,
        world: World,
        words: Words,
        text: GoalText,
        literal: Literal,
        predicates: Collection[Key],
    ) -> None:
        """Read texts behind names of fields, and behind `predicates`: what is said of rows before a value."""
        self._world, self._words, self._text, self._literal = world, words, text, literal
        self._predicates, self._lengths = predicates, {len(one) for one in predicates}

    def read(self, items: list[Item]) -> list[Item]:
        """Return the mentions with the texts that stand behind names of fields without quotation marks."""
        out, at = list[Item](), 0
        starts = {item.place: item for item in items}
        for item in items:
            if item.place < at:
                continue
            out.append(item)
            self._read_before(out, starts)
            start = (
                self._text_after(item, starts)
                or self._text_behind_to(item, starts)
                or self._text_behind_predicate(item, starts)
            )
            end = None if start is None else self._end_of_text(start, starts)
            if start is None or end is None or not self._is_said(start, end, starts):
                continue
            out += [one for one in items if item.end <= one.place < start]
            text = self._text.between(start, end)
            weak = Cue.TO in item.cues
            out.append(self._literal(text, start, end)._replace(sentence=item.sentence, weak=weak))
            at = end
        return [one for one in out if not any(_is_within(one, each) for each in out)]

    def _read_before(self, out: list[Item], starts: dict[int, Item]) -> None:
        """Put the text before the name of a field, `Ann Lee as the name` or `Ann Lee (name)`, in place of its parts."""
        label = out[-1]
        end = self._end_before(out) if self._texts_of(label) else None
        start = None if end is None else self._start_of_text(end, starts)
        if start is None or end is None or self._text.tokens[start].quote >= 0:
            return
        inside = [one for one in out if start <= one.place < end]
        if any(one.sort is Sort.LABEL and one in label.senses for i in inside for one in i.senses):
            return  # the field's name again, as `the plate (Number plate)`
        if (
            len(inside) == 1
            and (inside[0].place, inside[0].end) == (start, end)
            and inside[0].has(*TITLES, Sort.TEXT)
        ):
            return
        text = self._text.between(start, end)
        said = self._literal(text, start, end)._replace(sentence=label.sentence)
        out[:] = sorted(
            [*(one for one in out if one not in inside), said], key=lambda one: one.place
        )

    def _end_before(self, out: Sequence[Item]) -> int | None:
        """Return where a text before the name of a field would end: at `as` or a bracket; None: none is there."""
        label, joint = out[-1], out[-2] if len(out) > 1 else None
        if joint is None or joint.quoted or label.place - joint.end > 1:
            return None
        if joint.mark != "(" and not joint.cues & {Cue.AS, Cue.FOR}:
            return None
        return joint.place if joint.place > 0 else None

    def _start_of_text(self, end: int, starts: dict[int, Item]) -> int | None:
        """Return where a text begins that ends at a word: behind a mark, or behind what opens a description."""
        at = end
        while at > 0 and self._text.tokens[at - 1].quote < 0:
            if self._text.is_joined(at):
                at -= 1
                continue
            cut = next((one for one in self._ending(at, starts)), None)
            if cut is not None and Cue.TELL in cut.cues:
                return None
            if cut is not None and self._parts_texts(cut, starts):
                break
            at -= 1
        is_told = any(one.text not in self._words.common for one in self._text.tokens[at:end])
        return at if is_told else None

    def _ending(self, at: int, starts: dict[int, Item]) -> Iterator[Item]:
        return (one for place, one in starts.items() if place < at and one.end == at)

    def _parts_texts(self, item: Item, starts: dict[int, Item]) -> bool:
        """Return whether a mention stands before a text and is no part of it."""
        if item.mark:
            return item.mark in STOPS | {",", ":", "(", ")", ";"}
        if Cue.AND in item.cues:
            before = next((one for one in self._ending(item.place, starts)), None)
            return before is None or before.is_value or before.mark == ")" or before.has(Sort.LABEL)
        is_name = self._text.is_upper(item.place) and self._text.is_inside(item.place)
        is_other = item.has(Sort.ONE) or item.cues & {Cue.COND, Cue.SET, Cue.PLAIN, Cue.SAY}
        return bool(is_other) and not is_name

    def _texts_of(self, label: Item) -> list[Sense]:
        """Return the fields with texts that a name may be of."""
        world = self._world
        return [
            one
            for one in label.senses
            if one.sort is Sort.LABEL and world.entity(one.entity).field(one.name).kind in _TEXTS
        ]

    def _text_after(self, item: Item, starts: dict[int, Item]) -> int | None:
        """Return where a text begins that a named field is to have; None: none does."""
        texts = self._texts_of(item)
        if not texts or any(Cue.TELL in one.cues for one in self._ending(item.place, starts)):
            return None
        at = item.end
        while (at in starts and Cue.LINK in starts[at].cues) or self._is_colon(at):
            at = starts[at].end if at in starts and not self._is_colon(at) else at + 1
        if at >= len(self._text.tokens) or self._text.tokens[at].quote >= 0:
            return None
        return at if self._begins(at, starts, texts) else None

    def _begins(self, at: int, starts: dict[int, Item], labels: Sequence[Sense]) -> bool:
        """Return whether a text begins at a word behind the name of a field."""
        there = starts.get(at)
        is_lower = self._text.goal[self._text.tokens[at].start].islower()
        is_code = is_lower and self._text.is_code(at)
        if there is None:
            return is_code or not is_lower
        if there.is_literal and "@" in there.text:
            return False  # it is whole
        if not self._words.has_spaces and not there.mark:
            is_other = there.has(Sort.TEXT) and not there.has(*TITLES, Sort.CHOICE)
            return not there.cues and (is_other or not self._is_cut(there.end, starts))
        if there.mark or is_code:
            return is_code or there.mark == "+"
        if there.has(Sort.TITLE) and self._is_cut(there.end, starts):
            return False
        is_word = is_lower and not there.has(*TITLES, Sort.TEXT)
        return not is_word and not self._is_other(there, labels)

    def _text_behind_to(self, item: Item, starts: dict[int, Item]) -> int | None:
        """Return where a text of no known words begins behind `to`, as a code does; None: there is none."""
        at = item.end
        if not self._words.has_spaces:
            return None  # `に` stands behind what something becomes
        if Cue.TO not in item.cues or at in starts or at >= len(self._text.tokens):
            return None
        is_text = self._text.tokens[at].quote < 0 and (
            self._text.is_code(at) or self._text.is_upper(at)
        )
        return at if is_text and self._text.tokens[at].text not in self._words.common else None

    def _text_behind_predicate(self, item: Item, starts: dict[int, Item]) -> int | None:
        """Return where a text of no known words begins behind what is said of rows before a value; None: there is none."""
        for at in (item.end, item.end + 1):
            if (
                self._is_covered(at, starts)
                or at >= len(self._text.tokens)
                or not self._text.is_strange(at)
            ):
                continue
            if any(self._text.key[at - one : at] in self._predicates for one in self._lengths):
                return at
        return None

    @staticmethod
    def _is_covered(at: int, starts: dict[int, Item]) -> bool:
        return any(one.place <= at < one.end for one in starts.values())

    def _is_colon(self, at: int) -> bool:
        return at < len(self._text.tokens) and self._text.tokens[at].text == ":"

    def _is_other(self, item: Item, labels: Sequence[Sense]) -> bool:
        """Return whether a mention is no beginning of a text: a name of something else, or an order."""
        if item.has(Sort.LABEL, Sort.ONE, Sort.MANY) and not item.exact:
            return True
        texts = {(one.entity, one.name) for one in labels}
        is_known = any(
            one.sort is Sort.TEXT and (one.entity, one.name) in texts for one in item.senses
        )
        is_name = self._text.is_upper(item.place) and not self._words.has_capital_nouns
        return not is_known and not is_name and bool(item.cues)

    def _end_of_text(self, start: int, starts: dict[int, Item]) -> int | None:
        """Return where a text ends: before a mark, another field, the row that it is of, or what ends texts."""
        at = start
        while at < len(self._text.tokens) and self._text.tokens[at].quote < 0:
            there = None if self._text.is_joined(at) else starts.get(at)
            if there is not None and at > start:
                if there.mark in STOPS or there.mark in {",", "(", ")", ":"}:
                    break
                if there.cues & {Cue.STAY, Cue.NOW, Cue.UNDO, Cue.IF, Cue.ELSE} or self._is_stay(
                    at
                ):
                    break
                if Cue.AND in there.cues and self._is_cond(there.end, starts):
                    break
                opens = {Cue.AND} if self._is_colon(start - 1) else {Cue.AND, *_OPENS}
                if there.cues & opens and self._opens(there, starts):
                    break
            at += 1
        return at if at > start else None

    def _is_said(self, start: int, end: int, starts: dict[int, Item]) -> bool:
        """Return whether words may be a text: without spaces, no verb, and what a particle stands behind."""
        if self._words.has_spaces:
            return True
        if _VERB.search(self._text.between(start, end)):
            return False
        behind = starts.get(end)
        if self._text.goal[self._text.tokens[start].start - 1 :][:1] == "を":
            return behind is not None and Cue.TO in behind.cues
        return behind is None or bool(behind.mark or behind.cues)

    def _is_stay(self, at: int) -> bool:
        """Return whether a longer phrase begins with a word that ends texts, as `who decides`."""
        return Cue.STAY in self._words.cues.get(self._text.key[at : at + 1], _NO_CUES)

    @staticmethod
    def _is_cut(at: int, starts: dict[int, Item]) -> bool:
        """Return whether a title is followed by something that is no part of it."""
        return at in starts and bool(starts[at].mark or starts[at].cues & _CUTS)

    @staticmethod
    def _is_cond(at: int, starts: dict[int, Item]) -> bool:
        return at in starts and Cue.COND in starts[at].cues

    def _opens(self, joint: Item, starts: dict[int, Item]) -> bool:
        """Return whether `and`, `of` or the like is followed by a name of the world, and is no part of a text."""
        at = joint.end
        while (
            at < len(self._text.tokens)
            and self._text.tokens[at].text in self._words.common
            and at < joint.end + 2
        ):
            at += 1
        return any(
            place in starts
            and starts[place].has(Sort.LABEL, Sort.ONE, Sort.MANY, Sort.VIEW, *TITLES, Sort.PLACE)
            for place in range(joint.end, at + 1)
        ) or self._is_quoted(at if Cue.FIELD not in self._cues(at, starts) else starts[at].end)

    def _is_quoted(self, at: int) -> bool:
        return at < len(self._text.tokens) and self._text.tokens[at].quote >= 0

    @staticmethod
    def _cues(at: int, starts: dict[int, Item]) -> frozenset[Cue]:
        return starts[at].cues if at in starts else _NO_CUES
