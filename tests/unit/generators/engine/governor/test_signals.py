"""How many prompts a server's memory holds, as it says itself."""

import pytest

from generators.engine.governor.signals import Memory


def test_a_prompt_takes_its_blocks_and_two_states() -> None:
    assert Memory(1_585, 1_312, 5).episodes(10_000) == 1_585 / (8 + 10)
    assert Memory(100, 16).episodes(160) == 10


@pytest.mark.parametrize(
    ("blocks", "tokens", "states"), [(0, 16, 1), (-5, 16, 1), (9, 0, 1), (9, 16, -1)]
)
def test_sizes_that_cannot_be_hold_any_number(blocks: int, tokens: int, states: int) -> None:
    assert Memory(blocks, tokens, states).episodes(1_000) == float("inf")


def test_a_prompt_of_nothing_takes_a_block() -> None:
    assert Memory(100, 16).episodes(0) == 100
