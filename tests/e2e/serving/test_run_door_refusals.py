"""The run door refuses bad requests by name, before a seat is taken, and asks no address that is not allowed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from support.servers.seat_server import seats_config, served

from flows.serving.client_engines import EngineRefused, check_endpoint
from flows.serving.run_door import BadRequest, read_run
from generators.engine.client.endpoint_keys import key_variable
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer

LOOPBACK = ("http://127.0.0.1", "http://localhost")


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/v1",
        "http://localhost/v1/",
        "http://127.0.0.1/a-path/v1",
    ],
)
def test_an_engine_at_an_allowed_address_is_taken(endpoint: str) -> None:
    assert check_endpoint(endpoint, LOOPBACK) == endpoint.rstrip("/")


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://10.0.0.1:8000/v1",
        "https://127.0.0.1:8000/v1",
        "http://127.0.0.1.example/v1",
        "http://[::1]:8000/v1",
    ],
)
def test_an_engine_elsewhere_is_refused(endpoint: str) -> None:
    with pytest.raises(EngineRefused, match="none of the addresses"):
        check_endpoint(endpoint, LOOPBACK)


def test_an_engine_at_another_port_is_refused_where_the_list_names_one() -> None:
    assert check_endpoint("http://gpu:8000/v1", ["http://gpu:8000"])
    with pytest.raises(EngineRefused, match="none of the addresses"):
        check_endpoint("http://gpu:8001/v1", ["http://gpu:8000"])


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "127.0.0.1:8000",
        "file:///etc/passwd",
        "http://",
        "http://127.0.0.1:port/v1",
        "http://user:secret@127.0.0.1/v1",
        "http://10.0.0.1@127.0.0.1/v1",
        "http://127.0.0.1/v1?to=http://10.0.0.1",
        "http://127.0.0.1/v1#there",
        "http://127.0.0.1/../admin",
        "http://127.0.0.1/%2e%2e/admin",
        "http://127.0.0.1\\@10.0.0.1/v1",
        " http://127.0.0.1/v1",
        "http://127.0.0.1/v1\r\nHost: other",
    ],
)
def test_what_is_no_plain_address_is_refused(endpoint: str) -> None:
    with pytest.raises(EngineRefused, match=r"endpoint: expected|none of the addresses"):
        check_endpoint(endpoint, LOOPBACK)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "JSON"),
        (b"[1]", "object"),
        (b"{}", "endpoint"),
        (b'{"endpoint": "http://127.0.0.1", "sampling": {"top_k": 3}}', "sampling.top_k"),
        (b'{"endpoint": "http://127.0.0.1", "sampling": {"temperature": 9}}', "temperature"),
        (b'{"endpoint": "http://127.0.0.1", "task": {"colour": "red"}}', "task.colour"),
        (b'{"endpoint": "http://127.0.0.1", "task": "click-test"}', "task"),
        (b'{"endpoint": "http://127.0.0.1", "headers": {}}', "headers"),
    ],
)
def test_a_malformed_request_is_refused_by_the_name_of_its_part(body: bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        read_run(body)


async def test_an_engine_of_a_client_gets_no_key_but_that_of_its_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "a-key-of-the-operator"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    locked = SimulatorOptions(api_key=key)
    async with SimulatorServer(locked) as engine, served(seats_config(tmp_path)) as server:
        status, told = await server.run({"endpoint": engine.url})
        monkeypatch.setenv(key_variable(engine.url), key)
        opened, _ = await server.run({"endpoint": engine.url, "pictures": False})

    assert (status, opened) == (502, 200)
    assert "401" in told["error"]
    place = f"it is taken from {key_variable(engine.url)} in the environment of this program"
    assert told["error"].endswith(place), "no client's engine gets the key of OPENAI_API_KEY"


@asynccontextmanager
async def _redirecting(to: str) -> AsyncIterator[str]:
    """Serve redirections of everything to another address."""

    async def send_on(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": to + request.path})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", send_on)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_request_that_cannot_be_played_takes_no_seat(tmp_path: Path) -> None:
    async with (
        SimulatorServer() as engine,
        _redirecting(engine.url) as redirecting,
        served(seats_config(tmp_path, seats={"splits": ["train"]})) as server,
    ):
        address = str(server.client._base_url)
        group = {"index": 0, "group": "one"}
        refused = [
            await server.run(body)
            for body in (
                {"endpoint": "http://127.0.0.1:9/v1"},
                {"endpoint": address.rstrip("/")},
                {"endpoint": redirecting},
                {"endpoint": engine.url, "model": "another"},
                {"endpoint": engine.url, "dialect": "none-of-them"},
                {"endpoint": engine.url, "dialect": "claude"},
                {"endpoint": engine.url, "task": {"name": "no-such-task"}},
                {"endpoint": engine.url, "task": {"split": "test"}},
                {"endpoint": engine.url, "task": {"split": "none-of-them"}},
                {"endpoint": engine.url, "task": {"group_size": 2}},
            )
        ]
        assert (await server.run({"endpoint": engine.url, "task": group}))[0] == 200
        other = await server.run({"endpoint": engine.url, "task": {**group, "index": 1}})
        async with server.client.post("/run", headers={"Authorization": "Bearer no"}) as nobody:
            assert nobody.status == 401

        assert [status for status, _ in refused] == [
            *(502, 502, 502, 502, 400, 400),
            *(404, 404, 400, 400),
        ], refused
        assert "307" in refused[2][1]["error"]
        assert "start one, or mend the request's endpoint" in refused[0][1]["error"]
        assert not any("engine.urls" in told["error"] for _, told in refused)
        assert other[0] == 400
        assert "the group is of click-test with seed 0" in other[1]["error"]
        assert server.seats.turnstile.in_use == 0
        assert server.seats.keeper.kept == 1
