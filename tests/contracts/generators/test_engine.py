"""What every engine promises, shown on the client over HTTP and on the one tests write down."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest
from support.servers.engine_servers import SCHEMA, engine, prompt
from support.servers.stub_engine import WrittenEngine

from generators.engine.protocol import Engine, EngineCard, Reply, Sampling
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from schemas.errors import FailureKind, RolloutFailure

SAMPLING = Sampling(max_tokens=64)
SESSIONS = tuple(f"episode {number}" for number in range(8))
REFUSED = "refused"
"""The conversation in which the server refuses what is asked."""

Opening = Callable[[], AbstractAsyncContextManager[Engine]]


@contextlib.asynccontextmanager
async def over_http() -> AsyncIterator[Engine]:
    options = SimulatorOptions(context_tokens=2_048)
    async with SimulatorServer(options) as server, engine([server.url]) as client:
        yield client


@contextlib.asynccontextmanager
async def written() -> AsyncIterator[Engine]:
    made = WrittenEngine()
    for session in SESSIONS:
        made.says('{"x": 1}', '{"x": 1}', session=session)
    made.says(RolloutFailure(FailureKind.ENGINE, "the prompt is too long"), session=REFUSED)
    yield made


@pytest.fixture(params=[over_http, written])
def opening(request: pytest.FixtureRequest) -> Opening:
    chosen: Opening = request.param
    return chosen


def check(reply: Reply, card: EngineCard) -> None:
    """Fail where a reply is not what a row of `calls` can rely on."""
    assert reply.text
    assert reply.model == card.model
    assert "@" not in reply.endpoint
    assert reply.total_ms >= 0
    counts = (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, reply.image_tokens)
    assert all(count is None or count >= 0 for count in counts)
    assert reply.cut_chars == 0
    assert Reply.model_validate_json(reply.model_dump_json()) == reply


async def test_it_says_what_it_serves(opening: Opening) -> None:
    async with opening() as asked:
        assert asked.card.model
        assert EngineCard.model_validate_json(asked.card.model_dump_json()) == asked.card


async def test_a_reply_is_whole(opening: Opening) -> None:
    async with opening() as asked:
        reply = await asked.reply(prompt(picture=True), SAMPLING, session=SESSIONS[0])

        check(reply, asked.card)


async def test_the_same_question_has_the_same_answer_where_nothing_is_drawn(
    opening: Opening,
) -> None:
    async with opening() as asked:
        first = await asked.reply(prompt(), SAMPLING, session=SESSIONS[0])
        second = await asked.reply(prompt(), SAMPLING, session=SESSIONS[0])

        assert first.text == second.text


async def test_a_reply_that_is_said_to_follow_the_schema_follows_it(opening: Opening) -> None:
    async with opening() as asked:
        reply = await asked.reply(prompt(schema=SCHEMA), SAMPLING, session=SESSIONS[0])

        check(reply, asked.card)
        if reply.structured:
            assert 0 <= json.loads(reply.text)["x"] <= 1_000


async def test_many_conversations_are_answered_at_once(opening: Opening) -> None:
    async with opening() as asked:
        async with asyncio.TaskGroup() as group:
            replies = [
                group.create_task(asked.reply(prompt(session), SAMPLING, session=session))
                for session in SESSIONS
            ]

        for reply in replies:
            check(reply.result(), asked.card)


async def test_a_request_that_is_refused_for_good_is_the_engines_failure(opening: Opening) -> None:
    async with opening() as asked:
        with pytest.raises(RolloutFailure) as caught:
            await asked.reply(prompt("word " * 10_000), SAMPLING, session=REFUSED)

        assert caught.value.kind is FailureKind.ENGINE
        assert caught.value.message
        check(await asked.reply(prompt(), SAMPLING, session=SESSIONS[0]), asked.card)


async def test_cancelling_a_request_costs_no_other_conversation_anything(opening: Opening) -> None:
    async with opening() as asked:
        cancelled = asyncio.create_task(asked.reply(prompt(), SAMPLING, session=SESSIONS[0]))
        await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.wait([cancelled])

        check(await asked.reply(prompt(), SAMPLING, session=SESSIONS[1]), asked.card)
