"""Dollars of a reply whose tokens are known, and its share of an engine's time, none counted twice."""

from contextlib import ExitStack, suppress

import pytest

from generators.engine.client.pricing import (
    Meter,
    ReplyShare,
    TimeShare,
    usd_of_reply,
    usd_of_seconds,
)
from generators.engine.protocol import Reply
from schemas.configuration.sections import EngineSection, PriceSection


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


def test_the_runs_own_servers_are_paid_from_their_start_to_their_end() -> None:
    clock = ManualClock()
    pricing = EngineSection(usd_per_hour=3_600.0)
    meter = Meter(pricing, clock)
    before = (meter.dollars, meter.server_seconds)
    with meter.run_servers(2):
        clock.at += 60
        with meter.time.measure_reply() as share:
            clock.at += 5
        cost = meter.charge(pricing, reply(10, 10), share)
        under_way = meter.dollars
        clock.at += 35
    clock.at += 1_000

    assert before == (0.0, None)
    assert cost == pytest.approx(10.0), "five seconds of two GPUs"
    assert under_way == pytest.approx(130.0)
    assert meter.dollars == pytest.approx(200.0)
    assert meter.server_seconds == 100.0


def test_a_borrowed_server_is_paid_while_replies_are_awaited_those_that_fail_too() -> None:
    clock = ManualClock()
    meter = Meter(EngineSection(usd_per_hour=3_600.0), clock)
    meter.other_gpus = 4
    clock.at += 100
    with suppress(ValueError), meter.time.measure_reply():
        clock.at += 3
        raise ValueError
    with meter.time.measure_reply():
        clock.at += 2
        assert meter.dollars == pytest.approx(20.0), "a reply that is awaited has its price already"

    assert meter.dollars == pytest.approx(20.0)


def test_tokens_are_paid_by_the_call_whatever_servers_run(caplog: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    pricing = EngineSection(usd_per_million=PriceSection(prompt=1.0, completion=2.0))
    meter, free = Meter(pricing, clock), EngineSection()
    with meter.run_servers(8):
        clock.at += 100
        first = meter.charge(pricing, reply(1_000_000, 500_000), ReplyShare())
        elsewhere = meter.charge(free, reply(1_000_000, 500_000), ReplyShare())
        unknown = [meter.charge(pricing, reply(None, 1), ReplyShare()) for _ in range(2)]

    assert (first, elsewhere, unknown) == (2.0, None, [None, None])
    assert meter.dollars == 2.0
    assert caplog.text.count("does not count tokens") == 1


def test_without_a_price_nothing_is_known_of_a_cost() -> None:
    meter = Meter()
    with meter.run_servers(1):
        assert meter.charge(EngineSection(), reply(1, 1), ReplyShare(seconds=3.0)) is None

    assert meter.dollars is None
