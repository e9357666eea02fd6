"""What a command works with, made in one place and let go in one place.

Opening the workshop opens the store, the lake and the spool and names the sites; it starts
nothing. `start` then starts the gateway, the browsers (one of them eagerly) and the engine, so that
one that does not start is refused before anything is written. Replays have a browser process of their
own. One `AsyncExitStack` owns everything; who is handed a part of it closes nothing.
"""

import logging
from contextlib import AsyncExitStack
from typing import Self

from flows.resources.browser_pool import Fleet, SlottedSessions
from flows.resources.engines import Acting, open_policies
from generators.browser.chromium import Chromium, find_chromium, is_headless_shell
from generators.browser.protocol import Sessions
from generators.browser.slots import Slots, page_slots
from generators.policy.factory import PolicyMaker
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from generators.sites.protocol import Site
from generators.verify.make import make_verifiers
from generators.verify.panel import Panel
from schemas.config import RunConfig
from storage.lake.lake import Lake
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.spool import Spool

LOG = logging.getLogger(__name__)


class Workshop:
    """A run's storage, sites, sessions and panel."""

    def __init__(self, config: RunConfig) -> None:
        """Name everything.

        Raises:
            BadConfig: this version cannot open the run's URL.
            NotFound: a verifier of the configuration does not exist.
        """
        url = config.run.url
        self._config = config
        self._stack = AsyncExitStack()
        self._gateway = Gateway()
        self._rollouts = Fleet()
        self._replays = Fleet()
        self._page_slots = page_slots()
        self._started = False
        self.store: ObjectStore = open_store(url, config.storage)
        """Where the run lies."""
        self.lake = Lake(url, self.store, config.storage)
        """Its tables."""
        self.spool = Spool(self.store)
        """Its finished episodes that are not committed."""
        self.slots = Slots(session_limit(config))
        """How many sessions may be open at once."""
        self.live = Slots(config.limits.live_episodes or self.slots.most)
        """How many of them may be episodes that are being made, which ask the engine."""
        self.sites: dict[str, Site] = {"miniwob": MiniWob(self._gateway)}
        """What tasks call the sites, and the sites."""
        self.acting = Acting(PolicyMaker(config))
        """Who acts; once started, a policy that asks has its engine."""
        self.panel = Panel(
            make_verifiers(
                config.verify.verifiers,
                sites=self.sites,
                sessions=SlottedSessions(self._replays, self.slots),
                min_reward=config.accept.min_reward,
            )
        )
        """Who judges."""

    @property
    def rollouts(self) -> Sessions:
        """Sessions for rollouts; take a slot first."""
        return self._rollouts

    @property
    def replays(self) -> Sessions:
        """Sessions for replays, in a browser process of their own."""
        return self._replays

    async def __aenter__(self) -> Self:
        """Take everything into one stack."""
        await self._stack.__aenter__()
        self._stack.push_async_callback(self.lake.close)
        return self

    async def __aexit__(self, *error: object) -> None:
        """Stop what was started, last first."""
        await self._stack.aclose()

    async def start(self, *, rollouts: bool) -> None:
        """Start what sessions need, once; without `rollouts` only replays have a browser.

        Raises:
            NoBrowser: no usable browser is found, or it does not start.
            NoEngine: a policy asks one, and it does not start or answer.
        """
        if self._started:
            return
        self._started = True
        replays = "replay" in self._config.verify.verifiers
        if not rollouts and not replays:
            return
        browser = find_chromium()
        if not is_headless_shell(browser):
            LOG.warning("%s is a full browser: it is slow with many sessions at once", browser)
        await self._stack.enter_async_context(self._gateway)
        for number in range(self._config.browser.processes if rollouts else 0):
            await self._add_browser(self._rollouts, eager=number == 0)
        if rollouts:
            self.acting = await self._stack.enter_async_context(open_policies(self._config))
        if replays:
            await self._add_browser(self._replays, eager=not rollouts)

    async def _add_browser(self, fleet: Fleet, *, eager: bool) -> None:
        browser = Chromium(gateway_port=self._gateway.port, slots=self._page_slots)
        if eager:
            await self._stack.enter_async_context(browser)
        else:  # it starts with its first session, but is stopped here in any case
            self._stack.push_async_exit(browser)
        fleet.add(browser)


def session_limit(config: RunConfig) -> int:
    """Return how many sessions a run may have open at once."""
    return config.browser.sessions * config.browser.processes
