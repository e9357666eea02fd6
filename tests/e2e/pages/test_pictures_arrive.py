"""What a page shows waits for its pictures: the first look, and what then lies under the pointer."""

import asyncio
import io
from pathlib import PurePosixPath

import pytest
from aiohttp import web
from PIL import Image
from support.browsers.html_site import ORIGIN, browsing, opened, spec
from support.browsers.one_browser import browser_and_gateway
from support.browsers.visits import visit_to
from support.episodes.factories import make_task

from generators.browser.chromium import Chromium
from generators.browser.protocol import ClockSpec
from generators.sites.gateway import Gateway, Handler
from generators.sites.miniwob import MiniWob, start_url
from schemas.episodes.action import Back, Click, Reload

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

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


async def first_look(chromium: Chromium, gateway: Gateway) -> bytes:
    """Return the picture of a fresh session's first look."""
    template = "email-inbox-delete"
    task = make_task(template=template).model_copy(update={"start_url": start_url(template)})
    site = MiniWob(gateway)
    visit = await visit_to(site, task)
    spec = visit.session_spec(viewport_width=500, viewport_height=400)
    async with chromium.session(spec) as page:
        await page.open(visit.start_url)
        await site.begin(visit, page)
        return (await page.observe()).screenshot.bytes


async def test_the_first_look_shows_its_pictures_however_late_they_arrive() -> None:
    async with SlowGateway() as slow, Chromium(network=slow) as chromium:
        late = await first_look(chromium, slow)
    async with browser_and_gateway() as (chromium, gateway):
        soon = await first_look(chromium, gateway)

    assert late == soon
    assert slow.late > 0


LATE_ROW = (
    "<style>body{margin:0}.row{height:40px;width:500px}.row:hover{background:rgb(255,0,0)}</style>"
    "<div id=list><div class=row></div><div class=row></div></div>"
    "<script>onclick = () => setTimeout(() => {"
    "const row = document.createElement('div'); row.className = 'row'; list.prepend(row)}, %d)"
    "</script>"
)
SCALE = 2


# Chromium looks for what is under the pointer at the point divided by the scale, if it first does so
# while it takes a picture.
async def test_what_comes_under_the_pointer_just_before_a_picture_is_shown_under_it() -> None:
    clock = ClockSpec()
    page = LATE_ROW % (clock.step_ms + clock.settle_ms // 2)
    scaled = spec(clock=clock).model_copy(update={"device_scale_factor": SCALE})
    async with browsing({"/": page}) as (chromium, _), chromium.session(scaled) as session:
        await session.open(ORIGIN + "/")
        await session.act(Click(x=20, y=60))
        picture = Image.open(io.BytesIO((await session.observe()).screenshot.bytes)).convert("L")

    white = [picture.getpixel((200 * SCALE, y * SCALE)) == 255 for y in (20, 60, 100)]
    assert white == [True, False, True]


BAR = (
    "<style>body{margin:0}a{display:block;height:40px;width:500px;background:rgb(255,255,255);color:transparent}"
    "a:hover{background:rgb(255,0,0)}</style><a href=%s>next</a>"
)


async def test_what_a_new_page_shows_under_the_pointer_is_hovered() -> None:
    pages = {"/": BAR % "/two", "/two": BAR % "/three", "/three": BAR % "/"}
    seen: list[bool] = []
    async with opened(pages) as session:
        for action in (Click(x=200, y=20), Click(x=200, y=20), Reload(), Back()) * 3:
            await session.act(action)
            picture = Image.open(io.BytesIO((await session.observe()).screenshot.bytes))
            seen.append(picture.convert("HSV").crop((200, 20, 201, 21)).tobytes()[1] > 200)

    assert seen == [True] * 12
