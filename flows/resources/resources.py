"""The resources of a run, opened in one place and closed in one place.

Making a `RunResources` opens the store, the lake and the spool and starts nothing. `start` then
starts the gateway, the browsers (the first one at once) and the engine, so that a failure to start
refuses the command before anything is written. Replays have a browser process of their own. One
`AsyncExitStack` owns everything; a part of a job that is given a resource never closes it.
"""

import logging
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from typing import Self

from flows.resources.browsers import BrowserPool, SlottedSites, enter_sites
from flows.resources.engines import PolicyRuntime, most_live, open_policies
from flows.resources.machine import prepare_machine
from flows.resources.memory_room import MemoryRoom
from generators.browser.chromium import Chromium, find_chromium, is_headless_shell
from generators.browser.process.enclosure import Confinement
from generators.browser.slots import Slots, page_slots
from generators.engine.client.pricing import Meter
from generators.sites.gateway import Gateway
from generators.sites.protocol import Site
from generators.sites.registry import RunSites
from generators.verify.panel import Panel
from generators.verify.registry import make_verifiers
from schemas.configuration.config import RunConfig
from storage.lake.lake import Lake
from storage.objects.urls import open_store
from storage.spool import Spool

LOG = logging.getLogger(__name__)


class RunResources:
    """A run's storage, sites, sessions and panel."""

    def __init__(self, config: RunConfig, *, policies: bool = True) -> None:
        """Open the run's storage; nothing else is opened yet.

        Without `policies` clients outside decide, and the run's own engine is never started.

        Raises:
            BadConfig: this version cannot open the run's URL.
            NotFound: a verifier of the configuration does not exist.
        """
        url = config.run.url
        self._config, self._policies = config, policies
        self._stack = AsyncExitStack()
        self._gateway = Gateway()
        self._replays = BrowserPool()
        self._page_slots = page_slots()
        self.store = open_store(url, config.storage, private=config.storage.private)
        """Where the run is stored."""
        self.lake = Lake(url, self.store, config.storage)
        """The run's tables."""
        self.spool = Spool(self.store)
        """Finished episodes of the run that are not committed."""
        self.meter = Meter(config.engine)
        """What this command spends on the engine."""
        self.slots = Slots(session_limit(config))
        """The limit on open sessions."""
        self.live_episodes = Slots(most_live(config))
        """The limit on sessions that make episodes and ask the engine; replays do not count."""
        self.memory = MemoryRoom()
        """The memory of the machine that episodes wait for."""
        self.rollouts = BrowserPool()
        """Sessions for rollouts; a caller takes a slot first."""
        self.sites: Mapping[str, Site] = RunSites(self._gateway, config.sites)
        """The sites by the names that tasks give them."""
        self.panel = Panel(
            make_verifiers(
                config.verify.verifiers,
                sites=SlottedSites(self.sites, self.slots),
                sessions=self._replays,
            ),
            config.accept,
            rejected_too=config.verify.rejected_too,
        )
        """The verifiers of the run, under its rule."""

    async def __aenter__(self) -> Self:
        """Close everything that is opened from here on at the end."""
        await self._stack.__aenter__()
        self._stack.push_async_callback(self.lake.close)
        return self

    async def __aexit__(self, *error: object) -> None:
        """Stop the started resources in reverse order."""
        await self._stack.aclose()

    async def start(self, sites: Collection[str], *, rollouts: bool) -> PolicyRuntime | None:
        """Start the resources of sessions on `sites`; return the policies, None without `rollouts`.

        Without `rollouts` only replays have a browser. Call it once.

        Raises:
            BadConfig: an application does not start, or the machine does not allow the sessions.
            NoBrowser: no usable browser is found, or it does not start.
            NoEngine: a policy asks an engine, and it does not start or answer.
        """
        replays = "replay" in self._config.verify.verifiers
        if not rollouts and not replays:
            return None
        prepare_machine(self.slots.limit, self._config.run.url)
        await self._stack.enter_async_context(self._gateway)
        await enter_sites(self._stack, self.sites, sites)
        for number in range(self._config.browser.processes if rollouts else 0):
            await self._add_browser(self.rollouts, eager=number == 0)
        runtime: PolicyRuntime | None = None
        if rollouts and self._policies:
            opening = open_policies(self._config, self.meter)
            runtime = await self._stack.enter_async_context(opening)
        if replays:
            await self._add_browser(self._replays, eager=not rollouts)
        return runtime

    async def _add_browser(self, pool: BrowserPool, *, eager: bool) -> None:
        browser = Chromium(
            network=self._gateway,
            slots=self._page_slots,
            wanted=Confinement.of(self._config.browser),
        )
        if eager:
            await self._stack.enter_async_context(browser)
            if not is_headless_shell(path := find_chromium()):
                LOG.warning("%s is a full browser: it is slow with many sessions at once", path)
        else:  # it starts with its first session; the stack stops it in any case
            self._stack.push_async_exit(browser)
        pool.add(browser)


def session_limit(config: RunConfig) -> int:
    """Return how many sessions a run may have open at once."""
    return config.browser.sessions * config.browser.processes
