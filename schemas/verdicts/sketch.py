"""A sketch of an episode: at most 128 bytes, by which copies and near copies are found among many runs.

A run compares whole fingerprints (`schemas.verdicts.novelty`). A dataset of many runs has no room for
them: an episode of 100 pictures has 3,200 bytes of difference hashes. A sketch holds the ends of the two
hashes by which copies and courses are recognised, and as many bits of the pictures' hashes as fit, the
same number of each picture. Up to three pictures fit whole, and sketches decide as fingerprints do.

Of more pictures a sketch holds a sample. Its bits are drawn once for all episodes, so two sketches hold
the same places of their pictures, and what differs between them is a sample of what differs between the
pictures. Two sketches are near if no picture, and not all pictures together, differ in more bits than a
near copy's would: a near copy is recognised with a probability of at least 95 %, even if each of its
pictures differs in all the bits that it may. Another picture beside 40 or more that are near is noticed
less surely the more there are, because there are fewer bits of it.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from itertools import accumulate
from math import comb, floor, sqrt
from typing import NamedTuple

from schemas.verdicts.novelty import NEAR_SHARE, Fingerprints, fingerprints_of
from schemas.verdicts.verdict import Verdict

FORM = 1
"""The first byte of a sketch: sketches of different forms cannot be compared."""

SKETCH_BYTES = 128
"""The length of a sketch."""

PICTURES = slice(1, 3)
"""Where a sketch has its number of pictures; 0 if they cannot be compared."""
TRAJECTORY = slice(3, 11)
"""Where a sketch has the beginning of the hash that copies share."""
COURSE = slice(11, 19)
"""Where a sketch has the beginning of the hash that near copies share."""

_TOLD = re.compile(f"{FORM:02x}[0-9a-f]{{{2 * SKETCH_BYTES - 2}}}")
_KEY_BYTES = 8
_HASH_BITS = 256
_NEAR_BITS = int(NEAR_SHARE * _HASH_BITS)
_BITS = (SKETCH_BYTES - COURSE.stop) * 8
_MAX_PICTURES = 2**16 - 1

_MISSED = 0.03
"""The share of near copies that may be missed because one of their pictures seems too far."""
_DEVIATIONS = 3
"""Standard deviations by which the differing bits of all pictures may exceed what is expected."""


class _Sample(NamedTuple):
    """The bits of one picture in a sketch."""

    picture: int
    """The number of the picture."""
    mask: int
    """Where they are among all bits of the sketch."""
    places: tuple[int, ...]
    """Where they are in the picture's hash, the first of them first in the sketch."""
    limit: int
    """In how many of them near pictures may differ."""


class _Layout(NamedTuple):
    """What a sketch of so many pictures holds of them."""

    samples: tuple[_Sample, ...]
    """The bits of each picture, in the order of the sketch; with too many pictures, not of each."""
    limit: int
    """In how many bits near copies may differ in all."""


def sketch_of(prints: Fingerprints) -> bytes:
    """Return the sketch of an episode with these fingerprints.

    If a picture has no hash of 256 bits, the sketch holds none: the episode is near no other then, but it
    may be a copy.
    """
    pictures = [_hash_of(picture) for picture in prints.pictures]
    hashes = [one for one in pictures if one is not None]
    count = min(len(hashes), _MAX_PICTURES) if len(hashes) == len(pictures) else 0
    bits = 0
    for sample in _layout(count).samples:
        value = hashes[sample.picture]
        for place in sample.places:
            bits = bits << 1 | (value >> place & 1)
    head = bytes([FORM]) + count.to_bytes(2)
    keys = _key_of(prints.trajectory) + _key_of(prints.course)
    return head + keys + bits.to_bytes(_BITS // 8)


def sketch_in(latest: Mapping[str, Verdict]) -> bytes | None:
    """Return the sketch of an episode with these latest verdicts; None if `novelty` has no fingerprints of it.

    Earlier verdicts of `novelty` hold no sketch, or one of another form: theirs is made of their
    fingerprints.
    """
    prints = fingerprints_of(latest)
    if prints is None:
        return None
    told = latest["novelty"].evidence.get("sketch")
    is_whole = isinstance(told, str) and _TOLD.fullmatch(told) is not None
    return bytes.fromhex(str(told)) if is_whole else sketch_of(prints)


def are_near(one: bytes, other: bytes) -> bool:
    """Return whether two sketches are those of near copies, or of copies, as far as sketches tell."""
    count = int.from_bytes(one[PICTURES])
    same = one[0] == other[0] and one[PICTURES] == other[PICTURES] and one[COURSE] == other[COURSE]
    if not same or count == 0:
        return False
    layout = _layout(count)
    differing = int.from_bytes(one[COURSE.stop :]) ^ int.from_bytes(other[COURSE.stop :])
    return differing.bit_count() <= layout.limit and all(
        (differing & sample.mask).bit_count() <= sample.limit for sample in layout.samples
    )


def _hash_of(picture: str) -> int | None:
    """Return the hash of a picture; None if it has none of 256 bits."""
    try:
        value = int(picture, 16)
    except ValueError:
        return None
    return value if 4 * len(picture) == _HASH_BITS and value >= 0 else None


def _key_of(content_hash: str) -> bytes:
    """Return the first eight bytes of a hash; of what is no hash, those of its SHA-256."""
    try:
        whole = bytes.fromhex(content_hash)
    except ValueError:
        whole = b""
    if len(whole) < _KEY_BYTES:
        whole = hashlib.sha256(content_hash.encode()).digest()
    return whole[:_KEY_BYTES]


@cache
def _layout(pictures: int) -> _Layout:
    """Return what a sketch of so many pictures holds of them."""
    seen = min(pictures, _BITS)
    total = min(_BITS, _HASH_BITS * pictures)
    counts = [(total + place) // seen for place in range(seen)]
    samples = tuple(
        _Sample(
            picture=place * pictures // seen,
            mask=(1 << count) - 1 << total - end,
            places=_places(place)[:count],
            limit=_picture_limit(count, seen),
        )
        for place, (count, end) in enumerate(zip(counts, accumulate(counts), strict=True))
    )
    share = _NEAR_BITS / _HASH_BITS
    left = sum(count * (_HASH_BITS - count) for count in counts) / (_HASH_BITS - 1)
    deviation = sqrt(share * (1 - share) * left)
    return _Layout(samples, floor(share * total + _DEVIATIONS * deviation))


@cache
def _places(picture: int) -> tuple[int, ...]:
    """Return the places of a hash in the order in which a sketch takes them; drawn for each picture."""

    def lot(place: int) -> bytes:
        return hashlib.sha256(f"{picture} {place}".encode()).digest()

    return tuple(sorted(range(_HASH_BITS), key=lot))


@cache
def _picture_limit(count: int, pictures: int) -> int:
    """Return in how many of `count` bits of each of `pictures` near pictures may differ.

    All but `_MISSED` of the near copies keep to it, whose every picture differs in all bits that it may.
    """
    beyond, limit = 1.0, -1
    while beyond * pictures > _MISSED and limit < min(count, _NEAR_BITS):
        limit += 1
        ways = comb(_NEAR_BITS, limit) * comb(_HASH_BITS - _NEAR_BITS, count - limit)
        beyond -= ways / comb(_HASH_BITS, count)
    return limit
