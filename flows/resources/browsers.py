"""Where sessions come from: the browsers of a run, and those of a command that stores nothing.

A pool opens each new session in the browser with the fewest. It may be empty until its owner adds
browsers, so that what needs sessions can be made before it is known whether a browser is needed at
all; it neither starts nor stops them. `open_browsers` is for commands without a run: one browser
observes and acts, the other stays cold until something is replayed in it, so that a replay shares
nothing with what it replays but the pages.
"""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass

from generators.browser.chromium import Chromium
from generators.browser.protocol import Session, Sessions, SessionSpec
from generators.browser.slots import Slots, page_slots
from generators.sites.gateway import Gateway
from generators.sites.protocol import Site
from generators.sites.registry import RunSites
from schemas.application import Application


class BrowserPool:
    """Sessions of several browsers."""

    def __init__(self) -> None:
        self._browsers: list[Sessions] = []
        self._busy: Counter[int] = Counter()

    def add(self, browser: Sessions) -> None:
        """Add a browser that new sessions may be opened in."""
        self._browsers.append(browser)

    @property
    def version(self) -> str:
        """The version of the first browser that has started; empty before."""
        return next((browser.version for browser in self._browsers if browser.version), "")

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[Session]:
        """Open a session in the browser that has the fewest.

        Raises:
            RolloutFailure: the browser gives none.
        """
        idlest = min(range(len(self._browsers)), key=lambda number: self._busy[number])
        self._busy[idlest] += 1
        try:
            async with self._browsers[idlest].session(spec) as session:
                yield session
        finally:
            self._busy[idlest] -= 1


class SlottedSessions:
    """Sessions that each hold a slot while they are open."""

    def __init__(self, sessions: Sessions, slots: Slots) -> None:
        self._sessions = sessions
        self._slots = slots

    @property
    def version(self) -> str:
        """The browser's version; empty before it was started."""
        return self._sessions.version

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[Session]:
        """Wait for a slot and open a session in it.

        Raises:
            RolloutFailure: the browser gives none.
        """
        async with self._slots.hold(), self._sessions.session(spec) as session:
            yield session


@dataclass(frozen=True, slots=True)
class Browsers:
    """The sites and browsers of a command that stores nothing."""

    sites: Mapping[str, Site]
    """The sites by the names that tasks give them."""
    sessions: Sessions
    """Sessions of a browser that has started."""
    replays: Sessions
    """Sessions of another browser, which starts with its first session."""


async def enter_sites(stack: contextlib.AsyncExitStack, sites: Iterable[Site]) -> None:
    """Start the sites that have something to start; `stack` stops them.

    Raises:
        BadConfig: an application does not start.
    """
    for site in sites:
        if isinstance(site, contextlib.AbstractAsyncContextManager):
            await stack.enter_async_context(site)


@contextlib.asynccontextmanager
async def open_browsers(
    applications: Mapping[str, Application] | None = None,
) -> AsyncIterator[Browsers]:
    """Start the gateway, the applications and a browser, and stop everything at the end.

    Raises:
        BadConfig: an application does not start.
        NoBrowser: no usable browser is found, or it does not start.
    """
    async with contextlib.AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(Gateway())
        slots = page_slots()
        replays = Chromium(gateway_port=gateway.port, slots=slots)
        stack.push_async_exit(replays)
        chromium = await stack.enter_async_context(Chromium(gateway_port=gateway.port, slots=slots))
        sites = RunSites(gateway, applications or {})
        await enter_sites(stack, sites.values())
        yield Browsers(sites=sites, sessions=chromium, replays=replays)
