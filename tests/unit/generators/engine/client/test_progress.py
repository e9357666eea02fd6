"""A server stands still if it has requests and its counters of tokens do not move."""

import pytest

from generators.engine.client.endpoint_health import EndpointHealth, Phase, ProbeTimings
from generators.engine.client.progress import (
    FIRST_TIMES,
    ProgressWatch,
    TokenCounts,
    token_counts,
)

LIMIT = 300.0
NOW = 1_000.0
AT_WORK = TokenCounts(prompt=700.0, generation=50.0, requests=2.0)
FRESH = TokenCounts(prompt=0.0, generation=0.0, requests=1.0)


def _watch(counts: TokenCounts = AT_WORK) -> ProgressWatch:
    """Return a watch that has seen these counts at `NOW`."""
    watch = ProgressWatch(LIMIT)
    assert watch.still_seconds(counts, busy_since=NOW, now=NOW) is None
    return watch


def test_the_counts_of_all_engines_of_a_server_are_added_up() -> None:
    page = (
        'vllm:prompt_tokens_total{engine="0"} 3.0\nvllm:prompt_tokens_total{engine="1"} 4.0\n'
        'vllm:generation_tokens_total{engine="0"} 5.0\nvllm:num_requests_running{engine="0"} 2.0\n'
        'vllm:num_requests_waiting{engine="0"} 1.0\n'
    )

    assert token_counts(page) == TokenCounts(prompt=7.0, generation=5.0, requests=3.0)


@pytest.mark.parametrize(
    "page",
    [
        "",
        "nonsense",
        "vllm:prompt_tokens_total 3\nvllm:num_requests_running 2\n",
        "vllm:generation_tokens_total 3\nvllm:prompt_tokens_total 3",  # cut off
        "vllm:generation_tokens_total 3\nvllm:prompt_tokens_total NaN\n",
        "sglang:prompt_tokens_total 3\nsglang:generation_tokens_total 3\n",
        "llamacpp:prompt_tokens_total 3\nllamacpp:tokens_predicted_total 3\n",
    ],
)
def test_a_page_without_both_counters_of_vllm_says_nothing(page: str) -> None:
    assert token_counts(page) is None


def test_a_server_whose_counters_stand_still_too_long_is_found() -> None:
    watch = _watch()

    assert watch.still_seconds(AT_WORK, busy_since=NOW - 50, now=NOW + LIMIT - 1) is None
    assert watch.still_seconds(AT_WORK, busy_since=NOW - 50, now=NOW + LIMIT) == LIMIT


@pytest.mark.parametrize("moved", [{"prompt": 701.0}, {"generation": 51.0}, {"prompt": 1.0}])
def test_either_counter_that_moves_begins_anew(moved: dict[str, float]) -> None:
    watch = _watch()
    counts = AT_WORK._replace(**moved)

    assert watch.still_seconds(counts, busy_since=NOW, now=NOW + LIMIT) is None
    assert watch.still_seconds(counts, busy_since=NOW, now=NOW + 2 * LIMIT - 1) is None
    assert watch.still_seconds(counts, busy_since=NOW, now=NOW + 2 * LIMIT) == LIMIT


def test_a_server_without_requests_may_stand_still_for_ever() -> None:
    watch = _watch()

    assert watch.still_seconds(AT_WORK, busy_since=None, now=NOW + 99 * LIMIT) is None
    # What counts is how long it has had a request since.
    begun = NOW + 100 * LIMIT
    assert watch.still_seconds(AT_WORK, busy_since=begun, now=begun + LIMIT - 1) is None
    assert watch.still_seconds(AT_WORK, busy_since=begun, now=begun + LIMIT) == LIMIT


def test_the_first_token_since_a_start_may_take_longer() -> None:
    watch = _watch(FRESH)
    limit = FIRST_TIMES * LIMIT

    assert watch.still_seconds(FRESH, busy_since=NOW, now=NOW + limit - 1) is None
    assert watch.still_seconds(FRESH, busy_since=NOW, now=NOW + limit) == limit


def test_a_server_that_does_not_say_is_not_suspected() -> None:
    watch = ProgressWatch(LIMIT)

    for hours in range(24):
        assert watch.still_seconds(None, busy_since=0.0, now=3_600.0 * hours) is None
    assert not watch.has_moved(None)


def test_a_page_that_is_missing_once_changes_nothing() -> None:
    watch = _watch()

    assert watch.still_seconds(None, busy_since=NOW, now=NOW + LIMIT) is None
    assert watch.still_seconds(AT_WORK, busy_since=NOW, now=NOW + LIMIT + 1) == LIMIT + 1


def test_a_server_that_computes_again_has_moved() -> None:
    watch = _watch()

    assert not watch.has_moved(AT_WORK._replace(requests=0.0))
    assert watch.has_moved(AT_WORK._replace(generation=51.0))
    assert watch.has_moved(FRESH)  # it was started anew


def test_an_endpoint_that_stands_still_is_gone_at_once() -> None:
    timings = ProbeTimings()
    dead = EndpointHealth().after_standstill("still", now=5.0, timings=timings)

    assert (dead.phase, dead.dead_since, dead.reason) == (Phase.DEAD, 5.0, "still")
    assert dead.is_gone(timings)
    lost = EndpointHealth().after_loss("refused")
    assert lost.after_standstill("still", now=5.0, timings=timings) == lost
