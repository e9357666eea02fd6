"""What pages and browsers do wrong: every fault ends in time, is named, and spares the others."""

import asyncio
import contextlib
import io
import os
import socket
import stat
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from aiohttp import web
from effort import THOROUGH
from PIL import Image
from support.browsers.html_site import HOST, ORIGIN, browsing, handler, opened, spec
from support.browsers.one_browser import processes
from support.runs.commands import until

from generators.browser import chromium as chromium_module
from generators.browser import clock
from generators.browser import page_calls as channel
from generators.browser import session as session_module
from generators.browser.chromium import Chromium
from generators.browser.devtools import connection as devtools
from generators.browser.process import browser_process as process_module
from generators.browser.process import memory
from generators.browser.session import ChromiumSession
from generators.sites.gateway import Gateway, Handler
from schemas.episodes.action import Click, Tab, TabOperation, Wait
from schemas.episodes.observation import Effect
from schemas.errors import FailureKind, RolloutFailure

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]


async def hang(_: web.BaseRequest) -> web.StreamResponse:
    await asyncio.sleep(60)
    raise web.HTTPNoContent


@dataclass
class Hanging:
    """An answer that never comes."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once somebody waits for it."""

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.set()
        return await hang(request)


async def test_a_page_that_never_finishes_loading_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages: dict[str, str | Handler] = {"/": "<img src=/never>", "/never": hang}
    monkeypatch.setattr(clock, "EXPIRY_SECONDS", 2.0)

    async def visit() -> None:
        async with opened(pages):
            pass

    with pytest.raises(RolloutFailure, match="did not finish loading") as failure:
        await visit()

    assert failure.value.kind is FailureKind.PAGE


async def test_a_request_that_never_ends_costs_a_deadline_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages: dict[str, str | Handler] = {
        "/": "<button onclick=\"fetch('/never')\">go</button>",
        "/never": hang,
    }
    async with opened(pages) as session:
        monkeypatch.setattr(clock, "EXPIRY_SECONDS", 1.0)
        await session.act(Click(x=20, y=18))
        monkeypatch.setattr(clock, "EXPIRY_SECONDS", 600.0)  # nothing waits for it any more
        await session.act(Wait(ms=5_000))


async def test_a_page_that_spins_is_given_up_and_its_neighbour_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = {"/": "<button onclick='for(;;);'>spin</button>", "/good": "fine"}
    async with browsing(pages) as (chromium, _), chromium.session(spec()) as good:
        await good.open(ORIGIN + "/good")

        async def spin() -> None:
            async with chromium.session(spec()) as bad:
                await bad.open(ORIGIN + "/")
                monkeypatch.setattr(channel, "CALL_SECONDS", 1.0)
                await bad.act(Click(x=20, y=18))
                await bad.observe()

        with pytest.raises(RolloutFailure) as failure:
            await spin()
        monkeypatch.undo()

        assert failure.value.kind is FailureKind.PAGE
        assert (await good.observe()).page.url == ORIGIN + "/good"


async def _wait_for_ever(session: ChromiumSession, never: Hanging) -> asyncio.Task[Effect]:
    """Have a session wait on a page whose time stands still, as a request is in flight."""
    await session.open(ORIGIN + "/")
    await session.evaluate("void fetch('/never')")
    await never.asked.wait()
    waiting = asyncio.create_task(session.act(Wait(ms=5_000)))
    await asyncio.sleep(0.3)
    assert not waiting.done(), "time stands still while the request is in flight"
    return waiting


async def test_a_page_that_crashes_fails_what_is_under_way_at_once_and_the_next_session_works() -> (
    None
):
    never = Hanging()
    async with browsing({"/": "one", "/never": never}) as (chromium, _):
        async with chromium.session(spec()) as session:
            waiting = await _wait_for_ever(session, never)
            begun = time.monotonic()
            with contextlib.suppress(RolloutFailure):
                await session._tab.channel.send("Page.crash", seconds=1.0)
            with pytest.raises(RolloutFailure, match="crash") as failure:
                await waiting
            with pytest.raises(RolloutFailure, match="crash"):
                await session.observe()

            assert failure.value.kind is FailureKind.PAGE
            assert time.monotonic() - begun < 3.0
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + "/")


