"""Dollars of a reply whose tokens are known, and its share of an engine's time, none counted twice."""

from contextlib import ExitStack

import pytest

from generators.engine.client.pricing import ReplyShare, TimeShare, usd_of_reply, usd_of_seconds
from generators.engine.protocol import Reply
from schemas.configuration.sections import PriceSection


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


class ManualClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_a_reply_that_is_alone_has_all_the_time() -> None:
    clock = ManualClock()
    time = TimeShare(clock)
    clock.at += 50
    with time.measure_reply() as share:
        clock.at += 3

    assert share.seconds == 3.0


def test_shares_add_up_to_the_seconds_in_which_anybody_waited() -> None:
    clock = ManualClock()
    time = TimeShare(clock)
    shares: list[ReplyShare] = []
    with ExitStack() as first:
        shares.append(first.enter_context(time.measure_reply()))
        clock.at += 2
        with time.measure_reply() as second:
            shares.append(second)
            clock.at += 4
        clock.at += 1
    clock.at += 9

    assert [share.seconds for share in shares] == [5.0, 2.0]
    assert sum(share.seconds for share in shares) == pytest.approx(7.0)


def test_a_reply_that_fails_has_its_share_too() -> None:
    clock = ManualClock()
    time = TimeShare(clock)
    shares: list[ReplyShare] = []

    def fail() -> None:
        with time.measure_reply() as share:
            shares.append(share)
            clock.at += 2
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert shares[0].seconds == 2.0
