"""What goes wrong with an engine ends as a counted retry, a named failure or a clear refusal."""

import asyncio
import json
import re
import time

import engines
import pytest
from engines import HASTY, SCHEMA, engine, free_port, prompt, raw_server, scripted_process, until

from generators.engine.client import OpenAIEngine
from generators.engine.endpoints import Phase, Rhythm
from generators.engine.governor import FixedGovernor
from generators.engine.metrics import read_metrics
from generators.engine.protocol import Reply, Sampling
from generators.engine.replies import MOST_CHARS
from generators.engine.retrying import Pauses
from generators.engine.scripted.faults import Fault, FaultKind
from generators.engine.scripted.options import ScriptedOptions
from generators.engine.scripted.server import ScriptedEngineServer
from generators.engine.stopwatch import Stopwatch
from schemas.errors import FailureKind, NoEngine, RolloutFailure

SAMPLING = Sampling(max_tokens=64, logprobs=True)


async def asked(
    fault: Fault | None = None,
    *,
    total_seconds: float = 60.0,
    pauses: Pauses | None = None,
    sampling: Sampling = SAMPLING,
) -> Reply:
    """Return the reply of a server that this fault strikes."""
    async with (
        ScriptedEngineServer(faults=() if fault is None else (fault,)) as server,
        engine([server.url], total_seconds=total_seconds, pauses=pauses) as client,
    ):
        return await client.reply(prompt(schema=SCHEMA), sampling, session="s")


async def test_a_reply_says_all_that_the_server_says() -> None:
    async with ScriptedEngineServer() as server:
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
    assert reply.image_tokens is not None
    assert reply.image_tokens > 0
    assert (reply.retries, reply.wasted_tokens) == (0, None)


async def test_the_card_says_what_is_served() -> None:
    options = ScriptedOptions(model="holo", context_tokens=4_096)
    async with ScriptedEngineServer(options) as server, engine([server.url]) as client:
        card = client.card

    assert (card.model, card.product, card.context_tokens) == ("holo", "scripted", 4_096)
    assert card.endpoints == (f"{server.url}/v1",)
    assert card.version is not None


# At start


async def _refused(*urls: str, model: str | None = None) -> str:
    with pytest.raises(NoEngine) as refusal:
        async with engine(urls, model=model):
            pytest.fail("it opened")
    return str(refusal.value)


async def test_nobody_at_home_is_refused_with_all_that_was_tried() -> None:
    one, other = free_port(), free_port()

    said = await _refused(f"http://127.0.0.1:{one}", f"http://127.0.0.1:{other}/v1")

    assert f"http://127.0.0.1:{one}/v1: " in said
    assert f"http://127.0.0.1:{other}/v1: " in said
    assert "Connect call failed" in said


async def test_a_model_that_is_not_served_is_refused_with_those_that_are() -> None:
    async with ScriptedEngineServer(ScriptedOptions(model="holo")) as server:
        said = await _refused(server.url, model="other")

    assert "does not serve the model 'other' but holo" in said


async def test_endpoints_that_serve_different_things_are_refused() -> None:
    async with (
        ScriptedEngineServer(ScriptedOptions(context_tokens=4_096)) as one,
        ScriptedEngineServer(ScriptedOptions(context_tokens=8_192)) as other,
    ):
        said = await _refused(one.url, other.url)

    assert "endpoints disagree" in said
    assert "context length (4096 and 8192)" in said


async def test_one_unfit_endpoint_is_refused_though_another_is_fit() -> None:
    async with (
        ScriptedEngineServer(ScriptedOptions(model="holo")) as one,
        ScriptedEngineServer(ScriptedOptions(model="other")) as other,
    ):
        said = await _refused(one.url, other.url, model="holo")

    assert f"{other.url}/v1 does not serve the model 'holo'" in said


