"""What goes wrong with an engine ends as a counted retry, a named failure or a clear refusal."""

import asyncio
import json
import re
import time

import pytest
from support.servers.engine_servers import SCHEMA, engine, prompt, until

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.metrics import read_metrics
from generators.engine.client.response import MAX_CHARS
from generators.engine.client.retry_policy import RetryPolicy
from generators.engine.protocol import Reply, Sampling
from generators.engine.simulator.faults import Fault, FaultKind
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from schemas.backoff import Backoff
from schemas.episodes.call import StructuredMode
from schemas.errors import FailureKind, RolloutFailure

SAMPLING = Sampling(max_tokens=64, logprobs=True)


async def asked(
    fault: Fault | None = None,
    *,
    timeout_seconds: float = 60.0,
    retry_policy: RetryPolicy | None = None,
    sampling: Sampling = SAMPLING,
) -> Reply:
    """Return the reply of a server that this fault strikes."""
    async with (
        SimulatorServer(faults=() if fault is None else (fault,)) as server,
        engine([server.url], timeout_seconds=timeout_seconds, retry_policy=retry_policy) as client,
    ):
        return await client.reply(prompt(schema=SCHEMA), sampling, session="s")


async def test_a_reply_says_all_that_the_server_says() -> None:
    told = SimulatorOptions(prompt_tokens_details=True, request_metrics=True)
    async with SimulatorServer(told) as server:
        url = f"{server.url}/v1"
        async with engine([server.url], logprobs_mode="processed") as client:
            reply = await client.reply(prompt(schema=SCHEMA, picture=True), SAMPLING, session="s")

    assert json.loads(reply.text).keys() == {"x"}
    assert (reply.endpoint, reply.finish_reason, reply.structured) == (url, "stop", True)
    assert reply.prompt_token_ids is not None
    assert reply.completion_token_ids is not None
    assert reply.completion_logprobs is not None
    assert len(reply.prompt_token_ids) == reply.prompt_tokens
    assert len(reply.completion_token_ids) == reply.completion_tokens
    assert len(reply.completion_logprobs) == reply.completion_tokens
    assert reply.logprobs_mode == "processed"
    assert reply.structured_mode is StructuredMode.JSON_SCHEMA
    assert reply.image_tokens is not None
    assert reply.image_tokens > 0
    assert reply.cached_tokens == 0
    assert reply.queue_ms is not None
    assert reply.ttft_ms is not None
    assert 0 <= reply.queue_ms <= reply.ttft_ms <= reply.total_ms
    assert (reply.retries, reply.wasted_tokens) == (0, None)


@pytest.mark.parametrize(
    ("kind", "wasted"),
    [
        (FaultKind.HTTP_429, False),
        (FaultKind.HTTP_503, False),
        (FaultKind.HTTP_500, True),
        (FaultKind.STREAM_ERROR, True),
        (FaultKind.CUT, True),
        (FaultKind.INVALID_UTF8, True),
        (FaultKind.ABORTED, True),
    ],
)
async def test_what_did_not_arrive_whole_is_asked_again_and_counted(
    kind: FaultKind, *, wasted: bool
) -> None:
    reply = await asked(Fault(kind=kind, times=2))

    assert json.loads(reply.text).keys() == {"x"}
    assert reply.retries == 2
    assert (reply.wasted_tokens is not None) is wasted
    if reply.wasted_tokens is not None and reply.prompt_tokens is not None:
        assert reply.wasted_tokens >= 2 * reply.prompt_tokens


async def test_retry_after_is_honoured() -> None:
    begun = time.perf_counter()
    reply = await asked(Fault(kind=FaultKind.HTTP_429, retry_after="1"))

    assert reply.retries == 1
    assert time.perf_counter() - begun >= 1.0


async def test_a_server_that_asks_for_more_time_than_there_is_ends_as_a_failure() -> None:
    with pytest.raises(RolloutFailure, match=r"no whole reply in 1 s: HTTP 429") as failure:
        await asked(Fault(kind=FaultKind.HTTP_429, retry_after="3600"), timeout_seconds=1.0)

    assert failure.value.kind is FailureKind.ENGINE


@pytest.mark.parametrize(("kind", "status"), [(FaultKind.HTTP_400, 400), (FaultKind.HTTP_401, 401)])
async def test_a_refusal_is_final_and_says_what_the_server_said(
    kind: FaultKind, status: int
) -> None:
    with pytest.raises(RolloutFailure, match=f"HTTP {status}: .*told to fail") as failure:
        await asked(Fault(kind=kind, times=1))

    assert failure.value.kind is FailureKind.ENGINE


async def test_a_refusal_that_nothing_helps_against_teaches_nothing() -> None:
    async with SimulatorServer() as server, engine([server.url]) as client:
        server.add_fault(
            Fault(kind=FaultKind.UNKNOWN_FIELDS, times=-1, fields=("messages",), session="s")
        )
        with pytest.raises(RolloutFailure, match=r"HTTP 400: .*messages"):
            await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s")
        server.clear_faults()
        reply = await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s")

    assert reply.completion_token_ids is not None
    assert reply.structured


async def test_a_request_that_breaks_a_living_server_each_time_is_given_up() -> None:
    retry_policy = RetryPolicy(
        Backoff(first_seconds=0.01, max_seconds=0.02, jitter=0.5), max_broken=4
    )

    with pytest.raises(RolloutFailure, match="asked 4 times in vain: HTTP 500"):
        await asked(
            Fault(kind=FaultKind.HTTP_500, times=-1, session="s"), retry_policy=retry_policy
        )


