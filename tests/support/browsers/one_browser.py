"""The one browser of a worker: whoever needs nothing of its own from a browser opens contexts in it.

Contexts are isolated, which the contract suite of sessions and the tests of containment show. Tests
whose subject is how a browser starts, dies, or is enclosed start browsers of their own.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import psutil

from generators.browser.chromium import Chromium
from generators.sites.entrance import Refusals
from generators.sites.gateway import Gateway

_shared: dict[asyncio.AbstractEventLoop, tuple[Chromium, Gateway]] = {}
"""By event loop: nobody outside its own loop may use a browser."""


@contextlib.asynccontextmanager
async def browser_and_gateway() -> AsyncIterator[tuple[Chromium, Gateway]]:
    """A browser behind its gateway: the worker's in its own event loop, a new one in any other.

    What is mounted on the worker's gateway meanwhile is gone afterwards, and it counts refusals anew.
    """
    shared = _shared.get(asyncio.get_running_loop())
    if shared is None:
        async with Gateway() as gateway, Chromium(network=gateway) as chromium:
            yield chromium, gateway
        return
    _, gateway = shared
    mounted = dict(gateway._handlers)
    gateway.refused = Refusals()
    try:
        yield shared
    finally:
        gateway._handlers = mounted


@contextlib.asynccontextmanager
async def shared_browser() -> AsyncIterator[None]:
    """Let `browser_and_gateway` give the same browser to all who ask in this event loop meanwhile."""
    loop = asyncio.get_running_loop()
    async with browser_and_gateway() as pair:
        _shared[loop] = pair
        try:
            yield
        finally:
            del _shared[loop]


def processes() -> list[psutil.Process]:
    """Return every process below this one, but for the worker's browser and what is above and below that."""
    found = list[psutil.Process]()
    marks = {
        process._mark
        for chromium, _ in _shared.values()
        for process in (chromium._process, *chromium._retired)
        if process is not None
    }
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            tree = [child, *child.children(recursive=True)]
            if not any(_is_marked(process, marks) for process in tree):
                found += tree
    return found


def _is_marked(process: psutil.Process, marks: set[str]) -> bool:
    with contextlib.suppress(psutil.Error):
        return not marks.isdisjoint(process.cmdline())
    return False
