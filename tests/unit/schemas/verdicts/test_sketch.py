"""What a sketch of an episode holds, and how surely it tells near copies from others."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random

import pytest
from effort import THOROUGH
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import JsonObject
from schemas.verdicts.novelty import Fingerprints, find_repeats
from schemas.verdicts.sketch import FORM, SKETCH_BYTES, are_near, sketch_in, sketch_of
from schemas.verdicts.verdict import Status, Verdict

BITS = 256
NEAR = 16
"""Bits in which the hashes of near pictures may differ."""
PAIRS = 2_000 if THOROUGH else 60


def _prints(pictures: Sequence[int], course: str = "c" * 32) -> Fingerprints:
    return Fingerprints("a" * 32, course, tuple(f"{one:064x}" for one in pictures), "")


def _drawn(random: Random, count: int) -> list[int]:
    return [random.getrandbits(BITS) for _ in range(count)]


def _changed(random: Random, picture: int, bits: int) -> int:
    """Return a hash that differs in so many bits."""
    return picture ^ sum(1 << place for place in random.sample(range(BITS), bits))


def _share_near(count: int, change: Callable[[Random, list[int]], list[int]]) -> float:
    """Return the share of episodes of so many pictures that seem near to themselves, changed."""
    random = Random(count)
    found = 0
    for _ in range(PAIRS):
        own = _drawn(random, count)
        found += are_near(sketch_of(_prints(own)), sketch_of(_prints(change(random, own))))
    return found / PAIRS


@pytest.mark.parametrize("count", [1, 3, 4, 20, 100, 300])
def test_a_near_copy_is_recognised_however_many_pictures_it_has(count: int) -> None:
    def worst(random: Random, own: list[int]) -> list[int]:
        return [_changed(random, one, NEAR) for one in own]

    assert _share_near(count, worst) >= 0.95


@pytest.mark.parametrize("count", [1, 3, 4, 20, 100, 300])
def test_an_episode_with_other_pictures_is_no_near_copy(count: int) -> None:
    assert _share_near(count, lambda random, own: _drawn(random, len(own))) == 0
    a_quarter = _share_near(count, lambda random, own: [_changed(random, o, 64) for o in own])
    assert a_quarter == 0


@pytest.mark.parametrize("count", [1, 3, 4, 20])
def test_one_other_picture_among_twenty_is_noticed(count: int) -> None:
    def but_one(random: Random, own: list[int]) -> list[int]:
        near = [_changed(random, one, random.randint(0, NEAR)) for one in own]
        near[random.randrange(len(own))] = random.getrandbits(BITS)
        return near

    assert _share_near(count, but_one) == 0


def test_one_other_picture_of_a_hundred_may_pass() -> None:
    """There are eight or nine bits of it: what the module says of itself is so."""

    def but_one(random: Random, own: list[int]) -> list[int]:
        return [random.getrandbits(BITS), *own[1:]]

    assert 0.2 < _share_near(100, but_one) < 0.8


pictures = st.lists(st.integers(0, 2**BITS - 1), min_size=1, max_size=3)


@given(pictures, st.lists(st.integers(0, 2 * NEAR), min_size=3, max_size=3), st.randoms())
def test_up_to_three_pictures_are_compared_whole(
    own: list[int], changes: list[int], random: Random
) -> None:
    other = [_changed(random, one, bits) for one, bits in zip(own, changes, strict=False)]
    both = {"a": _prints(own), "b": _prints(other)._replace(trajectory="b" * 32)}

    is_near = "b" in find_repeats(both, {"a": "t", "b": "t"})

    assert are_near(*map(sketch_of, both.values())) is is_near


@given(st.lists(st.integers(0, 2**BITS - 1), max_size=40))
def test_a_sketch_has_one_length_and_is_near_itself(own: list[int]) -> None:
    sketch = sketch_of(_prints(own))

    assert len(sketch) == SKETCH_BYTES
    assert are_near(sketch, sketch) is bool(own)


@pytest.mark.parametrize(
    "other",
    [
        _prints([7], course="d" * 32),
        _prints([7, 7]),
        _prints([]),
        _prints([7])._replace(pictures=("0" * 15 + "7",)),
        _prints([7])._replace(pictures=("",)),
        _prints([7])._replace(pictures=("-" + "0" * 62 + "7",)),
    ],
    ids=["another course", "more", "none", "an older hash", "no hash", "negative"],
)
def test_sketches_are_near_only_of_the_same_course_with_as_many_hashes(other: Fingerprints) -> None:
    own = sketch_of(_prints([7]))

    assert not are_near(own, sketch_of(other))
    assert not are_near(sketch_of(other), own)
    assert not are_near(own, bytes([FORM + 1]) + own[1:])


def test_pictures_without_a_hash_are_near_no_others() -> None:
    torn = _prints([7, 7])._replace(pictures=("none", "7".zfill(64)))

    assert not are_near(sketch_of(torn), sketch_of(torn))


def test_hashes_of_another_make_are_told_apart() -> None:
    sketches = {sketch_of(_prints([7], course=course)) for course in ("one", "two", "ab")}

    assert len(sketches) == 3


def _latest(evidence: JsonObject, status: Status = Status.PASSED) -> dict[str, Verdict]:
    verdict = Verdict(
        episode_id="e",
        unit_id="u",
        verifier="novelty",
        verifier_version="1",
        round=0,
        status=status,
        reason="Because.",
        evidence=evidence,
        seconds=0.0,
        judged_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    return {"novelty": verdict}


def _evidence(**more: str) -> JsonObject:
    own = _prints([7, 8])
    return {**own._asdict(), "pictures": list(own.pictures), **more}


def test_a_verdict_s_own_sketch_is_taken() -> None:
    told = sketch_of(_prints([1, 2, 3, 4]))

    assert sketch_in(_latest(_evidence(sketch=told.hex()))) == told


@pytest.mark.parametrize("told", [None, "", "00" * SKETCH_BYTES, "01" * 127, "0x" * SKETCH_BYTES])
def test_an_earlier_verdict_is_sketched_from_its_fingerprints(told: str | None) -> None:
    evidence = _evidence() if told is None else _evidence(sketch=told)

    assert sketch_in(_latest(evidence)) == sketch_of(_prints([7, 8]))


def test_without_fingerprints_there_is_no_sketch() -> None:
    assert sketch_in({}) is None
    assert sketch_in(_latest({})) is None
    assert sketch_in(_latest(_evidence(), Status.ERROR)) is None
