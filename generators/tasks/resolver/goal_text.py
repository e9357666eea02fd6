"""The words of one goal, and how they are written."""

import re

from generators.tasks.resolver.tokens import STOPS, Quote, Token, bare_word, find_quotes, split
from generators.tasks.resolver.vocabulary import Vocabulary
from generators.tasks.resolver.words import Words
from generators.tasks.resolver.writing import GAP, without_gaps

_APOSTROPHES = re.compile("(?<=\\w)['\u2019](?=\\w)")

_GAPS = (" ", GAP)
_ALIF = "\u0627"
_ENDS = ".,;:?!،؛؟)"


def _chunk(text: str) -> str:
    """Return a text up to its first space or gap between scripts."""
    return text.replace(GAP, " ").split(maxsplit=1)[0]


class GoalText:
    """A goal in words."""

    def __init__(self, vocabulary: Vocabulary, words: Words, goal: str) -> None:
        self._vocabulary, self._words = vocabulary, words
        self.goal = goal
        self.quotes: list[Quote] = find_quotes(goal)
        self.tokens = [
            part for token in split(goal, self.quotes) for part in self._without_prefixes(token)
        ]
        self.key = tuple(self._spell(token.text) for token in self.tokens)
        """The words, as they are compared."""

    def between(self, start: int, end: int) -> str:
        """Return the text from a word up to another."""
        return without_gaps(self.goal[self.tokens[start].start : self.tokens[end - 1].end])

    def letters_of(self, token: Token) -> str:
        """Return a word with its accents, in small letters."""
        return self.goal[token.start : token.end].casefold()

    def is_upper(self, at: int) -> bool:
        """Return whether a word begins with a capital letter."""
        return self.goal[self.tokens[at].start].isupper()

    def is_inside(self, at: int) -> bool:
        """Return whether a word does not begin a sentence."""
        return at > 0 and self.tokens[at - 1].text not in STOPS | {":", "¿", "¡"}

    def is_joined(self, at: int) -> bool:
        """Return whether a word or a mark stands within an address, and does not begin it."""
        place = self.tokens[at].start
        start = max(self.goal.rfind(gap, 0, place) for gap in _GAPS) + 1
        chunk = _chunk(self.goal[start:]).rstrip(_ENDS)
        return "@" in chunk and start < place < start + len(chunk)

    def is_code(self, at: int) -> bool:
        """Return whether what stands at a word up to the next space has more than letters in it, as addresses have."""
        chunk = _chunk(self.goal[self.tokens[at].start :]).rstrip(_ENDS[:-1])
        return not _APOSTROPHES.sub("", chunk).isalpha()

    def is_strange(self, at: int) -> bool:
        """Return whether a word may be part of a name: no mark, no quotation and none that means nothing by itself."""
        token = self.tokens[at]
        is_word = token.text.isalnum() and token.text not in self._words.common
        return is_word and token.quote < 0

    def _without_prefixes(self, token: Token, place: int = 0) -> list[Token]:
        """Return a word and those that are written with it, if it is known without them alone."""
        known, word = self._is_known, self.goal[token.start : token.end]
        if known(token.text) or token.quote >= 0:
            return [token]
        for at, prefixes in enumerate(self._words.prefixes[place:], start=place + 1):
            if word[:1] not in prefixes:
                continue
            rest = f"{_ALIF}{word[1:]}" if word[:2] == "لل" else word[1:]
            text = bare_word(rest)
            first = Token(word[:1], token.start, token.start + 1, token.quote)
            parts = self._without_prefixes(Token(text, token.start + 1, token.end, token.quote), at)
            if len(parts) > 1 or known(parts[0].text):
                return [first, *parts]
        return [token]

    def _is_known(self, word: str) -> bool:
        return word in self._vocabulary.whole or word in self._words.known

    def _spell(self, word: str) -> str:
        """Return the word that is meant, if it is a slip of one of a goal's own words."""
        if word in self._vocabulary.words or word in self._words.known:
            return word
        return self._words.slips.get(word) or self._vocabulary.slips.get(word, word)
