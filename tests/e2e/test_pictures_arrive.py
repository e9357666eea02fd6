"""The first look waits for the pictures of the problem that was just drawn."""

import asyncio
from pathlib import PurePosixPath

import pytest
from aiohttp import web
from factories import make_task

from generators.browser.chromium import Chromium
from generators.sites.gateway import Gateway, Handler
from generators.sites.miniwob import MiniWob, start_url

pytestmark = pytest.mark.browser

LATE_SECONDS = 0.6


class SlowGateway(Gateway):
    """A gateway on a slow line: pictures take their time."""

    late = 0

    def mount(self, host: str, handler: Handler) -> None:
        async def slow(request: web.BaseRequest) -> web.StreamResponse:
            if PurePosixPath(request.path).suffix in {".png", ".svg", ".jpg", ".gif"}:
                self.late += 1
                await asyncio.sleep(LATE_SECONDS)
            return await handler(request)

        super().mount(host, slow)


async def first_look(gateway: Gateway) -> bytes:
    """Return the picture of a fresh session's first look."""
    template = "email-inbox-delete"
    task = make_task(template=template).model_copy(update={"start_url": start_url(template)})
    async with gateway:
        site = MiniWob(gateway)
        visit = await site.visit(task)
        spec = visit.session_spec(viewport_width=500, viewport_height=400)
        async with Chromium(gateway_port=gateway.port) as chromium, chromium.session(spec) as page:
            await page.open(visit.start_url)
            await site.begin(visit, page)
            return (await page.observe()).screenshot.bytes


async def test_the_first_look_shows_its_pictures_however_late_they_arrive() -> None:
    slow = SlowGateway()

    assert await first_look(slow) == await first_look(Gateway())
    assert slow.late > 0
