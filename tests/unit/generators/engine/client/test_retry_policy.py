"""What is asked again and after how long."""

from datetime import UTC, datetime
from random import Random

import pytest

from generators.engine.client.retry_policy import (
    RetryPolicy,
    StatusMeaning,
    requested_pause,
    status_meaning,
)
from schemas.backoff import Backoff

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "means"),
    [
        (200, StatusMeaning.DONE),
        (400, StatusMeaning.REFUSED),
        (401, StatusMeaning.REFUSED),
        (404, StatusMeaning.REFUSED),
        (408, StatusMeaning.BROKEN),
        (409, StatusMeaning.BROKEN),
        (422, StatusMeaning.REFUSED),
        (429, StatusMeaning.LATER),
        (500, StatusMeaning.BROKEN),
        (501, StatusMeaning.REFUSED),
        (502, StatusMeaning.BROKEN),
        (503, StatusMeaning.LATER),
        (301, StatusMeaning.REFUSED),
    ],
)
def test_a_status_means_one_thing(status: int, means: StatusMeaning) -> None:
    assert status_meaning(status) is means


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Fri, 02 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 02 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 02 Jan 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_a_server_may_ask_for_a_pause(headers: dict[str, str], seconds: float | None) -> None:
    assert requested_pause(headers, now=NOON) == seconds


def test_pauses_double_up_to_a_limit_and_half_of_each_is_drawn() -> None:
    policy = RetryPolicy(Backoff(first_seconds=1.0, max_seconds=8.0, jitter=0.5))
    random = Random(1)

    for losses, longest in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 8.0), (10_000, 8.0)]:
        drawn = {policy.pause(losses, random) for _ in range(50)}
        assert longest / 2 <= min(drawn) < max(drawn) <= longest


def test_what_a_server_asks_for_is_the_least() -> None:
    policy = RetryPolicy(Backoff(first_seconds=1.0, max_seconds=8.0, jitter=0.5))
    random = Random(1)

    drawn = [policy.pause(1, random, requested=20.0) for _ in range(50)]

    assert 20.0 < min(drawn) < max(drawn) <= 20.5
