"""How many episodes may live, by what a server's cache serves, and how many requests may be under way."""

import pytest
from support.engines.governed import CACHEABLE, PROMPT, Teller

from generators.engine.governor.governor import (
    FEWER,
    MIN_CALLS,
    MOST_PATIENCE,
    NEAR_EDGE,
    PATIENCE,
    SETTLES,
    START_EPISODES,
    START_SHARE,
    Governor,
)
from generators.engine.governor.signals import CallFigures, Gauges, Memory

NAN, INF = float("nan"), float("inf")


def test_it_begins_with_a_few_episodes_and_any_number_of_requests() -> None:
    limits = Governor(128).limits

    assert (limits.live, limits.requests) == (START_EPISODES, 128)
    assert Governor(3).limits.live == 3


def test_good_hits_let_more_live_up_to_the_ceiling() -> None:
    limits = Teller(60).decide(1.0, times=12)

    assert limits == sorted(limits)
    assert limits[-1] == 60


def test_lost_calls_let_fewer_live_and_never_none() -> None:
    teller = Teller()
    teller.decide(1.0)
    limits = [teller.decide(0.8 * 0.8**n)[0] for n in range(12)]

    assert limits == sorted(limits, reverse=True)
    assert limits[-1] == 1


@pytest.mark.parametrize(
    ("served", "left"), [(0.97, 1.0), (0.9, 0.9), (0.75, 0.75), (0.5, 0.5), (0.2, 0.5)]
)
def test_it_falls_by_the_share_of_lost_calls_and_to_a_half_at_most(
    served: float, left: float
) -> None:
    teller = Teller()
    before = teller.decide(1.0)[0]

    assert teller.decide(served)[0] / before == pytest.approx(left, abs=0.03)


def test_after_a_fall_it_holds_until_what_it_changed_can_be_seen() -> None:
    teller = Teller()
    teller.decide(1.0)
    teller.decide(0.3)
    residence, fallen = teller.governor.residence, teller.now
    assert residence is not None
    teller.decide(1.0)

    assert teller.now - fallen >= (1 + SETTLES) * residence


def test_after_a_small_step_it_holds_too_and_after_a_large_one_it_does_not() -> None:
    small, large = Teller(128, Memory(60, PROMPT)), Teller(128, Memory(600, PROMPT))
    for teller in (small, large):
        teller.decide(1.0, times=2)

    assert small.governor._holds_until > small.now
    assert large.governor._holds_until == 0.0


def test_while_fewer_calls_are_lost_than_before_it_does_not_fall_again() -> None:
    teller = Teller()
    teller.decide(1.0, times=2)
    fallen = teller.decide(0.5)[0]

    assert teller.decide(0.8) == [fallen]
    assert teller.decide(0.8)[0] < fallen


def test_a_number_that_rounds_to_the_same_limit_is_no_fall() -> None:
    teller = Teller()
    teller.decide(1.0)
    teller.governor._live = teller.governor.limits.live - 0.4
    teller.decide(0.97)

    assert teller.governor._holds_until == 0.0


def _cliff(at: int) -> Teller:
    """Return one that has found the edge of a server."""
    teller = Teller()
    teller.decide(lambda live: 1.0 if live < at else 0.3, times=12)
    return teller


def test_it_stays_under_the_edge() -> None:
    limits = _cliff(60).decide(lambda live: 1.0 if live < 60 else 0.3, times=200)

    assert max(limits) <= 66
    assert sum(one < 60 for one in limits) > 0.9 * len(limits)
    assert sum(one > 0.7 * 60 for one in limits) > 0.6 * len(limits)


def test_after_each_failure_it_waits_for_twice_as_many_good_decisions() -> None:
    teller, patience = _cliff(60), []
    for _ in range(600):
        teller.decide(lambda live: 1.0 if live < 60 else 0.3)
        if teller.governor._patience not in patience:
            patience.append(teller.governor._patience)

    assert patience == [PATIENCE, 2 * PATIENCE, 4 * PATIENCE, MOST_PATIENCE]


def test_a_failure_above_an_edge_does_not_raise_it() -> None:
    teller = Teller()
    teller.decide(1.0, times=4)
    teller.decide(0.3)
    edge = teller.governor._edge
    teller.governor._live = 1.5 * edge
    teller.decide(0.2)

    assert teller.governor._edge == edge


def test_an_edge_that_has_moved_away_is_passed() -> None:
    teller = _cliff(40)
    assert teller.live <= 44

    assert teller.decide(1.0, times=150)[-1] > 60


def _hear_all(
    teller: Teller, *, cached: int, cacheable: int = CACHEABLE, prompt: int = PROMPT
) -> None:
    """Tell of many calls that are all served the same."""
    for n in range(40 * MIN_CALLS):
        teller.now += 0.05
        call = CallFigures(str(n % 24), 0.5, prompt, cached, cacheable)
        teller.governor.hear(call, teller.now, live=teller.live)


def test_what_is_good_is_what_this_server_has_done_at_its_best() -> None:
    teller = Teller()
    _hear_all(teller, cached=round(0.4 * CACHEABLE))

    assert teller.live > START_EPISODES


def test_what_all_prompts_share_does_not_hide_that_their_own_beginnings_are_dropped() -> None:
    teller = Teller()
    _hear_all(teller, cached=6_000, cacheable=6_000)
    _hear_all(teller, cached=CACHEABLE)
    risen = teller.live
    _hear_all(teller, cached=6_000)

    assert teller.live < risen


