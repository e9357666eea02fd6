"""Which new episodes repeat others, by their sketches alone."""

from collections.abc import Mapping, Sequence
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import Damaged
from schemas.verdicts.novelty import MAX_COMPARED, Fingerprints, find_repeats
from schemas.verdicts.sketch import SKETCH_BYTES, sketch_of
from storage.publish.plan import repeats
from storage.publish.plan.repeats import COLUMNS, Repeat, repeats_of

EMPTY = COLUMNS.empty_table()


def _prints(
    trajectory: int, course: int = 0, pictures: Sequence[int] = (0,), task: int = 0
) -> Fingerprints:
    hashes = tuple(f"{picture:064x}" for picture in pictures)
    return Fingerprints(f"{trajectory:032x}"[::-1], f"{course:032x}"[::-1], hashes, str(task))


def _table(episodes: Mapping[str, Fingerprints | bytes | None]) -> pa.Table:
    sketches = [
        sketch_of(one) if isinstance(one, Fingerprints) else one for one in episodes.values()
    ]
    return pa.table({"episode_id": list(episodes), "sketch": sketches}, schema=COLUMNS)


def test_a_copy_and_a_near_copy_name_the_episode_that_is_published() -> None:
    published = _table({"z": _prints(1)})
    new = _table({"a": _prints(1), "b": _prints(2, pictures=[0xFFFF]), "c": _prints(3, course=1)})

    assert repeats_of(published, new) == {
        "a": Repeat("z", is_near=False),
        "b": Repeat("z", is_near=True),
    }


def test_of_new_episodes_the_first_by_id_is_the_original() -> None:
    new = _table({"c": _prints(1), "a": _prints(1), "b": _prints(2)})

    assert repeats_of(EMPTY, new) == {
        "c": Repeat("a", is_near=False),
        "b": Repeat("a", is_near=True),
    }


def test_a_copy_may_have_another_goal() -> None:
    found = repeats_of(_table({"a": _prints(1, course=1)}), _table({"b": _prints(1, course=2)}))

    assert found == {"b": Repeat("a", is_near=False)}


def test_what_is_too_far_or_of_another_course_is_no_repeat() -> None:
    published = _table({"a": _prints(1)})
    new = {"b": _prints(2, pictures=[0x1FFFF]), "c": _prints(3, course=1)}

    assert repeats_of(published, _table(new)) == {}


def test_an_episode_that_is_published_already_is_no_repeat_of_itself() -> None:
    published = _table({"a": _prints(1), "b": _prints(2, course=1)})
    new = _table({"a": _prints(1), "c": _prints(1)})

    assert repeats_of(published, new) == {"c": Repeat("a", is_near=False)}


@pytest.mark.parametrize("unknown", [None, b"", b"\2" + b"\0" * (SKETCH_BYTES - 1), b"\2"])
def test_an_episode_without_a_sketch_of_this_form_is_compared_with_no_other(
    unknown: bytes | None,
) -> None:
    published = _table({"a": unknown, "b": _prints(1)})
    new = _table({"c": unknown, "d": unknown, "e": _prints(1)})

    assert repeats_of(published, new) == {"e": Repeat("b", is_near=False)}


def test_a_torn_sketch_is_named() -> None:
    with pytest.raises(Damaged, match="episode b: expected a sketch of 128 bytes, got 127"):
        repeats_of(_table({"a": _prints(1)}), _table({"b": sketch_of(_prints(1))[:-1]}))


def test_a_table_without_sketches_is_refused() -> None:
    with pytest.raises(KeyError, match="sketch"):
        repeats_of(EMPTY, pa.table({"episode_id": ["a"]}))
    with pytest.raises(pa.ArrowException, match="double"):
        repeats_of(EMPTY, pa.table({"episode_id": ["a"], "sketch": [1.5]}))


def test_nothing_repeats_nothing() -> None:
    assert repeats_of(EMPTY, EMPTY) == {}
    assert repeats_of(_table({"a": _prints(1)}), EMPTY) == {}


def test_an_episode_is_compared_with_a_bounded_number_of_others() -> None:
    random = Random(7)
    apart = {f"{n:03}": _prints(n, pictures=[random.getrandbits(256)]) for n in range(99)}
    last = apart[f"{MAX_COMPARED - 1:03}"], apart[f"{MAX_COMPARED:03}"]
    near = {
        f"n{place}": one._replace(trajectory=f"{place + 1:x}" * 32)
        for place, one in enumerate(last)
    }

    assert repeats_of(_table(apart), _table(near)) == {
        "n0": Repeat(f"{MAX_COMPARED - 1:03}", is_near=True)
    }


@st.composite
def _episodes(draw: st.DrawFn) -> dict[str, Fingerprints]:
    """Draw episodes of up to three pictures, whose sketches hold them whole."""
    numbers = st.integers(1, 3)
    out: dict[str, Fingerprints] = {}
    for id_ in draw(st.lists(st.integers(0, 99), unique=True, max_size=30)):
        course = draw(numbers)
        bits = [draw(st.sampled_from((0, 0xFF, 0xFFFF, 0x1FFFF, 0xFF0000))) for _ in range(course)]
        out[f"{id_:02}"] = _prints(draw(st.integers(0, 9)), course, bits)
    return out


@given(_episodes(), st.integers(0, 99), st.randoms(use_true_random=False))
def test_whole_sketches_decide_as_the_fingerprints_of_a_run_do(
    episodes: dict[str, Fingerprints], first_new: int, random: Random
) -> None:
    order = random.sample(sorted(episodes), len(episodes))
    parts = [
        {id_: episodes[id_] for id_ in order if (id_ >= f"{first_new:02}") is is_new}
        for is_new in (False, True)
    ]
    found = repeats_of(*map(_table, parts))

    expected = {
        id_: Repeat(one.duplicate_of or one.near_duplicate_of or "", one.duplicate_of is None)
        for id_, one in find_repeats(episodes, dict.fromkeys(episodes, "t")).items()
        if id_ in parts[1] and (one.duplicate_of or one.near_duplicate_of)
    }
    assert found == expected


def test_neither_the_order_of_rows_nor_their_chunks_nor_buckets_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = Random(3)
    episodes = {
        f"{n:03}": _prints(n % 150, n % 13, [random.getrandbits(8), 7 << 250]) for n in range(200)
    }
    expected = repeats_of(*_halves(list(episodes), episodes))
    monkeypatch.setattr(repeats, "_BUCKET_ROWS", 8)
    for _ in range(5):
        order = random.sample(sorted(episodes), len(episodes))
        one, other = _halves(order, episodes)

        assert repeats_of(_in_chunks(one), _in_chunks(other)) == expected
    assert {one.is_near for one in expected.values()} == {False, True}


def _halves(
    order: Sequence[str], episodes: Mapping[str, Fingerprints]
) -> tuple[pa.Table, pa.Table]:
    """Return the tables of episodes with even and with odd ids."""
    even, odd = (
        _table({id_: episodes[id_] for id_ in order if int(id_) % 2 == rest}) for rest in (0, 1)
    )
    return even, odd


def _in_chunks(table: pa.Table) -> pa.Table:
    return pa.concat_tables(table.slice(start, 7) for start in range(0, table.num_rows, 7))
