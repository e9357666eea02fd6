"""A page reaches neither the browser's own controls nor another session, and what it asked of others is counted.

`test_ways_out.py` has every other way out of a page.
"""

import asyncio
import socket

import pytest
from aiohttp import web
from support.browsers.html_site import ORIGIN, browsing, opened, spec
from support.runs.commands import until

from generators.sites.entrance import Refusals
from generators.sites.gateway import Handler
from schemas.episodes.action import Click, Wait

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

DEVTOOLS_ATTACKS = {
    "fetch": "fetch('http://127.0.0.1:{port}/json/list').then(()=>{{document.title='in by fetch'}},()=>0)",
    "fetch by name": "fetch('http://localhost:{port}/json/list',{{mode:'no-cors'}}).catch(()=>0)",
    "frame": "document.body.insertAdjacentHTML('beforeend','<iframe src=http://127.0.0.1:{port}/json/list></iframe>')",
    "websocket": "new WebSocket('ws://127.0.0.1:{port}/devtools/page/{target}').onopen=()=>{{document.title='in by websocket'}}",
}


async def test_no_page_reaches_the_devtools_of_its_browser(subtests: pytest.Subtests) -> None:
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
        for name, attack in DEVTOOLS_ATTACKS.items():
            with subtests.test(msg=name):
                gateway.refused = Refusals()
                script = attack.format(port=endpoint.port, target=target)
                await session.evaluate(f"{{{script};0}}")
                await session.act(Wait(ms=500))
                await asyncio.to_thread(until, lambda: gateway.refused.total > 0)  # it was made
        await asyncio.sleep(0.3)  # for what else they do
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
        await asyncio.to_thread(until, lambda: len(session.blocked_requests()) >= len(names))

        assert {(one.name, one.kind.value) for one in session.blocked_requests()} == names
        assert neighbour.blocked_requests() == ()


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
