import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Self

from support.browsers.scripted_rollouts import pages, scripted_task
from support.browsers.scripted_session import ScriptedSessions
from support.browsers.scripted_site import ScriptedSite

from flows.resources.browsers import BrowserPool, SlottedSites, enter_sites
from generators.browser.protocol import SessionSpec
from generators.browser.slots import Slots
from generators.sites.protocol import Site, Visit
from schemas.tasks.task import Task

SPEC = SessionSpec(
    viewport_width=100, viewport_height=100, allowed_origins=("http://x",), clock=None
)


async def test_sessions_are_spread_evenly_over_the_browsers() -> None:
    fleet, browsers = BrowserPool(), [ScriptedSessions(pages([0, False])) for _ in range(3)]
    for browser in browsers:
        fleet.add(browser)

    async with AsyncExitStack() as stack:
        for _ in range(6):
            await stack.enter_async_context(fleet.session(SPEC))

    assert [browser.opened for browser in browsers] == [2, 2, 2]


async def test_a_session_that_ended_makes_room_in_its_browser() -> None:
    fleet, busy, idle = (
        BrowserPool(),
        ScriptedSessions(pages([0, False])),
        ScriptedSessions(pages(0)),
    )
    fleet.add(busy)
    fleet.add(idle)

    async with fleet.session(SPEC):
        for _ in range(3):
            async with fleet.session(SPEC):
                pass

    assert (busy.opened, idle.opened) == (1, 3)


async def test_a_visit_holds_a_slot_from_before_it_is_leased_until_it_ends() -> None:
    slots = Slots(1)
    sites = SlottedSites({"scripted": ScriptedSite()}, slots)

    async with _visit(sites):
        waiting = asyncio.create_task(_one(sites))
        await asyncio.sleep(0.01)
        assert (slots.in_use, waiting.done()) == (1, False)

    await waiting
    assert slots.in_use == 0


async def test_who_waits_for_a_slot_does_not_hold_the_only_visit() -> None:
    slots, site = Slots(1), OneVisit()
    sites = SlottedSites({"scripted": site}, slots)

    async with asyncio.timeout(200):
        async with slots.hold():  # as a rollout does
            replay = asyncio.create_task(_one(sites))
            await asyncio.sleep(0.01)
            async with site.open(scripted_task()):
                pass
        await replay


class OneVisit(ScriptedSite):
    """A site that has one visit at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._alone = asyncio.Lock()

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with self._alone, super().open(task) as visit:
            yield visit


def test_all_else_of_a_slotted_site_is_the_site_s() -> None:
    site = ScriptedSite()
    slotted = SlottedSites({"scripted": site}, Slots(1))["scripted"]

    own = {name for name in dir(Site) if not name.startswith("_")} - {"open"}

    assert own == {name for name in own if getattr(slotted, name) == getattr(site, name)}


def _visit(sites: SlottedSites) -> AbstractAsyncContextManager[Visit]:
    return sites["scripted"].open(scripted_task())


async def _one(sites: SlottedSites) -> None:
    async with _visit(sites):
        pass


class Startable(ScriptedSite):
    """A site that has something to start."""

    running = False

    async def __aenter__(self) -> Self:
        self.running = True
        return self

    async def __aexit__(self, *_: object) -> None:
        self.running = False


async def test_only_sites_that_are_needed_are_started() -> None:
    shop, wiki = Startable(), Startable()
    async with AsyncExitStack() as stack:
        sites: dict[str, Site] = {"shop": shop, "wiki": wiki, "page": ScriptedSite()}
        await enter_sites(stack, sites, {"shop", "page"})
        assert (shop.running, wiki.running) == (True, False)
    assert not shop.running
