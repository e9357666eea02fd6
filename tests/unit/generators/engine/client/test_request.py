"""What was spent in vain is counted as far as anybody knows."""

from generators.engine.client.request import FailedSend, FailedSends


def failed_sends(*sends: FailedSend) -> FailedSends:
    out = FailedSends()
    for send in sends:
        out.add(send, "a")
    return out


def test_no_failure_is_nothing_known() -> None:
    assert failed_sends().wasted_tokens(10) is None


def test_what_never_reached_a_server_cost_nothing() -> None:
    assert failed_sends(FailedSend("refused"), FailedSend("HTTP 429")).wasted_tokens(10) is None


def test_a_part_reply_that_does_not_say_costs_its_prompt() -> None:
    lost = failed_sends(
        FailedSend("cut", reached_server=True), FailedSend("cut", reached_server=True, tokens=25)
    )

    assert lost.wasted_tokens(10) == 35


def test_where_no_reply_says_how_long_the_prompt_is_only_what_was_said_counts() -> None:
    silent, said = (
        FailedSend("cut", reached_server=True),
        FailedSend("cut", reached_server=True, tokens=25),
    )

    assert failed_sends(silent).wasted_tokens(None) is None
    assert failed_sends(silent, said).wasted_tokens(None) == 25


def test_an_endpoint_where_a_request_breaks_again_and_again_is_avoided() -> None:
    cut, refused = FailedSend("cut", reached_server=True, broken=True), FailedSend("refused")

    assert failed_sends(cut, cut, refused, refused).endpoints_to_avoid == frozenset()
    assert failed_sends(cut, cut, cut).endpoints_to_avoid == {"a"}
    assert failed_sends(cut, cut, refused).broken == 2
