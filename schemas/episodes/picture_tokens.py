"""Finds the tokens of pictures in a prompt.

The tokens of a prompt come from the engine as one list, in which a picture is a run of one placeholder
token. The engine does not name that token. It must be the only token that has as many runs as the call
has pictures, all of one length, since the pictures of a call have one size, and as many tokens as the
server counted for pictures. If the server did not count, the runs must be longer than any repetition in
text. Otherwise no range is returned: a wrong one would put a picture into words.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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
    ids, markers = list(prompt), 2 * pictures
    # A server may also count the tokens before and after each picture.
    totals = () if counted is None else (counted, counted - markers)
    fit = []
    for token, total in Counter(ids).items():
        length, rest = divmod(total, pictures)
        if rest or (length < MIN_RUN if counted is None else total not in totals):
            continue
        if ranges := _runs(ids, token, length):
            fit.append(PictureTokens(token, ranges))
    return fit[0] if len(fit) == 1 else None


def _runs(ids: list[int], token: int, length: int) -> tuple[tuple[int, int], ...]:
    """Return the offset and the length of each run of a token; empty if one has another length."""
    ranges: list[tuple[int, int]] = []
    run, end = [token] * length, 0
    for _ in range(ids.count(token) // length):
        start = ids.index(token, end)
        end = start + length
        if ids[start:end] != run or ids[end : end + 1] == [token]:
            return ()
        ranges.append((start, length))
    return tuple(ranges)
