"""What a run sent is cached, new or computed again; every token has an owner, and what no row says is not guessed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.job.engine_lines import engine_lines
from flows.job.engine_usage import engine_usage
from flows.job.token_ledger import ledgers_by_owner, token_ledger

AT = datetime(2026, 1, 1, tzinfo=UTC)
EPISODE = {"started_at": AT, "ended_at": AT + timedelta(seconds=10), "browser_seconds": 1.0}


def call(step: int = 0, role: str = "policy", *, pictures: int = 0, **said: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(
        ("cached_tokens", "cacheable_tokens", "image_tokens", "wasted_tokens", "cost_usd")
    )
    row |= {"episode_id": "e", "engine": "vllm-0", "retries": 0, "total_ms": 100.0, "at": AT}
    row |= {"prompt_tokens": 100, "completion_tokens": 10}
    return {**row, "step": step, "role": role, "image_steps": [*range(pictures)], **said}


CALLS = st.lists(
    st.builds(
        lambda prompt, cached, cacheable, role: call(
            role=role,
            prompt_tokens=prompt,
            cached_tokens=None if cached is None else min(cached, prompt),
            cacheable_tokens=min(cacheable, prompt),
        ),
        st.integers(1, 9_999),
        st.none() | st.integers(0, 9_999),
        st.integers(0, 9_999),
        st.sampled_from(["policy", "repair", "validator"]),
    ),
    min_size=1,
)


@given(CALLS)
def test_every_token_has_one_fate_and_one_owner(calls: list[dict[str, Any]]) -> None:
    whole, owners = token_ledger(calls), ledgers_by_owner(calls)
    fates = (whole.cached_tokens, whole.new_tokens, whole.again_tokens)
    silent = sum(row["prompt_tokens"] for row in calls if row["cached_tokens"] is None)

    assert whole.prompt_tokens == sum(fate or 0 for fate in fates) + silent
    assert all(fate is None or fate >= 0 for fate in fates)
    assert whole.hit_efficiency is None or 0 <= whole.hit_efficiency <= 1
    assert whole.prompt_tokens == sum(own.prompt_tokens for own in owners.values())
    assert whole.calls == sum(own.calls for own in owners.values())


def test_what_was_sent_before_and_is_not_served_is_computed_again() -> None:
    ledger = token_ledger(
        [
            call(cached_tokens=0, cacheable_tokens=0),
            call(cached_tokens=64, cacheable_tokens=96, prompt_tokens=120),
        ]
    )

    assert (ledger.cached_tokens, ledger.again_tokens, ledger.new_tokens) == (64, 32, 124)
    assert ledger.hit_efficiency == pytest.approx(64 / 96)


def test_a_server_that_does_not_report_its_cache_leaves_what_became_of_tokens_unknown() -> None:
    ledger = token_ledger([call(cacheable_tokens=96)])
    both = token_ledger([call(cacheable_tokens=96), call(cached_tokens=50, cacheable_tokens=80)])

    assert (ledger.cached_tokens, ledger.again_tokens, ledger.new_tokens) == (None, None, None)
    assert ledger.hit_efficiency is None
    assert (both.cached_tokens, both.again_tokens, both.new_tokens) == (50, 30, 20)
    assert both.hit_efficiency == pytest.approx(50 / 80)


def test_pictures_have_tokens_where_the_server_counts_them_and_none_where_there_are_no_pictures() -> (
    None
):
    counted = token_ledger([call(pictures=2, image_tokens=64), call()])
    silent = token_ledger([call(pictures=2), call(pictures=1, image_tokens=32)])

    assert (counted.pictures, counted.image_tokens) == (2, 64)
    assert (silent.pictures, silent.image_tokens) == (3, None)


def test_the_lines_have_each_owners_tokens_a_step_and_what_was_wasted() -> None:
    known: dict[str, Any] = {"cached_tokens": 40, "cacheable_tokens": 50}
    calls = [
        call(0, pictures=1, image_tokens=60, wasted_tokens=100, **known),
        call(0, "repair", pictures=1, image_tokens=60, cost_usd=0.5, **known),
        call(1, pictures=3, image_tokens=80, **known),
    ]
    did = engine_usage(calls, [EPISODE], accepted=1)

    assert did is not None
    lines = [*engine_lines(did)]
    assert (
        "tokens   300 prompt (120 cached, 150 new, 30 again), 30 completion; 33 a second" in lines
    )
    assert "cache    80.0 % of the tokens that it could serve" in lines
    assert "a step   110 tokens of policy (30 text, 70 pictures, 10 completion)" in lines
    assert (
        "         55 tokens of repair (20 text, 30 pictures, 5 completion), 0.250000 dollars"
        in lines
    )
    assert "pictures 1.7 a prompt" in lines
    assert "wasted   100 tokens of lost replies, 110 tokens of repair turns" in lines


def test_figures_that_no_server_gives_are_left_out_of_the_lines() -> None:
    did = engine_usage([call(pictures=1)], [EPISODE], accepted=1)

    assert did is not None
    lines = [*engine_lines(did)]
    assert "a step   110 tokens of policy (100 prompt, 10 completion)" in lines
    assert "tokens   100 prompt, 10 completion; 11 a second" in lines
    assert not [line for line in lines if line.startswith(("cache ", "wasted"))]
