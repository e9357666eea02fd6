"""Pauses between tries."""

from itertools import islice
from random import Random

import pytest

from schemas.backoff import Backoff


def test_pauses_double_up_to_the_longest_and_end_after_the_last_try() -> None:
    backoff = Backoff(first_seconds=1.0, max_seconds=5.0, tries=6)

    assert list(backoff.pauses()) == [1.0, 2.0, 4.0, 5.0, 5.0, None]


def test_without_a_limit_on_tries_pauses_never_end() -> None:
    backoff = Backoff(first_seconds=1.0, max_seconds=8.0)

    assert list(islice(backoff.pauses(), 5)) == [1.0, 2.0, 4.0, 8.0, 8.0]
    assert backoff.pause(10_000) == pytest.approx(8.0)


def test_something_tried_once_is_given_up_at_once() -> None:
    assert list(Backoff(first_seconds=1.0, max_seconds=8.0, tries=1).pauses()) == [None]


@pytest.mark.parametrize("jitter", [0.5, 1.0])
def test_only_the_jittered_part_of_a_pause_is_drawn(jitter: float) -> None:
    backoff, random = Backoff(first_seconds=2.0, max_seconds=8.0, jitter=jitter), Random(1)

    drawn = [backoff.pause(2, random) or 0.0 for _ in range(200)]

    assert 4.0 * (1 - jitter) <= min(drawn) < max(drawn) <= 4.0
    assert max(drawn) - min(drawn) > 3.5 * jitter
