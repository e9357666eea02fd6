"""Which weights wrote a reply is read where a server says it, and left open where it does not."""

import asyncio
import json

import pytest
from pydantic import JsonValue

from generators.engine.client.response import read_completion
from generators.engine.client.transport import Transport
from generators.engine.client.weights import WeightsWatch, spans_between
from generators.engine.simulator.server import SimulatorServer
from generators.engine.simulator.weights import PauseMode
from schemas.episodes.call import WeightsSpan


def span(version: str, start: int | None = None, end: int | None = None) -> WeightsSpan:
    return WeightsSpan(version=version, start=start, end=end)


def spans_of(choice: dict[str, JsonValue], **top: JsonValue) -> tuple[WeightsSpan, ...]:
    first = {"message": {"content": "hello"}, **choice}
    return read_completion(json.dumps({"choices": [first], **top}).encode()).weights


SPANS: list[JsonValue] = [
    {"version": "4", "start": 0, "end": 7},
    {"version": "5", "start": 7, "end": 9},
]


def test_the_spans_of_a_reply_are_read_from_its_choice_or_its_metadata() -> None:
    expected = (span("4", 0, 7), span("5", 7, 9))

    assert spans_of({"weight_versions": SPANS}) == expected
    assert spans_of({}, metadata={"weight_version": "5", "weight_versions": SPANS}) == expected
    assert spans_of({}, metadata={"weight_version": "5"}) == (span("5"),)


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        "5",
        {"weight_version": 5},
        {"weight_version": ""},
        {"weight_versions": [{"version": "4", "start": 0}]},
        {"weight_versions": [{"version": "4", "start": 3, "end": 1}]},
        {"weight_versions": [{"version": 4, "start": 0, "end": 1}]},
        {"weight_versions": [SPANS[0], None]},
    ],
)
def test_what_is_no_version_is_none(metadata: JsonValue) -> None:
    assert spans_of({}, metadata=metadata) == ()


def test_a_change_meanwhile_names_both_and_no_tokens() -> None:
    assert spans_between("4", "4") == (span("4"),)
    assert spans_between("4", "5") == (span("4"), span("5"))
    assert spans_between(None, "5") == ()
    assert spans_between("4", None) == ()


async def test_a_server_is_asked_for_its_version_until_it_has_none_to_tell() -> None:
    async with SimulatorServer() as server, Transport(server.url) as transport:
        watch = WeightsWatch(transport)
        unnamed = await watch.version()
        server.weights.version = "7"
        named = await watch.version()
    async with SimulatorServer() as server, Transport(f"{server.url}/elsewhere/v1") as transport:
        silent = WeightsWatch(transport)
        assert await silent.version() is None
        assert await silent.version() is None
        asked = server.request_log.paths

    assert (unnamed, named) == (None, "7")
    assert asked.total() <= 1


async def test_the_version_before_a_request_may_be_that_of_a_moment_ago() -> None:
    async with SimulatorServer() as server, Transport(server.url) as transport:
        watch = WeightsWatch(transport)
        server.weights.version = "7"
        first = await watch.version_before()
        server.weights.version = "8"
        soon = await watch.version_before()
        watch.forget()
        after_a_failure = await watch.version_before()

    assert (first, soon, after_a_failure) == ("7", "7", "8")


async def test_the_time_of_a_pause_is_counted_while_requests_wait() -> None:
    async with SimulatorServer() as server, Transport(server.url) as transport:
        watch, busy = WeightsWatch(transport), asyncio.Event()
        counting = asyncio.create_task(watch.count_pauses(busy))
        await server.weights.pause(PauseMode.ABORT)
        busy.set()
        async with asyncio.timeout(30):
            while watch.paused_seconds < 1.5:  # noqa: ASYNC110 - it is a figure
                await asyncio.sleep(0.05)
        server.weights.resume()
        await asyncio.sleep(0.1)
        counting.cancel()
