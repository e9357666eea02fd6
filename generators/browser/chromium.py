"""The shared Chromium: it is found, started, kept alive and stopped here, and it opens sessions.

One browser process serves many contexts, and every session has a context of its own. A browser in which
a context does not open or close in time is retired: the next session starts a new browser, and the old
one ends with its last session. Every connection of the browser, to any name or address, ends at one
gateway on loopback, so a page can reach nothing that the sites do not serve.
"""

import asyncio
import contextlib
import os
import shutil
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from playwright.async_api import BrowserContext, Error, Geolocation

from generators.browser.page_calls import CALL_SECONDS
from generators.browser.page_scripts import read_script, to_call
from generators.browser.process.browser_process import BrowserProcess
from generators.browser.process.enclosure import Confinement
from generators.browser.protocol import Cookie, Network, SessionSpec, SignIn
from generators.browser.session import ChromiumSession
from generators.browser.session_files import SessionFiles
from generators.browser.slots import Slots, page_slots
from schemas.errors import FailureKind, NoBrowser, RolloutFailure, boundary
from schemas.page_facts import PageFacts

ENVIRONMENT_KEY = "STEPMILL_CHROMIUM"
"""The environment variable that names the browser to use; without it `find_chromium` searches for one."""

CLOSE_SECONDS = 10.0
"""Time limit for closing a context before its browser is retired, seconds."""

LEAVE_SECONDS = 1.0
"""Time that the user of a session waits for it to close, seconds; after that it is closed in the background."""

OPEN_TRIES = 3
"""The most browsers that are tried for a session, one after the other."""

