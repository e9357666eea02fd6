"""What the engine did for a run: seconds are counted once, and what nobody says stays unknown."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from flows.job.engine_lines import engine_lines
from flows.job.engine_usage import covered_seconds, engine_usage
from storage.work_log import Work

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def call(begun: float, seconds: float, **said: Any) -> dict[str, Any]:
    row = dict.fromkeys(
        ("cached_tokens", "cacheable_tokens", "image_tokens", "wasted_tokens", "cost_usd")
    )
    row |= {"episode_id": "e", "role": "policy", "engine": "http://a", "retries": 0}
    row |= {"prompt_tokens": 100, "completion_tokens": 10, "step": 0, "image_steps": []}
    return {**row, "total_ms": seconds * 1_000, "at": at(begun), **said}


def episode(begun: float, ended: float, *, browser: float) -> dict[str, Any]:
    return {"started_at": at(begun), "ended_at": at(ended), "browser_seconds": browser}


def test_overlapping_spans_are_counted_once_and_gaps_not_at_all() -> None:
    spans = [(at(5), at(6)), (at(0), at(2)), (at(1), at(3)), (at(1), at(2))]

    assert covered_seconds(spans) == 4.0
    assert covered_seconds([]) == 0.0


def test_a_run_that_was_resumed_a_day_later_is_not_a_day_long() -> None:
    day = 86_400.0
    episodes = [episode(0, 10, browser=4), episode(day, day + 10, browser=6)]
    done = engine_usage([call(0, 5), call(2, 5), call(day, 3)], episodes, accepted=2)

    assert done is not None
    assert done.active_seconds == 20.0
    assert done.busy_seconds == 10.0
    assert done.busy_percent == 50.0
    assert done.waiting_for_engine == pytest.approx(13 / 20)
    assert done.waiting_for_browser == pytest.approx(10 / 20)
    assert done.tokens_per_second == pytest.approx(330 / 20)
    assert done.gpu_seconds_per_accepted == 5.0


def test_what_no_server_says_is_unknown_and_not_nothing() -> None:
    silent = engine_usage(
        [call(0, 1, prompt_tokens=None, completion_tokens=None)],
        [episode(0, 1, browser=0)],
        accepted=0,
    )
    told = engine_usage(
        [call(0, 1, cached_tokens=64, cost_usd=0.5), call(1, 1)],
        [episode(0, 2, browser=0)],
        accepted=1,
    )

    assert silent is not None
    assert told is not None
    assert (silent.cached_tokens, silent.cost_usd, silent.usd_per_accepted) == (None, None, None)
    assert silent.gpu_seconds_per_accepted is None
    assert (told.cached_tokens, told.cost_usd, told.usd_per_accepted) == (64, 0.5, 0.5)


def test_two_endpoints_are_busy_each_for_itself() -> None:
    calls = [call(0, 10), call(0, 5, engine="http://b")]
    done = engine_usage(calls, [episode(0, 10, browser=0)], accepted=1)

    assert done is not None
    assert done.busy_seconds == 15.0
    assert done.busy_percent == 75.0


def test_without_calls_there_is_no_account() -> None:
    assert engine_usage([], [episode(0, 1, browser=0)], accepted=0) is None


@pytest.mark.parametrize(
    ("calls", "cached", "told"),
    [(200, 40, True), (200, 60, False), (199, 0, False), (200, None, False)],
)
def test_a_cache_that_serves_less_than_half_is_told_with_the_remedy(
    calls: int, cached: int | None, *, told: bool
) -> None:
    rows = [call(n, 1, cached_tokens=cached, cacheable_tokens=100) for n in range(calls)]
    did = engine_usage(rows, [episode(0, calls, browser=0)], accepted=1)

    assert did is not None
    lines = [line for line in engine_lines(did) if line.startswith("cache ")]
    assert len(lines) == (cached is not None)
    assert any("--enable-prefix-caching" in line for line in lines) == told


def work(seconds: float, **said: Any) -> Work:
    return Work(began_at=START, seconds=seconds, **said)


def test_a_run_costs_what_its_servers_cost_while_nobody_waited_for_them() -> None:
    works = [
        work(100.0, server_seconds=80.0, server_gpus=2, dollars=3.0),
        work(50.0, server_seconds=40.0, server_gpus=4, dollars=2.0),
        work(10.0),
    ]
    done = engine_usage([call(0, 5, cost_usd=0.5)], [episode(0, 9, browser=0)], works, accepted=2)

    assert done is not None
    assert (done.cost_usd, done.total_usd, done.usd_per_accepted) == (0.5, 5.0, 2.5)
    assert (done.server_seconds, done.server_gpu_seconds) == (120.0, 320.0)
    assert done.work_seconds == 160.0
    assert (
        "run      5.00000 dollars (0.50000 of them for its calls); its servers ran for 2:00, "
        "0.089 GPU hours; worked on for 2:40"
    ) in [*engine_lines(done)]


def test_calls_that_the_work_log_had_not_seen_before_a_kill_count_all_the_same() -> None:
    calls, episodes = [call(0, 5, cost_usd=0.5)], [episode(0, 9, browser=0)]
    killed = engine_usage(calls, episodes, [work(1.0, dollars=0.2)], accepted=1)
    earlier_version = engine_usage(calls, episodes, accepted=1)
    free = engine_usage([call(0, 5)], episodes, [work(1.0)], accepted=1)

    assert killed is not None
    assert earlier_version is not None
    assert free is not None
    assert killed.total_usd == earlier_version.total_usd == 0.5
    assert earlier_version.work_seconds is None
    assert (free.total_usd, free.server_seconds, free.work_seconds) == (None, None, 1.0)