async def test_a_missing_key_is_refused_as_such_and_none_is_taken_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    async with ScriptedEngineServer(ScriptedOptions(api_key="key")) as server:
        said = await _refused(server.url)
        async with OpenAIEngine([server.url], api_key="key") as client:
            reply = await client.reply(prompt(), SAMPLING, session="s")

    assert "HTTP 401" in said
    assert "the API key is missing or wrong" in said
    assert reply.text


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host/v1", "http://host:port"])
async def test_what_is_no_url_is_refused(url: str) -> None:
    assert re.search("engine URL '.*'", await _refused(url))


async def test_no_urls_at_all_are_refused() -> None:
    assert "engine.urls is empty" in await _refused()


def _models(*names: str) -> bytes:
    return json.dumps({"data": [{"id": name} for name in names]}).encode()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (_models("a", "b"), "serves several models; name one: a, b"),
        (_models(), "lists no model"),
        (b"<html>hello</html>", "lists no model"),
        (b"\xff\xfe", "lists no model"),
    ],
)
async def test_a_server_that_lists_no_one_model_is_refused(body: bytes, said: str) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()

    async with raw_server(speak) as url:
        assert said in await _refused(url)


async def test_credentials_in_a_url_are_sent_and_never_said() -> None:
    heard: list[bytes] = []

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async with raw_server(speak) as url:
        said = await _refused(url.replace("://", "://user:s%40fe@"))

    assert b"authorization: Basic dXNlcjpzQGZl\r\n" in heard[0]
    assert "HTTP 403" in said
    assert "user" not in said
    assert "fe@" not in said


# While it runs


