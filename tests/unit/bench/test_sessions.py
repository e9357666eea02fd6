"""The figures of the sessions bench: what share of the best rate a level has, and who starves."""

import pytest

from bench.sessions import MAX_SLOWNESS, shares, slowness


def test_a_level_is_held_against_the_best_level_or_against_what_its_engine_can_answer() -> None:
    levels = [
        {"sessions": 16, "steps_per_second": 1.2},
        {"sessions": 64, "steps_per_second": 6.0},
        {"sessions": 128, "steps_per_second": 4.5},
    ]

    assert shares(levels, reply_seconds=0.0) == {16: 0.2, 64: 1.0, 128: 0.75}
    assert shares(levels, reply_seconds=10.0) == {16: 0.75, 64: 1.0, 128: 0.75}


def test_the_slowest_tenth_is_held_against_the_median() -> None:
    assert slowness([1.0] * 18 + [4.0] * 2, []) == 4.0
    assert slowness([1.0] * 19 + [4.0], []) == 1.0


def test_a_session_that_ends_no_episode_counts_among_the_slowest() -> None:
    ended = [1.0] * 90

    assert slowness(ended, [100.0] * 12) > MAX_SLOWNESS
    assert slowness(ended, [100.0]) == pytest.approx(1.0)


def test_an_episode_that_has_just_begun_makes_no_other_slow() -> None:
    assert slowness([1.0, 2.0, 3.0], [0.1] * 100) == slowness([1.0, 2.0, 3.0], [])
