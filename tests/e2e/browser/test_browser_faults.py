"""What pages and browsers do wrong: every fault ends in time, is named, and spares the others."""

import asyncio
import contextlib
import io
import os
import socket
import stat
import time
from pathlib import Path

import psutil
import pytest
from aiohttp import web
from PIL import Image
from support.browsers.html_site import ORIGIN, browsing, opened, spec
from support.browsers.one_browser import processes
from support.runs.commands import until

from generators.browser import channel, clock, devtools, memory
from generators.browser import chromium as chromium_module
from generators.browser import session as session_module
from generators.browser.chromium import Chromium, find_chromium
from generators.sites.gateway import Gateway, Handler
from schemas.action import Click, Tab, TabOperation, Wait
from schemas.errors import FailureKind, NoBrowser, RolloutFailure

pytestmark = pytest.mark.browser


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let deadlines that are generous on a loaded machine pass quickly."""
    monkeypatch.setattr(channel, "CALL_SECONDS", 3.0)
    monkeypatch.setattr(clock, "EXPIRY_SECONDS", 2.0)
    monkeypatch.setattr(devtools, "ANSWER_SECONDS", 1.0)


async def hang(_: web.BaseRequest) -> web.StreamResponse:
    await asyncio.sleep(60)
    raise web.HTTPNoContent


@pytest.mark.usefixtures("impatient")
async def test_a_page_that_never_finishes_loading_is_a_failure() -> None:
    pages: dict[str, str | Handler] = {"/": "<img src=/never>", "/never": hang}

    async def visit() -> None:
        async with opened(pages):
            pass

    with pytest.raises(RolloutFailure, match="did not finish loading") as failure:
        await visit()

    assert failure.value.kind is FailureKind.PAGE


@pytest.mark.usefixtures("impatient")
async def test_a_request_that_never_ends_costs_a_deadline_and_no_more() -> None:
    pages: dict[str, str | Handler] = {
        "/": "<button onclick=\"fetch('/never')\">go</button>",
        "/never": hang,
    }
    async with opened(pages) as session:
        await session.act(Click(x=20, y=18))
        begun = time.monotonic()
        await session.act(Wait(ms=5_000))

        assert time.monotonic() - begun < 2.0, "the page's network is waited for only once"


@pytest.mark.usefixtures("impatient")
async def test_a_page_that_spins_is_given_up_and_its_neighbour_goes_on() -> None:
    pages = {"/": "<button onclick='for(;;);'>spin</button>", "/good": "fine"}
    async with browsing(pages) as (chromium, _), chromium.session(spec()) as good:
        await good.open(ORIGIN + "/good")

        async def spin() -> None:
            async with chromium.session(spec()) as bad:
                await bad.open(ORIGIN + "/")
                await bad.act(Click(x=20, y=18))
                await bad.observe()

        with pytest.raises(RolloutFailure) as failure:
            await spin()

        assert failure.value.kind is FailureKind.PAGE
        assert (await good.observe()).page.url == ORIGIN + "/good"


@pytest.mark.usefixtures("impatient")
async def test_a_page_that_crashes_is_a_failure_and_the_next_session_works() -> None:
    async with browsing({"/": "one"}) as (chromium, _):

        async def crash() -> None:
            async with chromium.session(spec()) as session:
                await session.open(ORIGIN + "/")
                with contextlib.suppress(RolloutFailure):
                    await session._tab.channel.send("Page.crash", seconds=1.0)
                await session.observe()

        with pytest.raises(RolloutFailure):
            await crash()
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + "/")


async def test_a_page_that_crashes_fails_what_is_under_way_at_once() -> None:
    pages: dict[str, str | Handler] = {"/": "one", "/never": hang}
    async with browsing(pages) as (chromium, _), chromium.session(spec()) as session:
        await session.open(ORIGIN + "/")
        await session.evaluate("void fetch('/never')")
        waiting = asyncio.create_task(session.act(Wait(ms=5_000)))
        await asyncio.sleep(1.0)
        assert not waiting.done(), "time stands still while the request is in flight"
        begun = time.monotonic()
        with contextlib.suppress(RolloutFailure):
            await session._tab.channel.send("Page.crash")
        with pytest.raises(RolloutFailure, match="crash") as failure:
            await waiting
        with pytest.raises(RolloutFailure, match="crash"):
            await session.observe()

        assert failure.value.kind is FailureKind.PAGE
        assert time.monotonic() - begun < 3.0


async def test_a_browser_that_is_killed_fails_what_is_under_way_at_once() -> None:
    pages: dict[str, str | Handler] = {"/": "one", "/never": hang}
    async with browsing(pages) as (chromium, _), chromium.session(spec()) as session:
        await session.open(ORIGIN + "/")
        await session.evaluate("void fetch('/never')")
        waiting = asyncio.create_task(session.act(Wait(ms=5_000)))
        await asyncio.sleep(1.0)
        assert not waiting.done(), "time stands still while the request is in flight"
        begun = time.monotonic()
        _kill_chromium()
        with pytest.raises(RolloutFailure, match="the connection to the page") as failure:
            await waiting

        assert failure.value.kind is FailureKind.BROWSER
        assert time.monotonic() - begun < 3.0


async def test_sessions_leave_no_connection_behind() -> None:
    page = "<button onclick='open(`/`)'>open</button>"
    async with browsing({"/": page}) as (chromium, _):

        async def visit() -> None:
            async with chromium.session(spec()) as session:
                await session.open(ORIGIN + "/")
                await session.act(Click(x=20, y=18))
                await session.act(Tab(operation=TabOperation.CLOSE, index=1))

        await visit()
        before = _to_chromium(chromium)
        for _ in range(3):
            await visit()

        assert before == _to_chromium(chromium) == 0


async def test_a_page_that_reads_its_own_error_is_a_page_failure() -> None:
    async with opened({"/": "one"}) as session:
        with pytest.raises(RolloutFailure, match="the page threw: Error: broken") as failure:
            await session.evaluate("(() => { throw new Error('broken') })()")

    assert failure.value.kind is FailureKind.PAGE


async def test_a_storm_of_windows_is_cut_off() -> None:
    page = "<button onclick='for(let i=0;i<30;i++)window.open(`/`)'>storm</button>"
    async with opened({"/": page}) as session:
        await session.act(Click(x=20, y=18))

        assert len(session._tabs) <= 8
        assert (await session.observe()).page.url == ORIGIN + "/"


async def test_a_context_that_does_not_close_in_time_costs_no_other_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with browsing({"/": "one"}) as (chromium, _), chromium.session(spec()) as other:
        await other.open(ORIGIN + "/")
        before, first = len(_chromium_processes()), chromium.process
        async with chromium.session(spec()) as slow:
            await slow.open(ORIGIN + "/")
            monkeypatch.setattr(chromium_module, "CLOSE_SECONDS", 0.0)
        monkeypatch.undo()
        async with chromium.session(spec()) as later:
            await later.open(ORIGIN + "/")
            await other.act(Wait(ms=100))

            assert (await other.observe()).page.url == ORIGIN + "/"
            assert chromium.process is not first
            assert before < len(_chromium_processes())

    assert not _chromium_processes()


async def test_a_retired_browser_ends_with_its_last_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with browsing({"/": "one"}) as (chromium, _):
        old = {process.pid for process in _chromium_processes()}
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + "/")
            monkeypatch.setattr(chromium_module, "CLOSE_SECONDS", 0.0)
        monkeypatch.undo()

        await asyncio.to_thread(
            until, lambda: not old & {process.pid for process in _chromium_processes()}
        )
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + "/")


async def test_a_browser_that_was_killed_is_started_again() -> None:
    async with browsing({"/": "one"}) as (chromium, _):

        async def lose() -> None:
            async with chromium.session(spec()) as session:
                await session.open(ORIGIN + "/")
                _kill_chromium()
                await session.observe()

        with pytest.raises(RolloutFailure):
            await lose()
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + "/")

            assert (await session.observe()).page.url == ORIGIN + "/"


@pytest.mark.usefixtures("impatient")
async def test_a_browser_that_is_wedged_is_ended_and_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("generators.browser.chromium.CLOSE_SECONDS", 1.0)
    async with browsing({"/": "one"}) as (chromium, _):

        async def wedge() -> None:
            async with chromium.session(spec()) as session:
                await session.open(ORIGIN + "/")
                for process in _chromium_processes():
                    process.suspend()
                await session.observe()

        with pytest.raises(RolloutFailure) as failure:
            await wedge()
        assert failure.value.kind is FailureKind.BROWSER, "it may work in another one"
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + "/")


async def test_a_session_moves_to_another_browser_when_the_first_opens_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chromium_module, "CALL_SECONDS", 2.0)
    monkeypatch.setattr(chromium_module, "CLOSE_SECONDS", 1.0)
    async with browsing({"/": "one"}) as (chromium, _):
        for process in _chromium_processes():
            process.suspend()
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + "/")

            assert (await session.observe()).page.url == ORIGIN + "/"


BOMBS = {
    "buffers": "keep = []; for (let i = 0; i < 60; i += 1) keep.push(new Uint8Array(2 ** 24).fill(7));",
    "nodes": "for (let i = 0; i < 2e6; i += 1) document.body.append(document.createElement('i'));",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
async def test_a_page_with_too_much_memory_is_ended_and_its_neighbour_goes_on(
    bomb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MAX_MB", 300)
    pages = {"/": f"<button onclick='{bomb}'>go</button>".replace("'i'", "`i`"), "/good": "fine"}
    async with browsing(pages) as (chromium, _), chromium.session(spec()) as good:
        await good.open(ORIGIN + "/good")

        async def explode() -> None:
            async with chromium.session(spec()) as bad:
                await bad.open(ORIGIN + "/")
                await bad.act(Click(x=20, y=18))
                await bad.act(Wait(ms=60_000))

        with pytest.raises(RolloutFailure, match=r"^too much memory$") as failure:
            await explode()

        assert (failure.value.kind, failure.value.again) == (FailureKind.BROWSER, False)
        assert (await good.observe()).page.url == ORIGIN + "/good"


@pytest.mark.usefixtures("impatient")
async def test_a_page_that_loads_itself_again_and_again_is_given_up_after_one_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_module, "USE_SECONDS", 4.0)
    page = "<button onclick='go()'>go</button><script>const go=()=>location.reload();if(performance.getEntriesByType('navigation')[0].type==='reload')go()</script>"
    async with opened({"/": page}) as session:
        begun = time.monotonic()
        with pytest.raises(RolloutFailure, match="still busy after 4 s") as failure:
            await session.act(Click(x=20, y=18))

        assert failure.value.kind is FailureKind.PAGE
        assert time.monotonic() - begun < 8.0


async def test_a_page_that_wants_the_whole_screen_keeps_its_size() -> None:
    page = "<button onclick='document.body.requestFullscreen().catch(e => document.title = e.name)'>go</button>"
    async with opened({"/": page}) as session:
        await session.act(Click(x=20, y=18))
        seen = await session.observe()

        assert seen.page.title == "TypeError"
        assert Image.open(io.BytesIO(seen.screenshot.bytes)).size == (500, 400)


async def test_nothing_is_left_of_a_browser_that_was_closed() -> None:
    async with browsing({"/": "one"}):
        assert _chromium_processes()

    assert not _chromium_processes()


def test_a_browser_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPMILL_CHROMIUM", "/nowhere/chromium")

    with pytest.raises(NoBrowser, match="STEPMILL_CHROMIUM=/nowhere/chromium"):
        find_chromium()


async def test_a_browser_that_does_not_start_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPMILL_CHROMIUM", "/bin/false")

    async def start() -> None:
        async with Chromium(network=Gateway()):
            pass

    with pytest.raises(NoBrowser, match="/bin/false does not start"):
        await start()


def test_where_no_browser_is_the_message_names_every_way_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.delenv("STEPMILL_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))

    with pytest.raises(NoBrowser) as refusal:
        find_chromium()

    for way in ("STEPMILL_CHROMIUM", "apt-get", "playwright install", "distribution"):
        assert way in str(refusal.value)


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


def _kill_chromium() -> None:
    for process in _chromium_processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
