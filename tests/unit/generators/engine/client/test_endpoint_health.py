"""Who is asked: rendezvous hashing and an endpoint's health, without a clock or a server."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from generators.engine.client.endpoint_health import (
    EndpointHealth,
    Phase,
    ProbeTimings,
    choose_endpoint,
)
from schemas.backoff import Backoff

TIMINGS = ProbeTimings(
    probe_backoff=Backoff(first_seconds=0.5, max_seconds=4.0),
    probe_interval=15.0,
    failures=3,
    ramp=30.0,
    ramp_alone=2.0,
)
SESSIONS = [f"episode-{number}" for number in range(400)]
LIVE = EndpointHealth()
DEAD = EndpointHealth(Phase.DEAD, failures=1, reason="refused")


def chosen(
    endpoints: dict[str, EndpointHealth], now: float = 0.0, avoid: frozenset[str] = frozenset()
) -> dict[str, str | None]:
    return {
        session: choose_endpoint(endpoints, session, now=now, timings=TIMINGS, avoid=avoid)
        for session in SESSIONS
    }


def test_sessions_spread_evenly_and_stay() -> None:
    first = chosen({"a": LIVE, "b": LIVE, "c": LIVE})

    counts = [list(first.values()).count(name) for name in "abc"]
    assert min(counts) > 100
    assert chosen({"c": LIVE, "b": LIVE, "a": LIVE}, now=1e6) == first


def test_the_loss_of_one_endpoint_moves_only_its_own_sessions() -> None:
    before = chosen({"a": LIVE, "b": LIVE, "c": LIVE})
    after = chosen({"a": LIVE, "b": DEAD, "c": LIVE})

    assert all(after[session] == name for session, name in before.items() if name != "b")
    assert {after[session] for session, name in before.items() if name == "b"} == {"a", "c"}


def test_an_endpoint_is_left_at_once_when_a_request_is_lost_there() -> None:
    health = LIVE.after_failure("cut")

    assert health.phase is Phase.SUSPECT
    assert health.next_probe(TIMINGS, has_requests=False) == 0.0
    assert set(chosen({"a": health}).values()) == {None}


def test_a_doubt_that_a_probe_clears_costs_no_ramp() -> None:
    health = LIVE.after_failure("cut").after_probe(None, now=5.0, timings=TIMINGS)

    assert health == LIVE
    assert set(chosen({"a": health}, now=5.0).values()) == {"a"}


def test_a_dead_endpoint_is_probed_after_pauses_that_grow_to_a_limit() -> None:
    health, pauses = LIVE.after_failure("refused"), []
    for _ in range(7):
        health = health.after_probe("refused", now=0.0, timings=TIMINGS)
        pauses.append(health.next_probe(TIMINGS, has_requests=True))

    assert pauses == [0.5, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0]
    assert health.phase is Phase.DEAD


def test_sessions_return_to_a_recovering_endpoint_one_by_one_and_each_once() -> None:
    recovering = DEAD.after_probe(None, now=100.0, timings=TIMINGS)
    assert recovering.phase is Phase.RECOVERING
    goal = {s for s, name in chosen({"a": LIVE, "b": LIVE}).items() if name == "b"}

    back = [
        {
            session
            for session, name in chosen({"a": LIVE, "b": recovering}, now=100.0 + seconds).items()
            if name == "b"
        }
        for seconds in range(31)
    ]

    assert back[0] == set()
    assert back[30] == goal
    assert all(earlier <= later for earlier, later in itertools.pairwise(back))
    share = len(goal) / 30
    most = max(len(later - earlier) for earlier, later in itertools.pairwise(back))
    assert most < 3 * share, "a burst"


def test_where_no_other_lives_they_return_in_the_shorter_while() -> None:
    recovering = DEAD.after_probe(None, now=100.0, timings=TIMINGS)

    half_way = list(chosen({"a": DEAD, "b": recovering}, now=101.0).values())
    assert 0.35 < half_way.count("b") / len(half_way) < 0.65
    assert set(chosen({"a": DEAD, "b": recovering}, now=102.0).values()) == {"b"}


def test_a_recovering_endpoint_that_is_suspect_goes_on_recovering() -> None:
    recovering = DEAD.after_probe(None, now=100.0, timings=TIMINGS)

    again = recovering.after_failure("cut").after_probe(None, now=110.0, timings=TIMINGS)

    assert (again.phase, again.recovered_at) == (Phase.RECOVERING, 100.0)
    assert (
        again.after_failure("cut").after_probe(None, now=131.0, timings=TIMINGS).phase is Phase.LIVE
    )


def test_a_living_endpoint_is_probed_only_while_requests_wait_for_it() -> None:
    assert LIVE.next_probe(TIMINGS, has_requests=True) == 15.0
    assert LIVE.next_probe(TIMINGS, has_requests=False) is None


def test_a_living_endpoint_is_gone_after_several_failed_probes_in_a_row() -> None:
    once = LIVE.after_probe("slow", now=0.0, timings=TIMINGS)
    twice = once.after_probe("slow", now=1.0, timings=TIMINGS)
    thrice = twice.after_probe("slow", now=2.0, timings=TIMINGS)

    assert (once.phase, twice.phase, thrice.phase) == (Phase.LIVE, Phase.LIVE, Phase.DEAD)
    assert [health.is_gone(TIMINGS) for health in (once, twice, thrice)] == [False, False, True]


def test_a_whole_answer_is_as_good_as_a_probe() -> None:
    once = LIVE.after_probe("slow", now=0.0, timings=TIMINGS)

    assert once.after_answer().failures == 0
    assert DEAD.after_answer() == DEAD


def test_what_is_to_be_avoided_is_asked_only_where_there_is_no_other() -> None:
    avoid = frozenset({"a"})

    assert set(chosen({"a": LIVE, "b": LIVE}, avoid=avoid).values()) == {"b"}
    assert set(chosen({"a": LIVE, "b": DEAD}, avoid=avoid).values()) == {"a"}


EVENTS = st.lists(
    st.tuples(st.sampled_from(["lost", "well", "ill", "answered"]), st.floats(0.0, 60.0)),
    max_size=40,
)


@given(EVENTS)
def test_an_endpoint_that_answers_its_probes_is_asked_again_by_all(
    events: list[tuple[str, float]],
) -> None:
    health, now = LIVE, 0.0
    for event, seconds in events:
        now += seconds
        match event:
            case "lost":
                health = health.after_failure("cut")
            case "answered":
                health = health.after_answer()
            case _:
                problem = None if event == "well" else "refused"
                health = health.after_probe(problem, now=now, timings=TIMINGS)
        asked = set(chosen({"a": health}, now=now).values())
        assert asked == {None} or health.is_live
        assert health.is_live or (health.next_probe(TIMINGS, has_requests=False) or 0) <= 4.0

    health = health.after_probe(None, now=now, timings=TIMINGS)

    assert set(chosen({"a": health}, now=now + TIMINGS.ramp_alone).values()) == {"a"}