async def test_sessions_leave_no_connection_behind() -> None:
    page = "<button onclick='open(`/`)'>open</button>"
    async with browsing({"/": page}) as (chromium, _):
        for _ in range(3):
            async with chromium.session(spec()) as session:
                await session.open(ORIGIN + "/")
                await session.act(Click(x=20, y=18))
                await session.act(Tab(operation=TabOperation.CLOSE, index=1))
                assert _to_chromium(chromium) > 0

        await asyncio.to_thread(until, lambda: _to_chromium(chromium) == 0)


async def test_a_page_that_reads_its_own_error_is_a_page_failure() -> None:
    async with opened({"/": "one"}) as session:
        with pytest.raises(RolloutFailure, match="the page threw: Error: broken") as failure:
            await session.evaluate("(() => { throw new Error('broken') })()")

    assert failure.value.kind is FailureKind.PAGE


STORM = 30 if THOROUGH else 12
"""Windows that a page opens at once."""


async def test_a_storm_of_windows_is_cut_off() -> None:
    page = f"<button onclick='for(let i=0;i<{STORM};i++)window.open(`/`)'>storm</button>"
    async with opened({"/": page}) as session:
        await session.act(Click(x=20, y=18))

        assert len(session._tabs) <= 8
        assert (await session.observe()).page.url == ORIGIN + "/"


async def test_a_page_that_loads_itself_again_and_again_is_given_up_after_one_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = "<button onclick='go()'>go</button><script>const go=()=>location.reload();if(performance.getEntriesByType('navigation')[0].type==='reload')go()</script>"
    async with opened({"/": page}) as session:
        monkeypatch.setattr(session_module, "USE_SECONDS", 2.0)
        with pytest.raises(RolloutFailure, match="still busy after 2 s") as failure:
            await session.act(Click(x=20, y=18))

        assert failure.value.kind is FailureKind.PAGE


async def test_a_page_that_wants_the_whole_screen_keeps_its_size() -> None:
    page = "<button onclick='document.body.requestFullscreen().catch(e => document.title = e.name)'>go</button>"
    async with opened({"/": page}) as session:
        await session.act(Click(x=20, y=18))
        seen = await session.observe()

        assert seen.page.title == "TypeError"
        assert Image.open(io.BytesIO(seen.screenshot.bytes)).size == (500, 400)


BOMBS = {
    "buffers": "keep = []; for (let i = 0; i < 60; i += 1) keep.push(new Uint8Array(2 ** 24).fill(7));",
    "nodes": "for (let i = 0; i < 2e6; i += 1) document.body.append(document.createElement('i'));",
}


