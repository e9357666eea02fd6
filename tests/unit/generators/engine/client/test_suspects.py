"""Which requests may be what kills a server, and when each is asked alone."""

from generators.engine.client.suspects import Suspects


def test_after_one_death_all_go_on_together() -> None:
    suspects = Suspects()
    for request in "abc":
        suspects.add(request, death=1)

    assert "a" in suspects
    assert (suspects.deaths, suspects.are_tried) == (1, False)


def test_after_a_second_one_of_anybody_requests_are_asked_alone_until_all_are_settled() -> None:
    suspects = Suspects()
    suspects.add("a", death=1)
    suspects.add("b", death=2)
    assert suspects.are_tried

    suspects.settle("a")
    suspects.settle("somebody else")
    assert suspects.are_tried
    suspects.settle("b")
    assert (suspects.deaths, suspects.are_tried) == (0, False)


def test_a_death_after_all_were_settled_is_a_first_one() -> None:
    suspects = Suspects()
    suspects.add("a", death=1)
    suspects.settle("a")
    suspects.add("b", death=2)

    assert not suspects.are_tried
