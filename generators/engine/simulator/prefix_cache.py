"""A prefix cache that works as a real one: whole blocks, looked up from the front, evicted by age.

A block's name covers everything up to its end, the contents of pictures included. So a prompt that
only grew finds all of its earlier blocks, and one changed in the middle finds those before the change.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from generators.engine.simulator.batching.requests import names_of_tokens

BLOCK = 16
"""Tokens in a block."""


class PrefixCache:
    """Keeps the blocks of recent prompts and replies."""

    def __init__(self, blocks: int, *, on: bool = True) -> None:
        self.on = on
        """Whether it keeps anything."""
        self.blocks = blocks
        """Blocks that it has room for."""
        self._known: OrderedDict[int, None] = OrderedDict()
        self.queries = 0
        """Tokens that were looked up."""
        self.hits = 0
        """The number of these that were found."""

    def look_up(self, prompt: "Blocks") -> int:
        """Return how many tokens of a prompt are in the cache; its last token never counts."""
        if not self.on:
            return 0
        found = 0
        for name in prompt.names[: max(0, prompt.tokens - 1) // BLOCK]:
            if name not in self._known:
                break
            self._known.move_to_end(name)
            found += BLOCK
        self.queries += prompt.tokens
        self.hits += found
        return found

    def keep(self, blocks: "Blocks") -> None:
        """Put a sequence's whole blocks into the cache."""
        if not self.on:
            return
        for name in reversed(blocks.names):  # the front of a prompt is the last to go
            self._known[name] = None
            self._known.move_to_end(name)
        while len(self._known) > self.blocks:
            self._known.popitem(last=False)


@dataclass(frozen=True)
class Blocks:
    """The whole blocks of a sequence, each named by everything up to its end."""

    tokens: int
    """The number of tokens of the whole sequence."""
    names: tuple[int, ...]
    """The names in order."""
    rest: tuple[int, ...]
    """Tokens after the last whole block."""


NOTHING = Blocks(0, (), ())
"""The empty sequence."""


def blocks_of(keys: Sequence[int], *, after: Blocks = NOTHING) -> Blocks:
    """Return the blocks of a sequence that goes on `after` another."""
    left = (*after.rest, *keys)
    names = names_of_tokens(left, BLOCK, before=after.names[-1] if after.names else 0)
    rest = left[len(names) * BLOCK :]
    return Blocks(after.tokens + len(keys), (*after.names, *names), rest)
