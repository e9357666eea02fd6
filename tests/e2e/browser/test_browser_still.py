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
from support.browsers.html_site import HOST, ORIGIN, browsing, handler, opened, spec
from support.browsers.one_browser import processes

from generators.browser.chromium import Chromium
from generators.browser.session import ChromiumSession
from generators.sites.gateway import Gateway
from schemas.episodes.action import Click, Key, Tab, TabOperation, TypeText

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

SESSIONS = 8
SECONDS = 1.5
"""For which their processor time is looked at, again and again until they are quiet."""

LOOKS = 10
"""How often at most: what loading left to do, and a busy machine, take a while."""

CPU_SHARE = 0.08
"""Of a core, for all of them together; with a frame every 16 ms they took 0.15 to 0.3."""

RED = "<script>onclick = () => { document.body.style.background = 'red' }</script>"
RELATIONS = ("opener", "noopener")
TASK = "<body><div id=area style='width:160px;height:210px'>a page with <b>words</b></div>"
SOFT = (
    "<body style='margin:0'><a id=go href='#'>go</a><input id=field><div id=view></div><script>"
    "const show = () => { history.pushState({}, '', '/shown' + Math.random());"
    "view.innerHTML = '<h1 style=font-size:60px>' + 'much text '.repeat(20) + '</h1>' };"
    "go.onclick = (event) => { event.preventDefault(); show() };"
    "field.onkeydown = (event) => { if (event.key === 'Enter') show() };</script>"
)


def cpu_seconds() -> float:
    total = 0.0
    for process in processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


async def test_open_pages_that_nobody_acts_on_take_no_processor() -> None:
    shares = list[float]()
    async with (
        Gateway() as gateway,
        Chromium(network=gateway) as chromium,
        contextlib.AsyncExitStack() as stack,
    ):
        gateway.mount(HOST, handler({"/": TASK}))
        for _ in range(SESSIONS):
            session = await stack.enter_async_context(chromium.session(spec()))
            await session.open(ORIGIN + "/")
            await session.observe()
        while len(shares) < LOOKS and min(shares, default=1.0) >= CPU_SHARE:
            before, begun = cpu_seconds(), time.perf_counter()
            await asyncio.sleep(SECONDS)
            shares.append((cpu_seconds() - before) / (time.perf_counter() - begun))

    assert min(shares) < CPU_SHARE, shares


WHILE = 3.0
"""Seconds; more than an action's time: a clock that is not ahead is behind by then."""


async def test_pages_and_windows_they_open_are_drawn_at_once_after_they_stood_still_for_a_while() -> (
    None
):
    pages = {
        "/": f"page{RED}",
        **{f"/{rel}": f"<a href=/ target=_blank rel={rel}>two</a>" for rel in RELATIONS},
    }

    async def is_drawn(chromium: Chromium, path: str) -> bool:
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + path)
            if path != "/":
                await session.act(Click(x=15, y=15))
                await session.act(Tab(operation=TabOperation.SWITCH, index=1))
            first = await session.observe()
            await asyncio.sleep(WHILE)
            await session.act(Click(x=100, y=100))
            second = await session.observe()
        assert second.page.url == ORIGIN + "/"
        return second.screenshot.bytes != first.screenshot.bytes

    async with browsing(pages) as (chromium, _), asyncio.TaskGroup() as group:
        drawn = {path: group.create_task(is_drawn(chromium, path)) for path in pages}

    assert {path: one.result() for path, one in drawn.items()} == dict.fromkeys(pages, True)


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
