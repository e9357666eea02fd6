"""The known words nearest to an unknown one, for messages.

Comparing takes time that grows with the product of the lengths, so a word longer than any name is near
to no word.
"""

import difflib
from collections.abc import Iterable

_MAX_CHARS = 100


def nearest(word: str, known: Iterable[str], *, count: int, cutoff: float = 0.6) -> list[str]:
    """Return at most `count` of the `known` words with a similarity of at least `cutoff`, nearest first."""
    if len(word) > _MAX_CHARS:
        return []
    return difflib.get_close_matches(word, list(known), n=count, cutoff=cutoff)


def did_you_mean(word: str, known: Iterable[str], *, count: int = 3, cutoff: float = 0.6) -> str:
    """Return a hint at the words nearest to `word`, to put behind a sentence; empty if none is near."""
    near = nearest(word, known, count=count, cutoff=cutoff)
    named = " or ".join(f"'{one}'" for one in near)
    return f"; did you mean {named}?" if near else ""
