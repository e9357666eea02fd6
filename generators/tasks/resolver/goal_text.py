"""The words of one goal, and how they are written."""

import re

from generators.tasks.resolver.tokens import STOPS, Quote, Token, find_quotes, split
from generators.tasks.resolver.vocabulary import Vocabulary
from generators.tasks.resolver.words import Words

_APOSTROPHES = re.compile("(?<=\\w)['\u2019](?=\\w)")


class GoalText:
    """A goal in words."""

    def __init__(self, vocabulary: Vocabulary, words: Words, goal: str) -> None:
        self._vocabulary, self._words = vocabulary, words
        self.goal = goal
        self.quotes: list[Quote] = find_quotes(goal)
        self.tokens = split(goal, self.quotes)
        self.key = tuple(self._spell(token.text) for token in self.tokens)
        """The words, as they are compared."""

    def between(self, start: int, end: int) -> str:
        """Return the text from a word up to another."""
        return self.goal[self.tokens[start].start : self.tokens[end - 1].end]

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
        start = self.goal.rfind(" ", 0, self.tokens[at].start) + 1
        chunk = self.goal[start:].split(maxsplit=1)[0].rstrip(".,;:?!)")
        return "@" in chunk and start < self.tokens[at].start < start + len(chunk)

    def is_code(self, at: int) -> bool:
        """Return whether what stands at a word up to the next space has more than letters in it, as addresses have."""
        chunk = self.goal[self.tokens[at].start :].split(maxsplit=1)[0].rstrip(".,;:?!")
        return not _APOSTROPHES.sub("", chunk).isalpha()

    def is_strange(self, at: int) -> bool:
        """Return whether a word may be part of a name: no mark, no quotation and none that means nothing by itself."""
        token = self.tokens[at]
        is_word = token.text.isalnum() and token.text not in self._words.common
        return is_word and token.quote < 0

    def _spell(self, word: str) -> str:
        """Return the word that is meant, if it is a slip of one of a goal's own words."""
        if word in self._vocabulary.words or word in self._words.known:
            return word
        return self._words.slips.get(word) or self._vocabulary.slips.get(word, word)
