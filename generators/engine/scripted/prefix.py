"""A prefix cache as a real one works: whole blocks, found from the front, oldest out first.

A block is known by all that stands before it, pictures' contents included, so that a prompt which
only grew finds its past again, and one changed in the middle finds it up to there.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence

BLOCK = 16
"""Tokens in a block."""


class PrefixCache:
    """Keeps the blocks of prompts and replies that it was shown."""

    def __init__(self, blocks: int, *, on: bool = True) -> None:
        self.on = on
        """It keeps anything at all."""
        self.blocks = blocks
        """How many it has room for."""
        self._known: OrderedDict[int, None] = OrderedDict()
        self.queries = 0
        """Tokens that were looked up."""
        self.hits = 0
        """Of these, found."""

    def look_up(self, keys: Sequence[int]) -> int:
        """Return how many tokens of a prompt are in the cache; its last token never counts."""
        if not self.on:
            return 0
        found = 0
        for name in _names(keys[:-1]):
            if name not in self._known:
                break
            self._known.move_to_end(name)
            found += BLOCK
        self.queries += len(keys)
        self.hits += found
        return found

    def keep(self, keys: Sequence[int]) -> None:
        """Put the whole blocks of a sequence into the cache."""
        if not self.on:
            return
        names = list(_names(keys))
        for name in reversed(names):  # the front of a prompt is the last to go
            self._known[name] = None
            self._known.move_to_end(name)
        while len(self._known) > self.blocks:
            self._known.popitem(last=False)


def _names(keys: Sequence[int]) -> Iterator[int]:
    name = 0
    for start in range(0, len(keys) - BLOCK + 1, BLOCK):
        name = hash((name, *keys[start : start + BLOCK]))
        yield name
