"""One request: what its failed sends cost, and its place among those sent to an endpoint."""

import asyncio
import contextlib
import json
from random import Random

import pytest
from support.servers.engine_servers import prompt

from generators.engine.client.endpoint import Endpoint
from generators.engine.client.endpoint_health import ProbeTimings
from generators.engine.client.endpoint_pool import EndpointPool
from generators.engine.client.failed_sends import FailedSend, FailedSends
from generators.engine.client.request_body import RequestBody
from generators.engine.client.retried_request import Request
from generators.engine.client.retry_policy import RetryPolicy
from generators.engine.client.transport import HttpResponse, Transport
from generators.engine.client.turns import Turns
from generators.engine.protocol import EngineCard, Reply, Sampling


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


class AnsweringTransport(Transport):
    """Answers each request at once, and counts them."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1")
        self.sent = 0

    async def post_chat(self, body: bytes, *, session: str, seconds: float) -> HttpResponse:
        del body, session, seconds
        self.sent += 1
        return HttpResponse(
            200, json.dumps({"choices": [{"message": {"content": "yes"}}]}).encode()
        )


@pytest.mark.parametrize("handed_over", [False, True])
async def test_a_request_cancelled_while_it_waits_for_its_turn_takes_none(
    handed_over: bool,  # noqa: FBT001
) -> None:
    async with AnsweringTransport() as transport:
        endpoint = Endpoint(transport=transport, turns=Turns(1))
        pool = EndpointPool([endpoint], EngineCard(model="m"), ProbeTimings(), patience=60.0)

        async def ask() -> Reply:
            request = Request(
                RequestBody(prompt(), Sampling(), model="m"),
                pool,
                session="s",
                stopwatch=None,
                retry_policy=RetryPolicy(),
                random=Random(0),
                timeout_seconds=60.0,
            )
            return await request.run(logprobs_mode=None)

        async with contextlib.AsyncExitStack() as other:
            await other.enter_async_context(endpoint.turns.take("other"))
            waiting = asyncio.create_task(ask())
            await asyncio.sleep(0)
            if handed_over:
                await other.aclose()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

        assert transport.sent == 0
        async with asyncio.timeout(200):
            assert (await ask()).text == "yes"
        assert endpoint.turns.load.under_way == 0
