"""A page reaches what its site serves and nothing else, however it asks."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import web
from commands import until
from effort import THOROUGH
from html_site import ORIGIN, browsing, opened, spec

from generators.sites.gateway import Handler
from schemas.action import Click, Wait

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    # With time, each attack has a browser of its own, in which nothing was tried before.
    *([] if THOROUGH else [pytest.mark.usefixtures("one_browser")]),
]

ATTACKS = {
    "fetch": "fetch('http://{victim}/').catch(()=>0)",
    "fetch by address": "fetch('http://127.0.0.1:{port}/',{{mode:'no-cors'}}).catch(()=>0)",
    "decimal address": "fetch('http://2130706433:{port}/',{{mode:'no-cors'}}).catch(()=>0)",
    "image": "new Image().src='http://{victim}/x.png'",
    "script": "document.head.append(Object.assign(document.createElement('script'),{{src:'http://{victim}/x.js'}}))",
    "frame": "document.body.append(Object.assign(document.createElement('iframe'),{{src:'http://{victim}/'}}))",
    "beacon": "navigator.sendBeacon('http://{victim}/','x')",
    "websocket": "new WebSocket('ws://{victim}/')",
    "worker": "new Worker(URL.createObjectURL(new Blob([\"fetch('http://{victim}/')\"])))",
    "worker websocket": "new Worker(URL.createObjectURL(new Blob([\"new WebSocket('ws://{victim}/')\"])))",
    "redirect": "fetch('/redirect',{{mode:'no-cors'}}).catch(()=>0)",
    "form": "document.body.insertAdjacentHTML('beforeend','<iframe name=f></iframe><form method=post target=f action=http://{victim}/ id=g></form>');g.submit()",
    "prefetch": "document.head.insertAdjacentHTML('beforeend','<link rel=prefetch href=http://{victim}/p>')",
    "event source": "new EventSource('http://{victim}/')",
}


class Victim:
    """A server on loopback that no page may reach."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        self.port = 0


