import asyncio
from contextlib import AsyncExitStack

from scripted_rollouts import pages
from scripted_session import ScriptedSessions

from flows.resources.browsers import BrowserPool, SlottedSessions
from generators.browser.protocol import SessionSpec
from generators.browser.slots import Slots

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


async def test_a_session_holds_a_slot_until_it_is_closed() -> None:
    slots = Slots(1)
    sessions = SlottedSessions(ScriptedSessions(pages([0, False])), slots)

    async with sessions.session(SPEC):
        waiting = asyncio.create_task(_one(sessions))
        await asyncio.sleep(0.01)
        assert (slots.in_use, waiting.done()) == (1, False)

    await waiting
    assert slots.in_use == 0


async def _one(sessions: SlottedSessions) -> None:
    async with sessions.session(SPEC):
        pass
