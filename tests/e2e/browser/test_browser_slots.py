"""Work on pages takes turns; a session that waits for its policy, or is only open, takes none."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from support.browsers.html_site import ORIGIN, handler, spec
from support.browsers.scripted_rollouts import attempt_it

from generators.browser.chromium import Chromium
from generators.browser.session import ChromiumSession
from generators.browser.slots import Slots, while_waiting
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.sites.gateway import Gateway
from schemas.episodes.action import Answer, Click
from schemas.episodes.episode import PolicyKind, StopReason

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

LEAST_SECONDS = 0.05
"""Of a wait; a slot that is free is there sooner."""

WORK: dict[str, Callable[[ChromiumSession], Awaitable[object]]] = {
    "open": lambda session: session.open(ORIGIN + "/"),
    "observe": lambda session: session.observe(),
    "act": lambda session: session.act(Click(x=1, y=1)),
    "settle": lambda session: session.settle(),
    "evaluate": lambda session: session.evaluate("1"),
    "read": lambda session: session.reader.read(),
}


class Waits:
    """Counts the waits for a slot."""

    def __init__(self) -> None:
        self.count = 0

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        asked = time.perf_counter()
        yield
        self.count += time.perf_counter() - asked > LEAST_SECONDS


@dataclass(frozen=True)
class Narrow:
    """A browser in which one page works at a time."""

    chromium: Chromium
    gateway: Gateway
    slots: Slots


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def narrow() -> AsyncIterator[Narrow]:
    slots = Slots(1)
    async with Gateway() as gateway, Chromium(network=gateway, slots=slots) as chromium:
        yield Narrow(chromium, gateway, slots)


async def test_whatever_works_on_a_page_waits_for_a_slot_and_says_that_it_waits(
    narrow: Narrow,
) -> None:
    slots, waits = narrow.slots, Waits()
    narrow.gateway.mount("pages.localhost", handler({"/": "<body>page"}))
    async with narrow.chromium.session(spec()) as session:
        for number, (name, work) in enumerate(WORK.items()):
            async with slots.hold():
                with while_waiting(waits.paused):
                    working = asyncio.ensure_future(work(session))
                await _until_somebody_waits(slots)
            await working
            assert waits.count == number + 1, f"{name} does not take a slot"
        assert slots.in_use == 0


async def test_a_session_is_opened_in_a_slot(narrow: Narrow) -> None:
    waits = Waits()

    async def open_it() -> None:
        with while_waiting(waits.paused):
            async with narrow.chromium.session(spec()):
                pass

    async with narrow.slots.hold():
        opening = asyncio.create_task(open_it())
        await _until_somebody_waits(narrow.slots)
    await opening
    assert waits.count == 1


class Meeting:
    """A policy that decides once another one of its kind is deciding too."""

    card = PolicyCard(name="meeting", kind=PolicyKind.SCRIPTED)

    def __init__(self, both: asyncio.Barrier) -> None:
        self._both = both

    async def act(self, _: PolicyInput) -> Decision:
        async with asyncio.timeout(60):
            await self._both.wait()
        return Decision(action=Answer(text="met"))


async def test_policies_think_at_the_same_time_though_one_page_works_at_a_time(
    narrow: Narrow,
) -> None:
    both = asyncio.Barrier(2)
    page = "<script>ready = true; outcome = [0, false]</script>"
    narrow.gateway.mount("scripted.localhost", handler({"/": page}))
    async with asyncio.TaskGroup() as group:
        attempts = [
            group.create_task(attempt_it(narrow.chromium, make_policy=lambda _: Meeting(both)))
            for _ in range(2)
        ]
    assert [task.result().stop_reason for task in attempts] == [StopReason.ANSWERED] * 2


async def _until_somebody_waits(slots: Slots) -> None:
    async with asyncio.timeout(60):
        while not slots._free._waiters:  # noqa: ASYNC110 - a semaphore tells nobody
            await asyncio.sleep(0)
    await asyncio.sleep(2 * LEAST_SECONDS)