def test_a_call_that_begins_nearly_anew_says_nothing_of_the_edge() -> None:
    teller = Teller()
    _hear_all(teller, cached=CACHEABLE)
    _hear_all(teller, cached=0, cacheable=PROMPT * 4 // 10)

    assert teller.live == 128


def test_it_does_not_climb_slowly_while_prompts_grow() -> None:
    large = Memory(10_000, 1_312)
    fast, slow = Teller(128, large), Teller(128, Memory(60, PROMPT))
    for teller in (fast, slow):
        for _ in range(20 * MIN_CALLS):
            teller.call(1.0)
            teller.prompt = round(teller.prompt * 1.001)

    assert slow.live == START_EPISODES
    assert fast.live > slow.live


def test_it_climbs_fast_to_a_careful_share_of_what_fits_and_slowly_from_there() -> None:
    limits = Teller(128, Memory(150, PROMPT)).decide(1.0, times=5)

    assert limits[0] == pytest.approx(START_EPISODES * 1.5, abs=1)
    assert limits[1] == pytest.approx(START_SHARE * 150, abs=1)
    assert limits[4] < 1.2 * START_SHARE * 150


def test_it_climbs_slowly_where_the_memory_is_small() -> None:
    large, small = Memory(10_000, 1_312, 5), Memory(400, 1_312, 5)

    assert Teller(128, small).decide(1.0)[0] < Teller(128, large).decide(1.0)[0]


@pytest.mark.parametrize("memory", [Memory(0, 16), Memory(100, 0), Memory(-1, -1, -1)])
def test_a_memory_of_sizes_that_cannot_be_is_as_none(memory: Memory) -> None:
    assert Teller(128, memory).decide(1.0, times=3) == Teller(128).decide(1.0, times=3)


def test_a_server_that_says_nothing_of_a_cache_is_followed_by_its_rate() -> None:
    teller = Teller(100)
    climbed = teller.decide(None, times=4)

    assert climbed[-1] == 100
    assert "nothing is heard of a cache" in teller.governor.limits.because
    assert teller.decide(None, seconds=4.0) == [90]


def test_a_cache_that_never_serves_anything_is_as_none() -> None:
    teller = Teller(100)

    assert teller.decide(0.0, times=4)[-1] == 100
    assert "nothing is heard" in teller.governor.limits.because


def test_a_cache_that_served_once_and_serves_nothing_now_is_bad() -> None:
    teller = Teller()
    teller.decide(1.0)

    assert teller.decide(0.0)[-1] < START_EPISODES


def test_replies_at_one_instant_decide_nothing() -> None:
    governor = Governor(128)
    for n in range(10 * MIN_CALLS):
        governor.hear(CallFigures(str(n % 5), 0.1, 100, None, 0), 7.0, live=24)

    assert governor.limits.live == START_EPISODES


def test_more_hits_than_could_be_count_as_all_of_them() -> None:
    for cached in (PROMPT, 10 * PROMPT):
        teller = Teller()
        for n in range(40 * MIN_CALLS):
            teller.now += 0.05
            call = CallFigures(str(n % 24), 0.5, PROMPT, cached, 2 * PROMPT)
            teller.governor.hear(call, teller.now, live=24)

        assert "served 100% of what it could" in teller.governor.limits.because


def test_requests_are_fewer_while_some_begin_again() -> None:
    governor = Governor(100)
    governor.read(Gauges(40, 2, 0, 100))
    governor.read(Gauges(40, 2, 5, 200))

    assert governor.limits.requests == round(40 * FEWER)


def test_requests_are_fewer_while_many_wait_and_more_while_none_does() -> None:
    governor = Governor(100)
    governor.read(Gauges(20, 0, 0, 0))
    governor.read(Gauges(20, 30, 0, 10))
    fewer = governor.limits.requests
    governor.read(Gauges(20, 0, 0, 20))

    assert fewer == round(50 * FEWER)
    assert governor.limits.requests > fewer


@pytest.mark.parametrize(
    "page",
    [
        Gauges(),
        Gauges(running=40),
        Gauges(waiting=3),
        Gauges(None, None, NAN, NAN),
        Gauges(NAN, NAN, 5, 5),
        Gauges(-40, -3, -5, -100),
        Gauges(INF, INF, INF, INF),
        Gauges(40, 3, 0, 0),
    ],
    ids=[
        "nothing",
        "half",
        "the other half",
        "NaN counters",
        "NaN gauges",
        "negative",
        "endless",
        "reset",
    ],
)
def test_a_page_that_says_little_or_nonsense_changes_little(page: Gauges) -> None:
    governor = Governor(100)
    governor.read(Gauges(40, 3, 50, 1_000))
    for _ in range(5):
        governor.read(page)

    assert (governor.limits.live, governor.limits.requests) == (START_EPISODES, 100)


def test_a_page_that_stays_the_same_decides_nothing_about_who_begins_again() -> None:
    governor = Governor(100)
    for _ in range(20):
        governor.read(Gauges(40, 3, 50, 1_000))

    assert governor.limits.requests == 100


def test_under_the_edge_is_by_a_share() -> None:
    teller = _cliff(60)

    assert teller.live <= teller.governor._edge * NEAR_EDGE + 1
