"""The shared Chromium: found, started, kept alive, stopped; it hands out sessions.

One browser process serves many contexts. Every session has a context of its own and gives it back
broken or whole; a context that does not close in time takes the browser down with it, and the next
session starts a new one. Every connection the browser makes, to whatever name or address, ends at
one gateway on loopback, so a page can reach nothing that the sites do not serve.
"""

import asyncio
import contextlib
import os
import shutil
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Self

import psutil
from playwright.async_api import Browser, BrowserContext, Error, Playwright, async_playwright

from generators.browser.channel import CALL_SECONDS, script
from generators.browser.devtools import LISTEN, port_in
from generators.browser.protocol import SessionSpec
from generators.browser.session import ChromiumSession
from schemas.errors import FailureKind, NoBrowser, RolloutFailure, boundary

ENVIRONMENT_KEY = "STEPMILL_CHROMIUM"
"""Names the browser to use; it goes before any search."""

PROFILE_OPTION = "--user-data-dir="
"""Playwright makes a profile and names it so on the browser's command line."""

CLOSE_SECONDS = 5.0
"""How long a context may take to close before the browser counts as wedged."""

START_SECONDS = 60.0
"""How long a start may take on a loaded machine."""

FLAGS = (
    "--run-all-compositor-stages-before-draw",
    "--disable-partial-raster",
    "--disable-gpu",
    "--disable-smooth-scrolling",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
)
"""Flags beside Playwright's own: repeatable pictures, a clock that never stalls, no side traffic."""


HEADLESS_SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
FULL_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> Path:
    """Return the browser to start: the one named, a headless shell, Playwright's, or a full one.

    Raises:
        NoBrowser: there is none; the message names every way to get one.
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
    """Say whether `path` is the slim headless browser; the full one collapses at 16 sessions."""
    return "headless" in path.name.replace("_", "-")


class Chromium:
    """One browser, started at the first session and again whenever it is gone."""

    def __init__(self, *, gateway_port: int, executable: Path | None = None) -> None:
        self._gateway_port = gateway_port
        self._executable = executable
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._port = 0
        self._mark = ""
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Start the browser.

        Raises:
            NoBrowser: none is found, or it does not start.
        """
        await self._ensure()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop the browser, by force if it does not answer."""
        await self._stop()

    @property
    def version(self) -> str:
        """The browser's version; empty before it was started."""
        return self._browser.version if self._browser else ""

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[ChromiumSession]:
        """Open a session of its own; its context is closed at the end, whatever happened.

        Raises:
            RolloutFailure: the browser gives none.
        """
        browser, port = await self._ensure()
        context = await self._open(browser, spec)
        session = ChromiumSession(context, spec, port=port, version=browser.version)
        try:
            yield session
        finally:
            await asyncio.shield(self._close(browser, context, session))

    async def _open(self, browser: Browser, spec: SessionSpec) -> BrowserContext:
        try:
            with boundary(FailureKind.BROWSER, "opening a context"):
                async with asyncio.timeout(CALL_SECONDS):
                    context = await browser.new_context(
                        viewport={"width": spec.viewport_width, "height": spec.viewport_height},
                        device_scale_factor=spec.device_scale_factor,
                        locale="en-US",
                        timezone_id="UTC",
                        reduced_motion="reduce",
                        accept_downloads=False,
                        service_workers="block",
                    )
                    if spec.clock is not None:
                        await context.add_init_script(script("shim.js"))
                    return context
        except RolloutFailure:
            self._kill(browser)
            raise

    async def _close(
        self, browser: Browser, context: BrowserContext, session: ChromiumSession
    ) -> None:
        """Close a context and then, on this side too, what its pages were spoken to through."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await context.close()
        except TimeoutError:
            self._kill(browser)
        except Error:
            if not browser.is_connected():
                self._kill(browser)
        await session.close()

    def _kill(self, browser: Browser) -> None:
        """End a browser that does not answer; the next session starts another."""
        if self._browser is not browser:
            return
        self._browser = None
        self._end()

    async def _ensure(self) -> tuple[Browser, int]:
        async with self._starting:
            browser, port = self._browser, self._port
            if browser is not None and port and browser.is_connected():
                return browser, port
            await self._stop()
            path = self._executable or find_chromium()
            self._mark = f"--stepmill-browser={uuid.uuid4().hex}"
            try:
                async with asyncio.timeout(START_SECONDS):
                    self._playwright = await async_playwright().start()
                    browser = await self._playwright.chromium.launch(
                        executable_path=path,
                        headless=True,
                        # An interrupt is for the program, which lets sessions end first.
                        handle_sigint=False,
                        handle_sigterm=False,
                        handle_sighup=False,
                        args=[*FLAGS, *LISTEN, *self._containment(), self._mark],
                    )
                    self._browser = browser
                    self._port = port = await port_in(_profile(self._mark))
            except (Error, TimeoutError) as error:
                await self._stop()
                said = str(error).strip().splitlines()
                raise NoBrowser(
                    f"{path} does not start: {said[0] if said else 'no answer'}"
                ) from error
            return browser, port

    def _containment(self) -> tuple[str, ...]:
        """Send every name and address to the gateway, which serves the sites and nothing else."""
        return (f"--host-resolver-rules=MAP * 127.0.0.1:{self._gateway_port}",)

    async def _stop(self) -> None:
        """Close the browser, by force if it does not answer, and then its driver."""
        browser, self._browser = self._browser, None
        self._port = 0
        playwright, self._playwright = self._playwright, None
        if browser is not None:
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await browser.close()
        self._end()
        if playwright is not None:
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(START_SECONDS):
                    await playwright.stop()

    def _end(self) -> None:
        """End what is left of the browser's processes."""
        for process in _marked(self._mark):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def _marked(mark: str) -> list[psutil.Process]:
    """Return this process's descendants that carry `mark` on their command line."""
    if not mark:
        return []
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if mark in process.cmdline():
                found.append(process)
    return found


def _profile(mark: str) -> Path:
    """Return the profile of the browser that carries `mark`.

    Raises:
        Error: it has ended already.
    """
    for process in _marked(mark):
        with contextlib.suppress(psutil.NoSuchProcess):
            for argument in process.cmdline():
                if argument.startswith(PROFILE_OPTION):
                    return Path(argument.removeprefix(PROFILE_OPTION))
    raise Error("it ended while it was started")
