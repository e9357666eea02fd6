"""Names of fields in Arabic, before the noun of a row that takes the place of their last word: `صاحب الطلب`, `صاحب العملية`."""

from collections.abc import Sequence

from generators.tasks.resolver.goal_text import GoalText
from generators.tasks.resolver.senses import Key, Sense, Sort
from generators.tasks.resolver.tokens import fold
from generators.tasks.resolver.vocabulary import Vocabulary
from schemas.worlds.world import World

_TWO = 2


class Genitives:
    """The names of fields in one goal."""

    def __init__(self, world: World, vocabulary: Vocabulary, text: GoalText) -> None:
        self._world, self._vocabulary, self._text = world, vocabulary, text

    def name(
        self, at: int, words: Key, length: int, senses: tuple[Sense, ...]
    ) -> tuple[int, tuple[Sense, ...]]:
        """Return the length and the meanings of a phrase as the name of a field that ends before the next name."""
        length = self._without_shared(at, words, length, senses)
        return (length, senses) if length else self._head(words)

    def _without_shared(self, at: int, words: Key, length: int, senses: Sequence[Sense]) -> int:
        """Return the length of a name without its last word if another begins with that, as in `مالك الحساب المدين`."""
        if length < _TWO or not any(one.sort is Sort.LABEL for one in senses):
            return length
        last = self._text.tokens[at + length - 1]
        is_bare = last.text == fold(self._text.goal[last.start : last.end])
        if is_bare and self._is_link_to(last.text, senses):
            return length - 1
        rest, found = self._vocabulary.longest(words[length - 1 :])
        is_name = rest > 1 and any(one.sort in {Sort.LABEL, Sort.ONE} for one in found)
        return length - 1 if is_name and not any(one in senses for one in found) else length

    def _is_link_to(self, word: str, senses: Sequence[Sense]) -> bool:
        """Return whether a word is also the name of a link to rows that have a field."""
        entities = {one.entity for one in senses if one.sort is Sort.LABEL}
        return any(
            self._world.entity(one.entity).field(one.name).target in entities
            for one in self._vocabulary.find((word,))
            if one.sort is Sort.LABEL
        )

    def _head(self, words: Key) -> tuple[int, tuple[Sense, ...]]:
        """Return a name without its last word, if the noun of a row that has the field stands there."""
        for length in (1, _TWO):
            found = self._vocabulary.heads.get(words[:length], ())
            rest = words[length:]
            nouns = self._vocabulary.longest(rest)[1] if found and rest else ()
            entities = {one.entity for one in nouns if one.sort is Sort.ONE}
            own = tuple(one for one in found if one.entity in entities)
            if own:
                return length, own
        return 0, ()
