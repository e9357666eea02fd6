"""An entrance passes on what a site serves, and refuses and counts all else, whatever arrives."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from generators.browser.protocol import Entrance
from generators.sites.entrance import FURTHER_NAMES, MAX_NAMES
from generators.sites.gateway import Gateway
from schemas.episodes.episode import BlockedRequests, ConnectionKind

GREETING = b"\x05\x01\x00"
GET = b"GET /page HTTP/1.1\r\nHost: shop.localhost\r\nConnection: close\r\n\r\n"


async def serve(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text=f"{request.host}{request.path}")


@asynccontextmanager
async def entering() -> AsyncIterator[Entrance]:
    async with Gateway() as gateway:
        gateway.mount("shop.localhost", serve)
        async with gateway.enter() as entrance:
            yield entrance


def towards(host: str, port: int) -> bytes:
    """The request of a SOCKS5 client that names a host, or states an address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return b"\x05\x01\x00\x03" + bytes((len(host),)) + host.encode() + port.to_bytes(2)
    kind = 1 if address.version == 4 else 4
    return b"\x05\x01\x00" + bytes((kind,)) + address.packed + port.to_bytes(2)


async def say(entrance: Entrance, *parts: bytes) -> bytes:
    """Send parts one after the other, and return all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", entrance.port)
    for part in parts:
        writer.write(part)
        await writer.drain()
        await asyncio.sleep(0.01)
    if writer.can_write_eof():
        writer.write_eof()
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_a_host_that_is_mounted_is_served() -> None:
    async with entering() as entrance:
        answer = await say(entrance, GREETING, towards("shop.localhost", 80), GET)

        assert answer.startswith(b"\x05\x00" + b"\x05\x00\x00\x01" + bytes(6) + b"HTTP/1.1 200")
        assert answer.endswith(b"shop.localhost/page")
        assert entrance.blocked_requests() == ()


async def test_a_handshake_may_arrive_byte_by_byte() -> None:
    whole = GREETING + towards("shop.localhost", 80) + GET
    async with entering() as entrance:
        answer = await say(entrance, *(bytes((one,)) for one in whole[:40]), whole[40:])

        assert answer.endswith(b"shop.localhost/page")


@pytest.mark.parametrize(
    ("host", "port", "said", "name", "kind"),
    [
        ("evil.example", 80, GET, "evil.example", "http"),
        ("evil.example", 8080, GET, "evil.example:8080", "http"),
        ("evil.example", 443, b"\x16\x03\x01\x02\x00", "evil.example:443", "tls"),
        ("turn.example", 3478, b"\x00\x03\x00\x08", "turn.example:3478", "other"),
        ("quiet.example", 80, b"", "quiet.example", "other"),
        ("127.0.0.1", 80, GET, "127.0.0.1", "http"),
        ("2001:db8::1", 8443, b"\x16\x03", "[2001:db8::1]:8443", "tls"),
        ("shop.localhost", 81, GET, "shop.localhost:81", "http"),
        ("shop.localhost", 443, GET, "shop.localhost:443", "other"),
        ("shop.localhost", 443, b"\x16\x03\x01\x00\x05hello", "shop.localhost:443", "other"),
    ],
)
async def test_all_else_is_refused_and_counted_by_name(
    host: str, port: int, said: bytes, name: str, kind: str
) -> None:
    async with entering() as entrance:
        answer = await say(entrance, GREETING, towards(host, port), said)
        async with asyncio.timeout(5):
            while not entrance.blocked_requests():  # noqa: ASYNC110 - the end of a connection tells nobody
                await asyncio.sleep(0.01)

        assert entrance.blocked_requests() == (
            BlockedRequests(name=name, kind=ConnectionKind(kind), count=1),
        )
        assert (b"403 Forbidden" in answer) == (kind == "http")
        assert (f"{name} is not served here".encode() in answer) == (kind == "http")


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00",
        GREETING + b"\x05\x02" + towards("shop.localhost", 80)[2:],
        GREETING + b"\x05\x01\x00\x09\x00\x00\x00\x00\x00\x00",
    ],
    ids=["no proxy request", "SOCKS4", "bind", "unknown address"],
)
async def test_what_is_no_request_for_a_connection_ends_it(said: bytes) -> None:
    async with entering() as entrance:
        assert b"200" not in await say(entrance, said)


async def test_names_without_end_are_counted_in_bounds() -> None:
    async with entering() as entrance:
        for number in range(MAX_NAMES + 5):
            await say(entrance, GREETING, towards(f"{number:03}{'x' * 200}.example", 80), GET)

        blocked = entrance.blocked_requests()
        assert len(blocked) == MAX_NAMES + 1
        assert {len(one.name) for one in blocked[:-1]} == {100}
        assert (blocked[-1].name, blocked[-1].count) == (FURTHER_NAMES, 5)


async def test_each_session_has_its_own_counts() -> None:
    async with Gateway() as gateway, gateway.enter() as one, gateway.enter() as other:
        await say(one, GREETING, towards("evil.example", 80), GET)

        assert (len(one.blocked_requests()), other.blocked_requests(), gateway.refused.total) == (
            1,
            (),
            1,
        )
