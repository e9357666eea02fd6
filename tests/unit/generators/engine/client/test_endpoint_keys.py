"""A key goes to the endpoint that it is for, and nowhere else."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from flows.resources.engines import open_policies
from generators.engine.client.endpoint_keys import endpoint_keys, key_variable
from generators.engine.client.transport import Transport
from schemas.configuration.config import RunConfig
from schemas.errors import NoEngine

GENERAL = {"OPENAI_API_KEY": "general"}
MAIN, OTHER = "http://main:8000/v1", "https://other.example/v1"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.example.com/v1", "OPENAI_API_KEY_API_EXAMPLE_COM"),
        ("http://my-host:8000", "OPENAI_API_KEY_MY__HOST_8000"),
        ("http://me:pass@127.0.0.1:8001/v1", "OPENAI_API_KEY_127_0_0_1_8001"),
    ],
)
def test_an_endpoint_has_a_variable_named_after_its_host(url: str, name: str) -> None:
    assert key_variable(url) == name


@pytest.mark.parametrize(
    ("urls", "environ", "keys"),
    [
        ((MAIN, OTHER), GENERAL, {MAIN: "general"}),
        (("http://MAIN:8000/other",), GENERAL, {"http://MAIN:8000/other": "general"}),
        (("http://main:8001/v1",), GENERAL, {}),
        (("https://main:8000/v1",), GENERAL, {}),
        ((OTHER,), {**GENERAL, "OPENAI_API_KEY_OTHER_EXAMPLE": "its"}, {OTHER: "its"}),
        ((MAIN,), {**GENERAL, "OPENAI_API_KEY_MAIN_8000": "its"}, {MAIN: "its"}),
        (("http://me:pass@main:8000",), GENERAL, {}),
        ((MAIN,), {"OPENAI_API_KEY": ""}, {}),
        ((MAIN,), {"VLLM_API_KEY": "of a server of one's own"}, {}),
    ],
)
def test_a_key_is_given_to_the_endpoints_it_is_for(
    urls: tuple[str, ...], environ: Mapping[str, str], keys: Mapping[str, str]
) -> None:
    assert endpoint_keys(urls, environ, main=(MAIN,)) == keys


class Listener:
    """An endpoint that remembers what it was asked with, and serves nothing."""

    def __init__(self) -> None:
        self.heard: set[str | None] = set()
        self.url = ""
        self.elsewhere = ""
        """Where it sends everybody on to; empty: it says no."""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.heard.add(request.headers.get("Authorization"))
        if self.elsewhere:
            raise web.HTTPTemporaryRedirect(self.elsewhere)
        if self.url.endswith("main/v1"):
            return web.json_response({"data": [{"id": "m", "owned_by": "somebody"}]})
        raise web.HTTPForbidden


@asynccontextmanager
async def listening(name: str) -> AsyncIterator[Listener]:
    listener = Listener()
    runner = web.ServerRunner(web.Server(listener.answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    listener.url = f"http://127.0.0.1:{runner.addresses[0][1]}/{name}/v1"
    try:
        yield listener
    finally:
        await runner.cleanup()


async def test_a_role_with_an_engine_of_its_own_is_not_sent_the_key_of_the_runs_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with listening("main") as main, listening("role") as role:
        monkeypatch.setenv("OPENAI_API_KEY", "general")
        monkeypatch.setenv(key_variable(role.url), "its-own")
        config = RunConfig.model_validate(
            {
                "engine": {"kind": "openai", "urls": (main.url,)},
                "policy": {"name": "surfer", "localizer": {"urls": (role.url,)}},
            }
        )
        with pytest.raises(NoEngine, match=f"taken from {key_variable(role.url)}, or from"):
            async with open_policies(config):
                pass
        monkeypatch.delenv(key_variable(role.url))
        with pytest.raises(NoEngine, match="HTTP 403"):
            async with open_policies(config):
                pass

    assert main.heard == {"Bearer general"}
    assert role.heard == {"Bearer its-own", None}


async def test_a_key_is_not_carried_on_to_where_an_endpoint_sends_a_request() -> None:
    async with listening("main") as first, listening("role") as second:
        first.elsewhere = second.url
        async with Transport(first.url, api_key="sesame") as transport:
            answer = await transport.get("models", seconds=20)

    assert answer.status == 403
    assert (first.heard, second.heard) == ({"Bearer sesame"}, {None})
