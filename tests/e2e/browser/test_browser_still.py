"""A page whose clock stands still: it draws nothing by itself, and still draws whenever it is asked.

Its process is hours ahead of real time (`generators/browser/clock.py`), so input events carry its
time: one that is older than its document ends the process where it leads to a soft navigation.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

import psutil
import pytest
from support.browsers.html_site import ORIGIN, browsing, opened, spec

from generators.browser.session import ChromiumSession
from schemas.action import Click, Key, Tab, TabOperation, TypeText

pytestmark = pytest.mark.browser

SESSIONS = 8
SECONDS = 4.0
CPU_SHARE = 0.08
"""Of a core, for all of them together; with a frame every 16 ms they took 0.15 to 0.3."""

RED = "<script>onclick = () => { document.body.style.background = 'red' }</script>"
TASK = "<body><div id=area style='width:160px;height:210px'>a page with <b>words</b></div>"
SOFT = (
    "<body style='margin:0'><a id=go href='#'>go</a><input id=field><div id=view></div><script>"
    "const show = () => { history.pushState({}, '', '/shown' + Math.random());"
    "view.innerHTML = '<h1 style=font-size:60px>' + 'much text '.repeat(20) + '</h1>' };"
    "go.onclick = (event) => { event.preventDefault(); show() };"
    "field.onkeydown = (event) => { if (event.key === 'Enter') show() };</script>"
)


def cpu_seconds(below: psutil.Process) -> float:
    total = 0.0
    for process in below.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


async def test_open_pages_that_nobody_acts_on_take_no_processor() -> None:
    me = psutil.Process()
    async with browsing({"/": TASK}) as (chromium, _), contextlib.AsyncExitStack() as stack:
        for _ in range(SESSIONS):
            session = await stack.enter_async_context(chromium.session(spec()))
            await session.open(ORIGIN + "/")
            await session.observe()
        await asyncio.sleep(1.0)  # what loading left to do
        before, begun = cpu_seconds(me), time.perf_counter()
        await asyncio.sleep(SECONDS)
        share = (cpu_seconds(me) - before) / (time.perf_counter() - begun)

    assert share < CPU_SHARE


async def test_a_page_that_stood_still_for_a_while_is_drawn_at_once() -> None:
    async with opened({"/": f"page{RED}"}) as session:
        first = await session.observe()
        await asyncio.sleep(3.0)  # more than an action's time: a clock not ahead is behind by now
        await session.act(Click(x=100, y=100))

        assert (await session.observe()).screenshot.bytes != first.screenshot.bytes


@pytest.mark.parametrize("rel", ["opener", "noopener"])
async def test_a_window_that_a_page_opened_is_drawn_after_a_while_too(rel: str) -> None:
    pages = {
        "/": f"<a href=/two target=_blank rel={rel}>two</a>",
        "/two": f"two{RED}",
    }
    async with opened(pages) as session:
        await session.act(Click(x=15, y=15))
        await session.act(Tab(operation=TabOperation.SWITCH, index=1))
        first = await session.observe()
        await asyncio.sleep(3.0)
        await session.act(Click(x=100, y=100))
        second = await session.observe()

        assert second.page.url == ORIGIN + "/two"
        assert second.screenshot.bytes != first.screenshot.bytes


Way = Callable[[ChromiumSession], Awaitable[None]]


async def clicks(session: ChromiumSession) -> None:
    await session.act(Click(x=8, y=8))


async def presses(session: ChromiumSession) -> None:
    await session.act(Click(x=60, y=8))
    await session.act(Key(key="Enter"))


async def types(session: ChromiumSession) -> None:
    await session.act(TypeText(x=60, y=8, text="words", enter=True))


@pytest.mark.parametrize("way", [clicks, presses, types])
async def test_a_page_that_navigates_without_loading_lives_on(way: Way) -> None:
    async with opened({"/": SOFT}) as session:
        await way(session)
        await session.observe()
        await way(session)

        assert (await session.observe()).page.url.startswith(ORIGIN + "/shown")
