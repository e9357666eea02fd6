"""Pages over https: encrypted by the gateway alone, upgraded where a page says so, and closed to everything else."""

import contextlib
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from support.browsers.html_site import handler, spec
from support.browsers.one_browser import browser_and_gateway

from generators.browser.session import ChromiumSession
from generators.sites.gateway import Handler
from schemas.episodes.episode import ConnectionKind

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

HOST = "pages.test"
SCRIPT = "<p id=p>without</p><script src=http://pages.test/words.js></script>"


async def _words(_: web.BaseRequest) -> web.Response:
    return web.Response(text="p.textContent = 'with'", content_type="text/javascript")


def _upgrading(**headers: str) -> Handler:
    async def answer(_: web.BaseRequest) -> web.Response:
        return web.Response(text=SCRIPT, content_type="text/html", headers=headers)

    return answer


@contextlib.asynccontextmanager
async def _opened(scheme: str, page: str | Handler) -> AsyncIterator[ChromiumSession]:
    origins = (f"https://{HOST}", f"http://{HOST}")
    async with browser_and_gateway() as (chromium, gateway):
        gateway.mount(HOST, handler({"/": page, "/words.js": _words}))
        settings = spec().model_copy(update={"allowed_origins": origins})
        async with chromium.session(settings) as session:
            await session.open(f"{scheme}://{HOST}/")
            yield session


async def test_a_page_over_https_is_a_secure_one_and_knows_no_fault_of_its_certificate() -> None:
    page = "<script>document.write(`${location.protocol} ${isSecureContext} ${!!navigator.clipboard}`)</script>"
    async with _opened("https", page) as session:
        assert await session.evaluate("document.body.innerText") == "https: true true"
        assert (await session.observe()).page.url == f"https://{HOST}/"


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Content-Security-Policy": "upgrade-insecure-requests"}, "with"),
        ({}, "without"),  # the browser refuses a script by http on a page by https
    ],
)
async def test_what_a_page_has_upgraded_is_served(headers: dict[str, str], words: str) -> None:
    async with _opened("https", _upgrading(**headers)) as session:
        assert await session.evaluate("p.textContent") == words
        assert session.blocked_requests() == ()


async def test_a_page_over_http_that_has_its_requests_upgraded_is_whole() -> None:
    upgrading = _upgrading(**{"Content-Security-Policy": "upgrade-insecure-requests"})
    async with _opened("http", upgrading) as session:
        assert await session.evaluate("p.textContent") == "with"


async def test_a_host_that_is_not_served_is_refused_over_https_and_counted() -> None:
    page = "<script>fetch('https://other.test/').catch(() => 0)</script>"
    async with _opened("https", page) as session:
        (refused,) = session.blocked_requests()

    assert (refused.name, refused.kind) == ("other.test:443", ConnectionKind.TLS)
