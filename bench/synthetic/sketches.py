"""Sketches of very many episodes, with planted copies and near copies among those of the same course.

An episode has 1 to 100 pictures whose hashes are drawn, and so have the others of its course: those are
strangers, which are near no other. Their sketches are drawn at once, because sampled bits of drawn hashes are
drawn bits. What is planted is sketched by the product's own function: a copy, a near copy whose pictures
differ in any number of the bits that they may, one whose every picture differs in all of these, and an
episode that is none, because one of its pictures is another one.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.base import content_hash
from schemas.verdicts.novelty import Fingerprints
from schemas.verdicts.sketch import COURSE, FORM, SKETCH_BYTES, sketch_of
from storage.publish.plan.repeats import COLUMNS

COURSE_EPISODES = 10
"""Episodes of a course, on average."""
MAX_PICTURES = 100
BITS = 256
NEAR_BITS = 16

KINDS = ("copy", "near", "far_near", "one_other")
"""What is planted."""

_BATCH_ROWS = 10_000
"""Rows of a group: a large night's, whose index is a file of its own in a collection."""


class Planted(NamedTuple):
    """An episode that is planted beside another one."""

    kind: str
    """One of `KINDS`."""
    pictures: int
    """How many pictures both have."""
    base: str
    """The episode that it was made of."""
    episode_id: str
    """The episode."""
    base_sketch: bytes
    sketch: bytes


def plant(count: int, *, salt: str) -> list[Planted]:
    """Return so many planted episodes of each kind, each beside an episode of its own."""
    random = Random(salt)
    return [_planted(random, kind, f"{salt} {n}") for kind in KINDS for n in range(count)]


def write_sketches(path: Path, strangers: int, planted: list[tuple[str, bytes]]) -> None:
    """Write a Parquet file of strangers and of planted rows, in a drawn order, by batches."""
    random = Random(strangers)
    waiting = random.sample(planted, len(planted))
    batches = -(-strangers // _BATCH_ROWS)
    with pq.ParquetWriter(path, COLUMNS) as writer:
        for batch in range(batches):
            count = min(_BATCH_ROWS, strangers - batch * _BATCH_ROWS)
            rows = [*_strangers(random, count, courses=-(-strangers // COURSE_EPISODES))]
            rows += waiting[batch::batches]
            random.shuffle(rows)
            ids, sketches = zip(*rows, strict=True)
            writer.write_table(pa.table({"episode_id": ids, "sketch": sketches}, schema=COLUMNS))


def _strangers(random: Random, count: int, *, courses: int) -> Iterator[tuple[str, bytes]]:
    """Yield the rows of episodes that are near no other, though they share one of so many courses."""
    for _ in range(count):
        course = Random(random.randrange(courses))
        pictures, key = (
            course.randint(1, MAX_PICTURES),
            course.randbytes(COURSE.stop - COURSE.start),
        )
        held = min((SKETCH_BYTES - COURSE.stop) * 8, BITS * pictures)
        bits = random.getrandbits(held).to_bytes(SKETCH_BYTES - COURSE.stop)
        head = bytes([FORM]) + pictures.to_bytes(2)
        yield random.randbytes(16).hex(), head + random.randbytes(8) + key + bits


def _planted(random: Random, kind: str, name: str) -> Planted:
    """Return a planted episode and the one that it was made of."""
    count = random.randint(1, MAX_PICTURES)
    own = [random.getrandbits(BITS) for _ in range(count)]
    if kind == "copy":
        other = own
    else:
        least = NEAR_BITS if kind == "far_near" else 0
        other = [_changed(random, one, random.randint(least, NEAR_BITS)) for one in own]
    if kind == "one_other":
        other[random.randrange(count)] = random.getrandbits(BITS)
    course, trajectory = content_hash([name, kind]), content_hash([name, kind, "trajectory"])
    changed = trajectory if kind == "copy" else content_hash([name, kind, "other"])
    ids = random.randbytes(16).hex(), random.randbytes(16).hex()
    return Planted(
        kind, count, *ids, _sketch(trajectory, course, own), _sketch(changed, course, other)
    )


def _sketch(trajectory: str, course: str, pictures: list[int]) -> bytes:
    hashes = tuple(f"{picture:064x}" for picture in pictures)
    return sketch_of(Fingerprints(trajectory, course, hashes, ""))


def _changed(random: Random, picture: int, bits: int) -> int:
    """Return a hash that differs in so many bits."""
    return picture ^ sum(1 << place for place in random.sample(range(BITS), bits))
