"""Finds the tokens of pictures in a prompt.

The tokens of a prompt come from the engine as one list, in which a picture is a run of one placeholder
token. The engine does not name that token. It must be the only token that has as many runs as the call
has pictures, all of one length, since the pictures of a call have one size, and as many tokens as the
server counted for pictures. If the server did not count, the runs must be longer than any repetition in
text. Otherwise no range is returned: a wrong one would put a picture into words.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

MIN_RUN = 16
"""The minimum number of tokens of a picture, if the server does not report the number."""


@dataclass(frozen=True, slots=True)
class PictureTokens:
    """The tokens of a prompt's pictures."""

    token: int
    """The placeholder."""
    ranges: tuple[tuple[int, int], ...]
    """The offset in the prompt and the length of each picture, in order; counted in tokens."""


def find_picture_tokens(
    prompt: Sequence[int], *, pictures: int, counted: int | None
) -> PictureTokens | None:
    """Return the ranges of a prompt's picture tokens; None if it has none or they cannot be found.

    `counted` is the number of tokens that the server counted for them; None if it did not count.
    """
    if not pictures:
        return None
    runs: dict[int, list[tuple[int, int]]] = defaultdict(list)
    offset = 0
    for token, run in groupby(prompt):
        length = len(list(run))
        runs[token].append((offset, length))
        offset += length
    fit = [
        PictureTokens(token, tuple(ranges))
        for token, ranges in runs.items()
        if _fits(ranges, pictures, counted)
    ]
    return fit[0] if len(fit) == 1 else None


def _fits(ranges: list[tuple[int, int]], number: int, counted: int | None) -> bool:
    lengths = {length for _, length in ranges}
    if len(ranges) != number or len(lengths) != 1:
        return False
    total = sum(length for _, length in ranges)
    if counted is None:
        return min(lengths) >= MIN_RUN
    markers = 2 * number  # a server may also count the tokens before and after each picture
    return counted in (total, total + markers)
