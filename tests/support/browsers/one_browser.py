"""The one browser of a worker: whoever needs nothing of its own from a browser opens contexts in it.

Contexts are isolated, which the contract suite of sessions and the tests of containment show. Tests
whose subject is how a browser starts, dies, or is enclosed start browsers of their own.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import psutil

from generators.browser.chromium import Chromium
from generators.sites.gateway import Gateway

_shared: dict[asyncio.AbstractEventLoop, tuple[Chromium, Gateway]] = {}
"""By event loop: nobody outside its own loop may use a browser."""

_of_shared = set[psutil.Process]()
"""The worker's own browser and its driver."""


@contextlib.asynccontextmanager
async def browser_and_gateway() -> AsyncIterator[tuple[Chromium, Gateway]]:
    """A browser behind its gateway: the worker's in its own event loop, a new one in any other."""
    shared = _shared.get(asyncio.get_running_loop())
    if shared is not None:
        yield shared
        return
    async with Gateway() as gateway, Chromium(network=gateway) as chromium:
        yield chromium, gateway


@contextlib.asynccontextmanager
async def shared_browser() -> AsyncIterator[None]:
    """Let `browser_and_gateway` give the same browser to all who ask in this event loop meanwhile."""
    loop = asyncio.get_running_loop()
    before = set(psutil.Process().children())
    async with browser_and_gateway() as pair:
        _shared[loop] = pair
        _of_shared.update(set(psutil.Process().children()) - before)
        try:
            yield
        finally:
            del _shared[loop]
            _of_shared.clear()


def processes() -> list[psutil.Process]:
    """Return every process below this one, but for the worker's browser and what is below that."""
    found = list[psutil.Process]()
    for child in psutil.Process().children():
        if child not in _of_shared:
            with contextlib.suppress(psutil.NoSuchProcess):
                found += [child, *child.children(recursive=True)]
    return found
