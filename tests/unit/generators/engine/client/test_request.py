"""What was spent in vain is counted as far as anybody knows."""

from generators.engine.client.request import FailedTries, FailedTry


def losses(*all_of_them: FailedTry) -> FailedTries:
    out = FailedTries()
    for loss in all_of_them:
        out.add(loss, "a")
    return out


def test_nothing_lost_is_nothing_known() -> None:
    assert losses().wasted_tokens(10) is None


def test_what_never_reached_a_server_cost_nothing() -> None:
    assert losses(FailedTry("refused"), FailedTry("HTTP 429")).wasted_tokens(10) is None


def test_a_part_reply_that_does_not_say_costs_its_prompt() -> None:
    lost = losses(
        FailedTry("cut", reached_server=True), FailedTry("cut", reached_server=True, tokens=25)
    )

    assert lost.wasted_tokens(10) == 35


def test_where_no_reply_says_how_long_the_prompt_is_only_what_was_said_counts() -> None:
    silent, said = (
        FailedTry("cut", reached_server=True),
        FailedTry("cut", reached_server=True, tokens=25),
    )

    assert losses(silent).wasted_tokens(None) is None
    assert losses(silent, said).wasted_tokens(None) == 25


def test_an_endpoint_where_a_request_breaks_again_and_again_is_avoided() -> None:
    cut, refused = FailedTry("cut", reached_server=True, broken=True), FailedTry("refused")

    assert losses(cut, cut, refused, refused).endpoints_to_avoid == frozenset()
    assert losses(cut, cut, cut).endpoints_to_avoid == {"a"}
    assert losses(cut, cut, refused).broken == 2
