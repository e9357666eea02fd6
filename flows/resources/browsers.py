"""Provides sessions: in the browsers of a run, and in those of a command that stores nothing.

A pool opens each new session in the browser with the fewest. It may be empty until its owner adds
browsers, so its users can be created before it is known whether a browser is needed at all; it neither
starts nor stops them. `open_browsers` is for commands without a run: one browser observes and acts, the
other stays cold until something is replayed in it, so that a replay shares only the pages with its
rollout.
"""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass

from generators.browser.chromium import Chromium
from generators.browser.protocol import Session, Sessions, SessionSpec
from generators.browser.slots import Slots, page_slots
from generators.sites.gateway import Gateway
from generators.sites.protocol import Site, Visit
from generators.sites.registry import RunSites
from schemas.configuration.application import Application
from schemas.tasks.task import Task


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


class SlottedSites(Mapping[str, Site]):
    """Sites whose visits each hold a slot while they are open, from before the site leases them.

    A rollout holds its slot before it opens a visit too. If a replay waited for a slot while it held a visit
    of an application that has but one, and rollouts held all slots while they waited for that visit, none
    would ever go on.
    """

    def __init__(self, sites: Mapping[str, Site], slots: Slots) -> None:
        self._sites = sites
        self._slots = slots

    def __getitem__(self, name: str) -> Site:
        """Return a site.

        Raises:
            KeyError: no site has this name.
            BadConfig: its plug-in cannot be used.
        """
        return _SlottedSite(self._sites[name], self._slots)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the sites' names."""
        return iter(self._sites)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._sites)


class _SlottedSite:
    """A site whose visits each hold a slot while they are open; all else is the site's."""

    def __init__(self, site: Site, slots: Slots) -> None:
        self._site = site
        self._slots = slots
        self.name = site.name
        self.version = site.version
        self.repeatable = site.repeatable
        self.judge = site.judge
        self.has_template = site.has_template
        self.threshold = site.threshold
        self.area = site.area
        self.begin = site.begin
        self.state = site.state
        self.outcome = site.outcome

    @contextlib.asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        """Wait for a slot and open a visit in it.

        Raises:
            RolloutFailure: the site cannot serve the task.
        """
        async with self._slots.hold(), self._site.open(task) as visit:
            yield visit


@dataclass(frozen=True, slots=True)
class Browsers:
    """The sites and browsers of a command that stores nothing."""

    sites: Mapping[str, Site]
    """The sites by the names that tasks give them."""
    sessions: Sessions
    """Sessions of a browser that has started."""
    replays: Sessions
    """Sessions of another browser, which starts with its first session."""


async def enter_sites(
    stack: contextlib.AsyncExitStack, sites: Mapping[str, Site], needed: Collection[str]
) -> None:
    """Start those of the `needed` sites that have something to start; `stack` stops them.

    Raises:
        BadConfig: an application does not start.
    """
    for name, site in sites.items():
        if name in needed and isinstance(site, contextlib.AbstractAsyncContextManager):
            await stack.enter_async_context(site)


@contextlib.asynccontextmanager
async def open_browsers(
    applications: Mapping[str, Application] | None = None, *, needed: Collection[str] = ()
) -> AsyncIterator[Browsers]:
    """Start the gateway, the `needed` of the applications and a browser, and stop everything at the end.

    Raises:
        BadConfig: an application does not start.
        NoBrowser: no usable browser is found, or it does not start.
    """
    async with contextlib.AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(Gateway())
        slots = page_slots()
        replays = Chromium(network=gateway, slots=slots)
        stack.push_async_exit(replays)
        chromium = await stack.enter_async_context(Chromium(network=gateway, slots=slots))
        sites = RunSites(gateway, applications or {})
        await enter_sites(stack, sites, needed)
        yield Browsers(sites=sites, sessions=chromium, replays=replays)