@pytest.mark.parametrize(
    ("kind", "wasted"),
    [
        (FaultKind.HTTP_429, False),
        (FaultKind.HTTP_503, False),
        (FaultKind.HTTP_500, True),
        (FaultKind.STREAM_ERROR, True),
        (FaultKind.CUT, True),
        (FaultKind.INVALID_UTF8, True),
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
        await asked(Fault(kind=FaultKind.HTTP_429, retry_after="3600"), total_seconds=1.0)

    assert failure.value.kind is FailureKind.ENGINE


@pytest.mark.parametrize(("kind", "status"), [(FaultKind.HTTP_400, 400), (FaultKind.HTTP_401, 401)])
async def test_a_refusal_is_final_and_says_what_the_server_said(
    kind: FaultKind, status: int
) -> None:
    with pytest.raises(RolloutFailure, match=f"HTTP {status}: .*told to fail") as failure:
        await asked(Fault(kind=kind, times=1))

    assert failure.value.kind is FailureKind.ENGINE


async def test_a_refusal_that_nothing_helps_against_teaches_nothing() -> None:
    async with ScriptedEngineServer() as server, engine([server.url]) as client:
        server.fault(Fault(kind=FaultKind.UNKNOWN_FIELDS, times=-1, fields=("messages",)))
        with pytest.raises(RolloutFailure, match=r"HTTP 400: .*messages"):
            await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s")
        server.behave()
        reply = await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s")

    assert reply.completion_token_ids is not None
    assert reply.structured


async def test_a_request_that_breaks_a_living_server_each_time_is_given_up() -> None:
    pauses = Pauses(first_seconds=0.01, longest_seconds=0.02, most_broken=4)

    with pytest.raises(RolloutFailure, match="asked 4 times in vain: HTTP 500"):
        await asked(Fault(kind=FaultKind.HTTP_500, times=-1), pauses=pauses)


async def test_a_reply_that_never_ends_meets_the_deadline() -> None:
    with pytest.raises(RolloutFailure, match=r"no whole reply in 1 s"):
        await asked(Fault(kind=FaultKind.ENDLESS, seconds=0.05), total_seconds=1.0)


async def test_no_answer_at_all_meets_the_deadline() -> None:
    with pytest.raises(RolloutFailure, match=r"no whole reply in 1 s"):
        await asked(Fault(kind=FaultKind.STUCK), total_seconds=1.0)


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

    assert len(reply.text) == MOST_CHARS
    assert reply.cut_chars == 1_000_000 - MOST_CHARS
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
    async with ScriptedEngineServer() as server, engine([server.url]) as client:
        server.fault(Fault(kind=FaultKind.UNKNOWN_FIELDS, times=-1))
        replies = [
            await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s") for _ in range(2)
        ]
        chats = server.ledger.chats

    assert [reply.completion_token_ids for reply in replies] == [None, None]
    assert [reply.retries for reply in replies] == [0, 0]
    assert chats == 3, "what it refused is remembered"


@pytest.mark.parametrize(
    ("fields", "structured"),
    [
        (("response_format",), True),
        (("response_format", "structured_outputs"), False),
    ],
)
async def test_a_server_that_refuses_a_way_is_asked_in_the_next_one(
    fields: tuple[str, ...], *, structured: bool
) -> None:
    async with ScriptedEngineServer() as server, engine([server.url]) as client:
        server.fault(Fault(kind=FaultKind.UNKNOWN_FIELDS, times=-1, fields=fields))
        reply = await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s")
        sent = next(iter(server.ledger.last(1))).body
        chats = server.ledger.chats
        again = await client.reply(prompt(schema=SCHEMA), SAMPLING, session="s")

    assert reply.structured is structured
    assert ("structured_outputs" in sent) is structured
    assert again.structured is structured
    assert server.ledger.chats == chats + 1, "the way that led through is remembered"


@pytest.mark.parametrize("kind", [FaultKind.STUCK, FaultKind.SILENT])
async def test_cancelling_reaches_the_server(kind: FaultKind) -> None:
    async with ScriptedEngineServer() as server, engine([server.url]) as client:
        server.fault(Fault(kind=kind))
        task = asyncio.create_task(client.reply(prompt(), SAMPLING, session="s"))

        async def asked_there() -> bool:
            return server.ledger.chats > 0

        async def ended_there() -> bool:
            return server.ledger.outcomes["aborted"] > 0

        await until(asked_there)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(ended_there)
        signals = await client.signals()

    assert signals.in_flight == 0


async def test_no_more_requests_are_on_their_way_than_allowed() -> None:
    options = ScriptedOptions(delay_ms=(20, 40))
    async with ScriptedEngineServer(options) as server:
        governor = FixedGovernor(requests=3)
        async with OpenAIEngine([server.url], governor=governor) as client:
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
    async with ScriptedEngineServer() as server, engine([server.url]) as client:
        whole = await read_metrics(server.url)
        server.fault(Fault(kind=FaultKind.HALF_METRICS))
        half = await read_metrics(server.url)
        server.fault(Fault(kind=FaultKind.NO_METRICS, times=2))
        missing = await read_metrics(server.url)
        signals = await client.signals()

    assert whole is not None
    assert whole.running == 0
    assert half is not None
    assert half != whole
    assert missing is None
    assert signals.running is None
    assert await read_metrics(server.url) is None, "nobody listens any more"


# Engines that die


async def _conversation(client: OpenAIEngine, number: int, turns: int) -> list[Reply]:
    return (await _timed(client, number, turns))[0]


async def _timed(client: OpenAIEngine, number: int, turns: int) -> tuple[list[Reply], float]:
    """Return the replies of a conversation and the seconds of it that count."""
    stopwatch = Stopwatch()
    replies = [
        await client.reply(
            prompt(f"{number}/{turn}", schema=SCHEMA),
            SAMPLING,
            session=f"episode-{number}",
            stopwatch=stopwatch,
        )
        for turn in range(turns)
    ]
    return replies, stopwatch.seconds


async def test_an_engine_killed_and_started_again_under_load_loses_nothing() -> None:
    sessions, turns, port = 32, 6, free_port()
    async with (
        scripted_process(port, "--delay-ms", "100,300") as server,
        engine([server.url]) as client,
        asyncio.timeout(120),
    ):
        begun = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_timed(client, number, turns)) for number in range(sessions)]
            await asyncio.sleep(0.5)
            await server.kill()
            down = time.perf_counter()
            await asyncio.sleep(1.0)
            await server.start()
            away = time.perf_counter() - down
        wall = time.perf_counter() - begun

    replies = [reply for task in tasks for reply in task.result()[0]]
    assert len(replies) == sessions * turns
    assert sum(reply.retries for reply in replies) >= 1
    assert all(json.loads(reply.text).keys() == {"x"} for reply in replies)
    counted = max(task.result()[1] for task in tasks)
    assert counted <= wall - away + 0.5, "waiting for a dead engine counts against nobody"


