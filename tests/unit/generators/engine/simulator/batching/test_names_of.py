"""Blocks of a prompt are named by all that stands before their end."""

from hypothesis import given
from hypothesis import strategies as st

from generators.engine.simulator.batching.requests import names_of, names_of_tokens

SEGMENTS = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 60)), max_size=8)


@given(SEGMENTS, SEGMENTS, SEGMENTS, st.integers(1, 40))
def test_equal_beginnings_have_equal_names(
    common: list[tuple[int, int]],
    one: list[tuple[int, int]],
    other: list[tuple[int, int]],
    block: int,
) -> None:
    whole = sum(tokens for _, tokens in common) // block

    assert names_of([*common, *one], block)[:whole] == names_of([*common, *other], block)[:whole]


@given(SEGMENTS.filter(bool), st.integers(1, 40), st.data())
def test_a_change_renames_its_block_and_all_later_ones(
    segments: list[tuple[int, int]], block: int, data: st.DataObject
) -> None:
    changed = data.draw(st.integers(0, len(segments) - 1))
    said, tokens = segments[changed]
    before = sum(count for _, count in segments[:changed]) // block
    first = names_of(segments, block)
    second = names_of([*segments[:changed], (said + 100, tokens), *segments[changed + 1 :]], block)

    assert len(first) == len(second)
    assert first[:before] == second[:before]
    assert all(one != other for one, other in zip(first[before:], second[before:], strict=True))


@given(SEGMENTS, st.integers(1, 40))
def test_there_is_a_name_for_each_whole_block_and_none_twice(
    segments: list[tuple[int, int]], block: int
) -> None:
    names = names_of(segments, block)

    assert len(names) == sum(tokens for _, tokens in segments) // block
    assert len(set(names)) == len(names)


@given(st.lists(st.integers(-3, 3), max_size=60), st.integers(0, 60), st.integers(1, 9))
def test_tokens_that_go_on_after_a_block_have_the_names_of_the_whole(
    tokens: list[int], cut: int, block: int
) -> None:
    whole = names_of_tokens(tokens, block)
    begun = whole[: cut // block]

    assert whole == [
        *begun,
        *names_of_tokens(tokens[len(begun) * block :], block, before=begun[-1] if begun else 0),
    ]
    assert len(whole) == len(tokens) // block
