"""A metrics page says what stands on it, whole, half or missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.engine.client.metrics import DurationHistogram, EngineMetrics, parse_metrics

VLLM = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 9.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.5
vllm:num_preemptions_total{engine="0",model_name="m"} 2.0
vllm:prompt_tokens_total{engine="0",model_name="a,b} c"} 1.5e+06
vllm:request_success_total{engine="0",finished_reason="stop"} 5.0
vllm:request_success_total{engine="0",finished_reason="length"} 1.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1"} 1.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.5"} 3.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 4.0
vllm:time_to_first_token_seconds_count{engine="0"} 4.0
vllm:time_to_first_token_seconds_sum{engine="0"} 1.25
"""


def test_vllm_is_read_and_its_engines_added_up() -> None:
    found = parse_metrics(VLLM)

    assert (found.running, found.waiting, found.kv_usage) == (7.0, 0.0, 0.5)
    assert (found.preemptions, found.prompt_tokens, found.finished) == (2.0, 1.5e6, 6.0)
    assert found.first_token == DurationHistogram(
        count=4.0, seconds=1.25, buckets=((0.1, 1.0), (0.5, 3.0))
    )


def test_what_a_page_lacks_is_none() -> None:
    found = parse_metrics(VLLM)

    assert found.generation_tokens is None
    assert found.rejections is None
    assert found.whole is None
    assert parse_metrics("") == EngineMetrics()


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            (
                'sglang:num_running_reqs{model_name="m"} 2\nsglang:num_queue_reqs 1\n'
                "sglang:token_usage 0.3\nsglang:cache_hit_rate 0.9\n"
            ),
            EngineMetrics(running=2, waiting=1, kv_usage=0.3, prefix_hit_rate=0.9),
        ),
        (
            "trtllm_num_requests_running 2\ntrtllm_kv_cache_utilization 0.4 1700000000\n",
            EngineMetrics(running=2, kv_usage=0.4),
        ),
    ],
)
def test_other_products_are_read_too(page: str, expected: EngineMetrics) -> None:
    assert parse_metrics(page) == expected


def test_the_last_line_of_half_a_page_is_not_trusted() -> None:
    torn = VLLM[: VLLM.index("3.0") + 1]  # "3" of what may have been 3.0 or 35.0

    assert parse_metrics(torn).running is None


@given(st.integers(0, len(VLLM)))
def test_half_a_page_says_part_of_the_whole_and_nothing_else(length: int) -> None:
    whole, half = parse_metrics(VLLM), parse_metrics(VLLM[:length])

    for field in ("waiting", "preemptions", "prompt_tokens"):
        assert getattr(half, field) in {None, getattr(whole, field)}


@given(st.text())
def test_no_page_breaks_the_reader(page: str) -> None:
    parse_metrics(page)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "x"])
def test_a_value_that_is_no_quantity_is_unknown(value: str) -> None:
    assert parse_metrics(f"vllm:num_requests_running {value}\n").running is None