@pytest.mark.parametrize("bomb", ["buffers", pytest.param("nodes", marks=pytest.mark.full)])
async def test_a_page_with_too_much_memory_is_ended_and_its_neighbour_goes_on(
    bomb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MAX_MB", 300)
    page = f"<button onclick='{BOMBS[bomb]}'>go</button>".replace("'i'", "`i`")
    async with (
        browsing({"/": page, "/good": "fine"}) as (chromium, _),
        chromium.session(spec()) as good,
    ):
        await good.open(ORIGIN + "/good")

        async def explode() -> None:
            async with chromium.session(spec()) as bad:
                await bad.open(ORIGIN + "/")
                await bad.act(Click(x=20, y=18))
                while True:  # whoever watches the memory may be slow to look
                    await bad.act(Wait(ms=1_000))

        with pytest.raises(RolloutFailure, match=r"^too much memory$") as failure:
            await explode()

        assert (failure.value.kind, failure.value.again) == (FailureKind.BROWSER, False)
        assert (await good.observe()).page.url == ORIGIN + "/good"


@pytest.fixture(scope="module")
def never() -> Hanging:
    """The answer that never comes in a browser of this module's own."""
    return Hanging()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def mortal(never: Hanging) -> AsyncIterator[Chromium]:
    """A browser of this module's own, which each test may end: the next one starts it again."""
    async with Gateway() as gateway, Chromium(network=gateway) as chromium:
        gateway.mount(HOST, handler({"/": "one", "/never": never}))
        yield chromium


async def _works(chromium: Chromium) -> None:
    async with chromium.session(spec()) as session:
        await session.open(ORIGIN + "/")
        assert (await session.observe()).page.url == ORIGIN + "/"


async def test_a_browser_that_is_killed_fails_what_is_under_way_at_once_and_is_started_again(
    mortal: Chromium, never: Hanging
) -> None:
    async with mortal.session(spec()) as session:
        waiting = await _wait_for_ever(session, never)
        begun = time.monotonic()
        for process in _chromium_processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        with pytest.raises(RolloutFailure, match="the connection to the page") as failure:
            await waiting
        with pytest.raises(RolloutFailure):
            await session.observe()

        assert failure.value.kind is FailureKind.BROWSER
        assert time.monotonic() - begun < 3.0
    await _works(mortal)


async def test_a_context_that_does_not_close_in_time_costs_no_other_session_and_ends_its_browser(
    mortal: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {process.pid for process in _chromium_processes()}
    async with mortal.session(spec()) as other:
        await other.open(ORIGIN + "/")
        first = mortal.process
        async with mortal.session(spec()) as slow:
            await slow.open(ORIGIN + "/")
            monkeypatch.setattr(chromium_module, "CLOSE_SECONDS", 0.0)
        monkeypatch.undo()
        async with mortal.session(spec()) as later:
            await later.open(ORIGIN + "/")
            await other.act(Wait(ms=100))

            assert (await other.observe()).page.url == ORIGIN + "/"
            assert mortal.process is not first
            assert old & {process.pid for process in _chromium_processes()}

    await asyncio.to_thread(
        until, lambda: not old & {process.pid for process in _chromium_processes()}
    )
    await _works(mortal)


async def test_a_browser_that_is_wedged_is_ended_and_started_again(
    mortal: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with mortal.session(spec()) as session:
        await session.open(ORIGIN + "/")
        _wedge(monkeypatch)
        with pytest.raises(RolloutFailure) as failure:
            await session.observe()
    monkeypatch.undo()

    assert failure.value.kind is FailureKind.BROWSER, "it may work in another one"
    await _works(mortal)


async def test_a_session_moves_to_another_browser_when_the_first_opens_nothing(
    mortal: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = mortal.process
    _wedge(monkeypatch)
    async with mortal.session(spec()) as session:
        monkeypatch.undo()
        await session.open(ORIGIN + "/")

        assert mortal.process is not first


async def test_nothing_is_left_of_a_browser_that_was_closed(mortal: Chromium) -> None:
    await _works(mortal)
    assert _chromium_processes()
    await mortal.__aexit__()

    assert not _chromium_processes()


def _chromium_processes() -> list[psutil.Process]:
    found = []
    for process in processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "headless" in process.name() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _to_chromium(chromium: Chromium) -> int:
    """How many sockets of ours end at the browser's DevTools port, in whichever namespace."""
    assert chromium.process is not None
    port, found = chromium.process.endpoint.port, 0
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if not stat.S_ISSOCK(os.fstat(int(path.name)).st_mode):
                continue  # a copy of a pipe that is not a socket would stay open
            ours = socket.socket(fileno=os.dup(int(path.name)))
            with ours:
                found += ours.family is socket.AF_INET and ours.getpeername()[1] == port
    return found


def _wedge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a browser answer nobody, and let the deadlines for its answers pass quickly."""
    for process in _chromium_processes():
        process.suspend()
    monkeypatch.setattr(channel, "CALL_SECONDS", 1.0)
    monkeypatch.setattr(devtools, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(chromium_module, "CALL_SECONDS", 1.0)
    monkeypatch.setattr(chromium_module, "CLOSE_SECONDS", 0.5)
    monkeypatch.setattr(process_module, "END_SECONDS", 0.5)
