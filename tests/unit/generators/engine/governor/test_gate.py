"""Who may begin, who is parked, and whose request goes next."""

from generators.engine.governor.gate import Gate


def _gate(live: int, requests: int, *episodes: str) -> Gate[str]:
    gate: Gate[str] = Gate(live, requests)
    for episode in episodes:
        gate.begin(episode)
    return gate


def test_an_episode_begins_where_fewer_live_than_may() -> None:
    gate = _gate(2, 9, "a")
    assert gate.has_room
    gate.begin("b")
    assert not gate.has_room
    gate.end("a")
    assert gate.has_room


def test_the_oldest_episode_goes_first_whoever_asked_first() -> None:
    gate = _gate(9, 2, *"abc")
    for episode in "cab":
        gate.ask(episode)

    assert gate.next() == ["a", "b"]
    assert gate.next() == []
    gate.finish("b")
    assert gate.next() == ["c"]


def test_who_does_not_live_goes_before_all_who_do() -> None:
    gate = _gate(9, 1, *"ab")
    gate.ask("a")
    gate.ask("judge")

    assert gate.next() == ["judge"]


def test_where_the_limit_falls_the_youngest_are_parked_and_their_requests_wait() -> None:
    gate = _gate(4, 9, *"abcd")
    for episode in "dcba":
        gate.ask(episode)
    gate.set_limits(2, 9)

    assert (gate.parked, gate.live, gate.has_room) == (2, 4, False)
    assert gate.next() == ["a", "b"]
    assert gate.waiting == 2

    gate.end("a")
    assert gate.next() == ["c"]
    gate.set_limits(9, 9)
    assert gate.next() == ["d"]


def test_nobody_is_parked_again_before_all_others_were() -> None:
    gate = _gate(4, 9, *"abcd")
    parked = []
    for _ in range(8):
        gate.set_limits(3, 9)
        parked += sorted(gate._parked)
        gate.set_limits(4, 9)

    assert parked == [*"dcbadcba"]


def test_a_request_under_way_is_not_cancelled_when_its_episode_is_parked_or_ends() -> None:
    gate = _gate(2, 9, *"ab")
    gate.ask("b")
    gate.next()
    gate.set_limits(1, 9)
    gate.end("b")

    assert gate.under_way == 1
    gate.finish("b")
    assert gate.under_way == 0


def test_two_requests_of_an_episode_both_go() -> None:
    gate = _gate(2, 1, "a")
    gate.ask("a")
    gate.ask("a")

    assert gate.waiting == 2
    assert gate.next() == ["a"]
    gate.finish("a")
    assert gate.next() == ["a"]
    assert (gate.waiting, gate.under_way) == (0, 1)


def test_a_limit_below_one_is_one() -> None:
    gate = _gate(5, 5, *"ab")
    gate.set_limits(0, -3)

    assert (gate.live_limit, gate.request_limit, gate.parked) == (1, 1, 1)


def test_what_was_never_there_is_forgotten_without_harm() -> None:
    gate = _gate(1, 1)
    gate.end("a")
    gate.give_up("a")
    gate.finish("a")

    assert (gate.live, gate.waiting, gate.under_way) == (0, 0, 0)


def test_a_rank_is_lower_for_older_episodes_and_stays_while_they_live() -> None:
    gate = _gate(9, 9, *"abc")
    assert [gate.rank(one) for one in ("judge", *"abc")] == [0, 1, 2, 3]

    gate.end("a")
    gate.begin("d")
    gate.begin("b")
    assert [gate.rank(one) for one in "abcd"] == [0, 2, 3, 4]
