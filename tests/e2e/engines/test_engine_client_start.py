"""An engine says what it serves when it is opened, or is refused with what was tried."""

import asyncio
import json
import re

import pytest
from support.servers.engine_servers import engine, held_port, prompt, raw_server

from generators.engine.client.client import OpenAIEngine
from generators.engine.protocol import Sampling
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from schemas.errors import NoEngine

SAMPLING = Sampling(max_tokens=64, logprobs=True)


async def test_the_card_says_what_is_served() -> None:
    options = SimulatorOptions(model="holo", context_tokens=4_096)
    async with SimulatorServer(options) as server, engine([server.url]) as client:
        card = client.card

    assert (card.model, card.product, card.context_tokens) == ("holo", "scripted", 4_096)
    assert card.endpoints == (f"{server.url}/v1",)
    assert card.version is not None


async def _refused(*urls: str, model: str | None = None) -> str:
    with pytest.raises(NoEngine) as refusal:
        async with engine(urls, model=model):
            pytest.fail("it opened")
    return str(refusal.value)


async def test_nobody_at_home_is_refused_with_all_that_was_tried() -> None:
    with held_port() as one, held_port() as other:
        said = await _refused(f"http://127.0.0.1:{one}", f"http://127.0.0.1:{other}/v1")

    assert f"http://127.0.0.1:{one}/v1: " in said
    assert f"http://127.0.0.1:{other}/v1: " in said
    assert "Connect call failed" in said


async def test_a_model_that_is_not_served_is_refused_with_those_that_are() -> None:
    async with SimulatorServer(SimulatorOptions(model="holo")) as server:
        said = await _refused(server.url, model="other")

    assert "does not serve the model 'other' but holo" in said


async def test_endpoints_that_serve_different_things_are_refused() -> None:
    async with (
        SimulatorServer(SimulatorOptions(context_tokens=4_096)) as one,
        SimulatorServer(SimulatorOptions(context_tokens=8_192)) as other,
    ):
        said = await _refused(one.url, other.url)

    assert "endpoints disagree" in said
    assert "context length (4096 and 8192)" in said


async def test_one_unfit_endpoint_is_refused_though_another_is_fit() -> None:
    async with (
        SimulatorServer(SimulatorOptions(model="holo")) as one,
        SimulatorServer(SimulatorOptions(model="other")) as other,
    ):
        said = await _refused(one.url, other.url, model="holo")

    assert f"{other.url}/v1 does not serve the model 'holo'" in said


async def test_a_missing_key_is_refused_as_such_and_none_is_taken_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    async with SimulatorServer(SimulatorOptions(api_key="key")) as server:
        said = await _refused(server.url)
        async with OpenAIEngine([server.url], keys={server.url: "key"}) as client:
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