async def test_a_reply_that_never_ends_meets_the_deadline() -> None:
    with pytest.raises(RolloutFailure, match=r"no whole reply in 1 s"):
        await asked(Fault(kind=FaultKind.ENDLESS, seconds=0.05), timeout_seconds=1.0)


async def test_no_answer_at_all_meets_the_deadline() -> None:
    with pytest.raises(RolloutFailure, match=r"no whole reply in 1 s"):
        await asked(Fault(kind=FaultKind.STUCK), timeout_seconds=1.0)


@pytest.mark.parametrize(
    ("kind", "finish", "text"),
    [(FaultKind.TRUNCATED, "length", r"^.+$"), (FaultKind.EMPTY, "stop", r"^$")],
)
async def test_a_whole_reply_is_never_asked_again_however_bad(
    kind: FaultKind, finish: str, text: str
) -> None:
    reply = await asked(Fault(kind=kind))

    assert re.match(text, reply.text)
    assert (reply.finish_reason, reply.retries) == (finish, 0)


async def test_a_reply_of_a_megabyte_is_cut_and_says_so() -> None:
    reply = await asked(
        Fault(kind=FaultKind.HUGE, size=1_000_000), sampling=Sampling(max_tokens=64)
    )

    assert len(reply.text) == MAX_CHARS
    assert reply.cut_chars == 1_000_000 - MAX_CHARS
    assert reply.retries == 0


async def test_log_probabilities_that_are_no_numbers_are_none() -> None:
    reply = await asked(Fault(kind=FaultKind.NAN_LOGPROBS))

    assert reply.completion_logprobs is None
    assert reply.logprobs_mode is None
    assert reply.completion_token_ids is not None


async def test_tokens_nobody_counted_are_none() -> None:
    reply = await asked(Fault(kind=FaultKind.NO_USAGE))

    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (None, None, None)


async def test_a_server_that_knows_only_openais_fields_is_asked_with_those() -> None:
    async with SimulatorServer() as server, engine([server.url]) as client:
        server.add_fault(Fault(kind=FaultKind.UNKNOWN_FIELDS, times=-1))
        replies = [
            await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s") for _ in range(2)
        ]
        chats = server.request_log.chats

    assert [reply.completion_token_ids for reply in replies] == [None, None]
    assert [reply.retries for reply in replies] == [0, 0]
    assert chats == 3, "what it refused is remembered"


@pytest.mark.parametrize(
    ("fields", "mode", "structured"),
    [
        (("response_format",), StructuredMode.STRUCTURED_OUTPUTS, True),
        (("response_format", "structured_outputs"), StructuredMode.NONE, False),
    ],
)
async def test_a_server_that_refuses_a_way_is_asked_in_the_next_one(
    fields: tuple[str, ...], mode: StructuredMode, *, structured: bool
) -> None:
    async with SimulatorServer() as server, engine([server.url]) as client:
        server.add_fault(Fault(kind=FaultKind.UNKNOWN_FIELDS, times=-1, fields=fields))
        reply = await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s")
        sent = next(iter(server.request_log.latest(1))).body
        chats = server.request_log.chats
        again = await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s")

    assert reply.structured is structured
    assert (reply.structured_mode, again.structured_mode) == (mode, mode)
    assert ("structured_outputs" in sent) is structured
    assert again.structured is structured
    assert server.request_log.chats == chats + 1, "the way that led through is remembered"


@pytest.mark.parametrize("kind", [FaultKind.STUCK, FaultKind.SILENT])
async def test_cancelling_reaches_the_server(kind: FaultKind) -> None:
    async with (
        SimulatorServer() as server,
        OpenAIEngine([server.url], requests=1) as client,
    ):
        server.add_fault(Fault(kind=kind))
        task = asyncio.create_task(client.reply(prompt(), SAMPLING, session="s"))

        async def asked_there() -> bool:
            return server.request_log.chats > 0

        async def ended_there() -> bool:
            return server.request_log.outcomes["aborted"] > 0

        await until(asked_there)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(ended_there)
        await client.reply(prompt(), SAMPLING, session="s")

    assert server.request_log.chats == 2, "the cancelled request gave its slot back"


async def test_no_more_requests_are_on_their_way_than_allowed() -> None:
    options = SimulatorOptions(delay_ms=(20, 40))
    async with (
        SimulatorServer(options) as server,
        OpenAIEngine([server.url], requests=3) as client,
    ):
        most = 0
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(client.reply(prompt(str(n)), SAMPLING, session=str(n)))
                for n in range(12)
            ]
            while not all(task.done() for task in tasks):
                found = (await client.metrics())[client.card.endpoints[0]]
                assert found is not None
                most = max(most, int(found.running or 0))
                await asyncio.sleep(0.01)

    assert most == 3


async def test_a_metrics_page_may_be_missing_or_half_there() -> None:
    async with SimulatorServer() as server, engine([server.url]) as client:
        whole = await read_metrics(server.url)
        server.add_fault(Fault(kind=FaultKind.HALF_METRICS))
        half = await read_metrics(server.url)
        server.add_fault(Fault(kind=FaultKind.NO_METRICS, times=2))
        missing = await read_metrics(server.url)
        (seen,) = (await client.metrics()).values()

    assert whole is not None
    assert whole.running == 0
    assert half is not None
    assert half != whole
    assert missing is None
    assert seen is None
    assert await read_metrics(server.url) is None, "nobody listens any more"
