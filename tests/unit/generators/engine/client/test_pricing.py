"""Dollars of a reply, where its tokens are known."""

import pytest

from generators.engine.client.pricing import usd_of_reply, usd_of_seconds
from generators.engine.protocol import Reply
from schemas.sections import PriceSection


def reply(prompt: int | None, completion: int | None, cached: int | None = None) -> Reply:
    return Reply(
        text="",
        endpoint="e",
        total_ms=1.0,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
    )


def test_cached_tokens_have_their_own_price() -> None:
    prices = PriceSection(prompt=2.0, completion=10.0, cached=0.5)

    assert usd_of_reply(reply(1_000_000, 100_000, 400_000), prices) == pytest.approx(2.4)


def test_without_a_price_of_their_own_they_cost_as_any_other() -> None:
    prices = PriceSection(prompt=2.0, completion=10.0)

    assert usd_of_reply(reply(1_000_000, 0, 400_000), prices) == pytest.approx(2.0)


@pytest.mark.parametrize(("prompt", "completion"), [(None, 5), (5, None), (None, None)])
def test_unknown_tokens_have_no_price(prompt: int | None, completion: int | None) -> None:
    assert usd_of_reply(reply(prompt, completion), PriceSection(prompt=1, completion=1)) is None


def test_an_hour_costs_what_an_hour_costs() -> None:
    assert usd_of_seconds(1_800, 4.0) == pytest.approx(2.0)