async def test_one_of_two_endpoints_dies_and_comes_back() -> None:
    sessions, options = 24, ScriptedOptions(delay_ms=(50, 100))
    async with ScriptedEngineServer(options) as one:
        other = ScriptedEngineServer(options)
        await other.__aenter__()
        async with engine([one.url, other.url]) as client, asyncio.timeout(60):
            before = await _all_ask(client, sessions)
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(_conversation(client, number, 4))
                    for number in range(sessions)
                ]
                await asyncio.sleep(0.1)
                await other.__aexit__()
            replies = [reply for task in tasks for reply in task.result()]
            during = await _all_ask(client, sessions)

            async def all_are_back() -> bool:
                return await _all_ask(client, sessions) == before

            async with ScriptedEngineServer(options, port=other.port):
                await until(all_are_back)

    assert len(set(before)) == 2
    assert len(replies) == sessions * 4
    assert set(during) == {f"{one.url}/v1"}


async def _all_ask(client: OpenAIEngine, sessions: int) -> list[str]:
    """Return which endpoint answers each session."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_conversation(client, number, 1)) for number in range(sessions)]
    return [task.result()[0].endpoint for task in tasks]


async def test_an_endpoint_that_hangs_is_found_and_its_requests_asked_elsewhere() -> None:
    sessions, port = 12, free_port()
    rhythm = Rhythm(**{**engines.PATIENT.__dict__, "probe_waiting": 0.2, "probe_patience": 1.0})
    async with (
        ScriptedEngineServer() as one,
        scripted_process(port) as other,
        engine([one.url, other.url], rhythm=rhythm) as client,
        asyncio.timeout(60),
    ):
        before = await _all_ask(client, sessions)
        await other.freeze()
        during = await _all_ask(client, sessions)

    assert len(set(before)) == 2
    assert set(during) == {f"{one.url}/v1"}


async def test_an_endpoint_that_was_away_at_the_start_is_asked_once_it_is_there() -> None:
    late = ScriptedEngineServer(port=free_port())
    async with (
        ScriptedEngineServer() as one,
        engine([one.url, late.url], rhythm=HASTY) as client,
        asyncio.timeout(60),
    ):
        first = await _all_ask(client, 12)

        async def both_are_asked() -> bool:
            return len(set(await _all_ask(client, 12))) == 2

        async with late:
            await until(both_are_asked)

    assert set(first) == {f"{one.url}/v1"}
    assert client.card.endpoints == (f"{one.url}/v1", f"{late.url}/v1")


async def test_what_comes_back_with_another_model_is_not_asked() -> None:
    first = ScriptedEngineServer(ScriptedOptions(model="holo"))
    await first.__aenter__()
    async with engine([first.url], rhythm=HASTY, total_seconds=2.0) as client:
        await first.__aexit__()
        reply = asyncio.create_task(client.reply(prompt(), SAMPLING, session="s"))

        async def is_dead() -> bool:
            return client._open.endpoints[0].health.phase is Phase.DEAD

        await until(is_dead)
        impostor = ScriptedEngineServer(ScriptedOptions(model="other"), port=first.port)
        async with impostor:
            with pytest.raises(RolloutFailure, match=r"no whole reply in 2 s"):
                await reply
            troubles = client._open.troubles
            phase = client._open.endpoints[0].health.phase

    assert "does not serve the model 'holo' but other" in troubles
    assert phase is Phase.DEAD
    assert impostor.ledger.chats == 0