@pytest_asyncio.fixture(loop_scope="module")
async def victim() -> AsyncIterator[Victim]:
    canary = Victim()

    async def touched(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            canary.hits.append((await reader.read(200)).decode(errors="replace"))
            writer.close()

    server = await asyncio.start_server(touched, "127.0.0.1", 0)
    canary.port = server.sockets[0].getsockname()[1]
    async with server:
        yield canary


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
async def test_no_page_reaches_another_server(attack: str, victim: Victim) -> None:
    address = f"127.0.0.1:{victim.port}"

    async def redirect(_: web.BaseRequest) -> web.StreamResponse:
        raise web.HTTPFound(f"http://{address}/")

    script = attack.format(victim=address, port=victim.port)
    pages: dict[str, str | Handler] = {
        "/": f"<body><script>{script}</script>",
        "/redirect": redirect,
    }
    async with browsing(pages) as (chromium, gateway), chromium.session(spec()) as session:
        await session.open(ORIGIN + "/")
        await session.act(Wait(ms=500))
        await asyncio.to_thread(until, lambda: gateway.refused.total > 0)  # it was made
        await asyncio.sleep(0.3)  # for what else it does
    assert victim.hits == []


DEVTOOLS_ATTACKS = {
    "fetch": "fetch('http://127.0.0.1:{port}/json/list').then(()=>{{document.title='in'}},()=>0)",
    "fetch by name": "fetch('http://localhost:{port}/json/list',{{mode:'no-cors'}}).catch(()=>0)",
    "frame": "document.body.insertAdjacentHTML('beforeend','<iframe src=http://127.0.0.1:{port}/json/list></iframe>')",
    "websocket": "new WebSocket('ws://127.0.0.1:{port}/devtools/page/{target}').onopen=()=>{{document.title='in'}}",
}


@pytest.mark.parametrize("attack", DEVTOOLS_ATTACKS.values(), ids=DEVTOOLS_ATTACKS.keys())
async def test_no_page_reaches_the_devtools_of_its_browser(attack: str) -> None:
    async with (
        browsing({"/": "<body>"}) as (chromium, gateway),
        chromium.session(spec()) as session,
    ):
        await session.open(ORIGIN + "/")
        tree = await session._tab.channel.send("Page.getFrameTree")
        target = tree["frameTree"]["frame"]["id"]
        assert chromium.process is not None
        endpoint = chromium.process.endpoint
        found = await asyncio.to_thread(_listed, await endpoint.connect())
        assert target in found, "they are there for this program"
        script = attack.format(port=endpoint.port, target=target)
        await session.evaluate(f"{{{script};0}}")
        await session.act(Wait(ms=500))
        await asyncio.to_thread(until, lambda: gateway.refused.total > 0)  # it was made
        await asyncio.sleep(0.3)  # for what else it does
        assert (await session.observe()).page.title == "/", "nothing opened"


def _listed(connected: socket.socket) -> str:
    """Return the answer of a DevTools server to whom asks for its targets."""
    connected.settimeout(10)
    with connected:
        connected.sendall(
            b"GET /json/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        answer = b""
        while b"]" not in answer and (part := connected.recv(65_536)):
            answer += part
    return answer.decode()


async def test_the_canary_would_sing(victim: Victim) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", victim.port)
    writer.write(b"hello")
    await writer.drain()
    writer.close()

    await asyncio.to_thread(until, lambda: victim.hits == ["hello"])


REFUSED = """<script>
fetch("http://evil.example/").catch(() => 0);
fetch("https://secret.example/").catch(() => 0);
fetch("http://[2001:db8::1]:8080/").catch(() => 0);
new Worker(URL.createObjectURL(new Blob(["new WebSocket('ws://worker.example/')"])));
</script>"""


async def test_what_pages_asked_of_others_is_counted_by_name_for_their_own_session() -> None:
    names = {
        ("evil.example", "http"),
        ("secret.example:443", "tls"),
        ("[2001:db8::1]:8080", "http"),
        ("worker.example", "http"),
    }
    async with (
        browsing({"/": REFUSED, "/good": "good"}) as (chromium, _),
        chromium.session(spec()) as session,
        chromium.session(spec()) as neighbour,
    ):
        await neighbour.open(ORIGIN + "/good")
        await session.open(ORIGIN + "/")
        await session.act(Wait(ms=500))
        await asyncio.to_thread(until, lambda: len(session.blocked()) >= len(names))

        assert {(one.name, one.kind.value) for one in session.blocked()} == names
        assert neighbour.blocked() == ()


async def test_a_download_changes_nothing() -> None:
    async def download(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=b"x", headers={"Content-Disposition": "attachment; filename=x"})

    pages: dict[str, str | Handler] = {"/": "<a href=/file>file</a>", "/file": download}
    async with opened(pages) as session:
        await session.act(Click(x=15, y=15))

        assert (await session.observe()).page.url == ORIGIN + "/"


async def test_one_session_keeps_nothing_of_another() -> None:
    page = "<script>document.title=(localStorage.seen||'')+document.cookie;localStorage.seen='s';document.cookie='c=1'</script>"
    async with browsing({"/": page}) as (chromium, _):
        for _ in range(2):
            async with chromium.session(spec()) as session:
                await session.open(ORIGIN + "/")

                assert (await session.observe()).page.title == ""


async def test_a_pages_text_and_title_are_data() -> None:
    page = "<script>document.title='</title><b>x'</script><p>{{7*7}} <b>\\u202e</b>"
    async with opened({"/": page}) as session:
        assert (await session.observe()).page.title == "</title><b>x"


async def test_half_a_character_on_a_page_breaks_nothing() -> None:
    page = "<button id=a></button><script>a.textContent=document.title='\\ud83d';</script>"
    async with opened({"/": page}) as session:
        seen = await session.observe()

        assert seen.page.title == "\ufffd"
        assert "\ufffd" in {element.text for element in seen.elements}
