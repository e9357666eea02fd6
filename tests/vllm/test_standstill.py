"""Real vLLM whose engine process is stopped or killed under load: health checks hear of one, and no request is lost.

A stopped engine process leaves `/health` at 200 for ever; only the counters of tokens tell.
"""

import asyncio
import signal
from collections.abc import Iterator

import aiohttp
import psutil
import pytest
from support.runs.commands import until
from support.servers.engine_serve import Serving

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.metrics import read_metrics
from generators.engine.protocol import EnginePrompt, Message, Reply, Role, Sampling

LOAD = 64
"""Requests at once that keep the server busy for some seconds."""

WEDGED_SECONDS = 20.0
"""Longer than a busy machine lets a server wait for its turn."""

SAMPLING = Sampling(temperature=1.0, max_tokens=600, extra={"ignore_eos": True})
PROMPT = EnginePrompt(messages=(Message(role=Role.USER, parts=("Count to a thousand.",)),))

pytestmark = pytest.mark.timeout(1_200)  # a start takes half a minute, on a busy machine several


@pytest.fixture(scope="module")
def watched() -> Iterator[Serving]:
    """A server that is ended when it computes nothing for `WEDGED_SECONDS`."""
    running = Serving(settings=[f"engine.wedged_seconds={WEDGED_SECONDS}"])
    try:
        yield running
    finally:
        running.end()


@pytest.fixture(scope="module")
def url(watched: Serving) -> str:
    """Where it serves."""
    return watched.url()


def _engine_process(serving: Serving) -> psutil.Process:
    (found,) = [one for one in serving.processes() if "EngineCore" in " ".join(one.cmdline())]
    return found


async def _replies(url: str) -> list[Reply]:
    async with OpenAIEngine([url]) as engine, asyncio.TaskGroup() as group:
        asked = [
            group.create_task(engine.reply(PROMPT, SAMPLING, session=str(number)))
            for number in range(LOAD)
        ]
    return [task.result() for task in asked]


def _busy(url: str) -> bool:
    """Say whether the server has computed something for several requests."""
    metrics = asyncio.run(read_metrics(url))
    return metrics is not None and (metrics.running or 0) > 1 and bool(metrics.generation_tokens)


async def _health(url: str) -> int:
    async with (
        aiohttp.ClientSession() as http,
        http.get(url.removesuffix("/v1") + "/health") as got,
    ):
        return got.status


async def test_a_server_whose_engine_is_stopped_is_started_again_and_loses_no_request(
    watched: Serving, url: str
) -> None:
    first = watched.processes()
    asking = asyncio.create_task(_replies(url))
    await asyncio.to_thread(until, lambda: asking.done() or _busy(url))
    assert not asking.done(), "the load was too light"

    _engine_process(watched).send_signal(signal.SIGSTOP)
    health = await _health(url)
    replies = await asking

    assert health == 200
    assert "vLLM answers, and has computed nothing for its requests for" in watched
    assert [reply.completion_tokens for reply in replies] == [SAMPLING.max_tokens] * LOAD
    assert sum(reply.retries for reply in replies) >= 1
    assert not any(process.is_running() for process in first)


async def test_a_server_whose_engine_is_killed_is_started_again_and_loses_no_request(
    watched: Serving, url: str
) -> None:
    first, heard = watched.processes(), len(watched.said)
    asking = asyncio.create_task(_replies(url))
    await asyncio.to_thread(until, lambda: asking.done() or _busy(url))
    assert not asking.done(), "the load was too light"

    _engine_process(watched).kill()
    replies = await asking

    said = " ".join(watched.said[heard:])
    assert "starting it again" in said
    assert "computed nothing" not in said
    assert [reply.completion_tokens for reply in replies] == [SAMPLING.max_tokens] * LOAD
    assert not any(process.is_running() for process in first)