DISABLED_FEATURES = (
    "RenderDocument",  # a frame of its own for each document, which takes a fifth of a navigation's CPU
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("TcpPortRandomizationWin", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"),
    *("PreconnectToSearch", "msForceBrowserSignIn"),
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
"""Features that are switched off: one of ours and Playwright's, because Chromium reads only the last list."""

BLINK_SETTINGS = (
    "fullscreenSupported=false",  # which would change the size of pictures
    *("primaryHoverType=2", "availableHoverTypes=2", "primaryPointerType=4"),
    "availablePointerTypes=4",
)
"""Settings of pages: one of ours and Playwright's, because Chromium reads only the last list."""

FLAGS = (
    f"--disable-features={','.join(DISABLED_FEATURES)}",
    "--disable-partial-raster",
    "--disable-gpu",
    "--disable-smooth-scrolling",
    # A page that leaves its opener's group (Cross-Origin-Opener-Policy, which Django sends with each page) would
    # move to a new process with a clock of its own; contexts share no process in any case.
    "--renderer-process-limit=1",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
    f"--blink-settings={','.join(BLINK_SETTINGS)}",
)
"""Flags beside Playwright's own: repeatable pictures, no side traffic."""


HEADLESS_SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
FULL_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> Path:
    """Return the browser to start: the one named, a headless shell, Playwright's, or a full browser.

    Raises:
        NoBrowser: none is found; the message names every way to get one.
    """
    named = os.environ.get(ENVIRONMENT_KEY)
    if named:
        path = Path(named)
        if path.is_file() and os.access(path, os.X_OK):
            return path
        raise NoBrowser(f"{ENVIRONMENT_KEY}={named} is not an executable file")
    for name in HEADLESS_SHELLS:
        if found := shutil.which(name):
            return Path(found)
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache/ms-playwright")
    shells = sorted(cache.glob("chromium_headless_shell-*/*/*headless*shell*"))
    if shells:
        return shells[-1]
    for name in FULL_BROWSERS:
        if found := shutil.which(name):
            return Path(found)
    raise NoBrowser(
        "no Chromium found: set STEPMILL_CHROMIUM to one, or install chromium-headless-shell "
        "with apt-get, or run 'playwright install --only-shell chromium', or install your "
        "distribution's chromium package"
    )


def is_headless_shell(path: Path) -> bool:
    """Return whether `path` is the slim headless browser; the full one breaks down at 16 sessions."""
    return "headless" in path.name.replace("_", "-")


@dataclass(slots=True)
class _Opened:
    """A session that is being opened, or is open, and its browser."""

    process: BrowserProcess
    context: BrowserContext | None = None
    resources: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)


class Chromium:
    """One browser, started by the first session and again by the next one after it died or was retired."""

    def __init__(
        self,
        *,
        network: Network,
        executable: Path | None = None,
        slots: Slots | None = None,
        wanted: Confinement | None = None,
    ) -> None:
        """`slots` limit the work on pages; several browsers may share them. None: this one has its own.

        `wanted` is the requested enclosure. None: as strict as the machine allows.
        """
        self._wanted = wanted or Confinement()
        self._network = network
        self._slots = page_slots() if slots is None else slots
        self._executable = executable
        self._process: BrowserProcess | None = None
        self._retired: list[BrowserProcess] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Start the browser.

        Raises:
            NoBrowser: no browser is found, or it does not start.
        """
        await self._ensure()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop the browser, by force if it does not answer."""
        if self._closing:
            await asyncio.wait(self._closing)
        processes = [*self._retired, *([self._process] if self._process else [])]
        self._process, self._retired = None, []
        for process in processes:
            await process.end()

    @property
    def version(self) -> str:
        """The browser's version; empty before it was started."""
        return self._process.browser.version if self._process else ""

    @property
    def process(self) -> BrowserProcess | None:
        """The process that gets new sessions; None before it was started, and once it was retired."""
        return self._process

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[ChromiumSession]:
        """Open a session in a context of its own, which is closed at the end, whatever happened.

        A browser that opens no context or no page is retired, and the session moves to another one.

        Raises:
            RolloutFailure: several browsers one after the other open none.
        """
        opened, session = await self._open(spec)
        try:
            yield session
        finally:
            await self._leave(opened)

    async def _open(self, spec: SessionSpec) -> tuple[_Opened, ChromiumSession]:
        for again in (*[True] * (OPEN_TRIES - 1), False):
            opened = _Opened(await self._ensure())
            opened.process.sessions += 1
            try:
                async with self._slots.hold():
                    return opened, await self._fill_unless_gone(opened, spec)
            except RolloutFailure:
                self._retire(opened.process)
                await self._leave(opened)
                if not again:
                    raise
            except BaseException:
                await self._leave(opened)
                raise
        raise AssertionError  # pragma: no cover - the loop returns or raises

    async def _fill_unless_gone(self, opened: _Opened, spec: SessionSpec) -> ChromiumSession:
        """Make a context and its page, but wait for no answer of a browser that has ended.

        Raises:
            RolloutFailure: the browser makes none.
        """
        filling = asyncio.create_task(self._fill(opened, spec))
        gone = asyncio.create_task(opened.process.gone.wait())
        try:
            await asyncio.wait({filling, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not filling.done():
                raise RolloutFailure(
                    FailureKind.BROWSER, "the browser ended while it opened a page"
                )
            return filling.result()
        finally:
            for task in (filling, gone):
                task.cancel()

    async def _fill(self, opened: _Opened, spec: SessionSpec) -> ChromiumSession:
        """Make a context and its page.

        Raises:
            RolloutFailure: the browser does not.
        """
        process, facts = opened.process, spec.page
        entrance = await opened.resources.enter_async_context(
            self._network.enter(process.make_socket())
        )
        with boundary(FailureKind.BROWSER, "opening a context"):
            async with asyncio.timeout(CALL_SECONDS):
                opened.context = context = await process.browser.new_context(
                    proxy={"server": f"socks5://{process.proxy}:{entrance.port}"},
                    viewport={"width": spec.viewport_width, "height": spec.viewport_height},
                    device_scale_factor=spec.device_scale_factor,
                    locale=facts.locale or "en-US",
                    timezone_id=facts.time_zone or "UTC",
                    color_scheme=facts.colour_scheme or "light",
                    reduced_motion="no-preference" if facts.reduced_motion is False else "reduce",
                    has_touch=facts.touch is True,
                    geolocation=_place(facts),
                    permissions=[] if facts.latitude is None else ["geolocation"],
                    accept_downloads=False,
                    service_workers="block",
                )
                if spec.clock is not None:
                    await context.add_init_script(read_script("generators.browser", "shim.js"))
                if spec.chance is not None:
                    draw = read_script("generators.browser", "chance.js")
                    await context.add_init_script(to_call(draw, spec.chance))
                if spec.draws_lists:
                    await context.add_init_script(read_script("generators.browser", "asks.js"))
                if spec.sign_in is not None:
                    await _sign_in(context, spec.sign_in)
        session = ChromiumSession(
            context,
            spec,
            entrance=entrance,
            endpoint=process.endpoint,
            version=process.browser.version,
            slots=self._slots,
            files=SessionFiles(spec, process.new_folder()),
        )
        opened.resources.push_async_callback(session.close)
        await session.start()
        return session

    async def _leave(self, opened: _Opened) -> None:
        """Close a session; after a moment the closing continues in the background."""
        closing = asyncio.create_task(self._close(opened))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        await asyncio.wait({closing}, timeout=LEAVE_SECONDS)

    async def _close(self, opened: _Opened) -> None:
        """Close a context, and then our connections to its pages."""
        process = opened.process
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                if opened.context is not None:
                    await opened.context.close()
        except TimeoutError:
            self._retire(process)
        except Error:
            if not process.browser.is_connected():
                self._retire(process)
        finally:
            process.sessions -= 1
            await opened.resources.aclose()
            await self._clear()

    def _retire(self, process: BrowserProcess) -> None:
        """Give this browser no new session; the next session starts another browser."""
        process.retired = True
        if self._process is process:
            self._process = None
            self._retired.append(process)

    async def _clear(self) -> None:
        """End the retired browsers without an open session."""
        finished = [process for process in self._retired if process.finished]
        self._retired = [process for process in self._retired if process not in finished]
        for process in finished:
            await process.end()

    async def _ensure(self) -> BrowserProcess:
        async with self._starting:
            if self._process is not None and not self._process.usable:
                self._retire(self._process)
                await self._clear()
            if self._process is None:
                path = self._executable or find_chromium()
                # What a browser would send past the proxy of a session ends at the gateway as well, or in its
                # namespace at nothing. The proxies have a name that no page knows, which leads to loopback.
                proxy = f"{uuid.uuid4().hex}.stepmill"
                rules = f"MAP {proxy} 127.0.0.1, MAP * 127.0.0.1:{self._network.port}"
                trusted = f"--ignore-certificate-errors-spki-list={self._network.certificate}"
                flags = [*FLAGS, f"--host-resolver-rules={rules}", trusted]
                self._process = await BrowserProcess.start(
                    path, flags, proxy=proxy, wanted=self._wanted
                )
            return self._process


def _place(facts: PageFacts) -> Geolocation | None:
    """Return where the user of a page is, for Playwright; None: it is not told."""
    if facts.latitude is None or facts.longitude is None:
        return None
    return {"latitude": facts.latitude, "longitude": facts.longitude}


async def _sign_in(context: BrowserContext, sign_in: SignIn) -> None:
    """Give a context its cookies, and the pages of each origin their `localStorage`."""
    await context.add_cookies(
        [
            {"name": one.name, "value": one.value, "httpOnly": one.http_only, **_home_of(one)}  # type: ignore[typeddict-item]
            for one in sign_in.cookies
        ]
    )
    if sign_in.storage:
        kept = {origin: dict(items) for origin, items in sign_in.storage.items()}
        fill = read_script("generators.browser", "fill_storage.js")
        await context.add_init_script(to_call(fill, kept))


def _home_of(one: Cookie) -> dict[str, str]:
    """Return where a cookie belongs, as Playwright takes it: a domain with its hosts, or an address."""
    return {"domain": f".{one.domain}", "path": "/"} if one.domain else {"url": one.url}
