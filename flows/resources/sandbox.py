"""The sites and two browsers without a run around them, for commands that store nothing.

One browser is for looking and acting; the other stays cold until something is replayed in it, so
that a replay shares nothing with what it replays but the pages. Both are stopped at the end.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from generators.browser.chromium import Chromium
from generators.browser.protocol import Sessions
from generators.browser.slots import page_slots
from generators.sites import miniwob
from generators.sites.gateway import Gateway
from generators.sites.protocol import Site


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The sites and browsers of a command that stores nothing."""

    sites: dict[str, Site]
    """By the names that tasks call them."""
    sessions: Sessions
    """Of a browser that is started already."""
    replays: Sessions
    """Of another browser, which starts with its first session."""


def make_sites(gateway: Gateway) -> dict[str, Site]:
    """Return every site there is, mounted on `gateway`, by the name that tasks call it."""
    return {miniwob.NAME: miniwob.MiniWob(gateway)}


@contextlib.asynccontextmanager
async def open_sandbox() -> AsyncIterator[Sandbox]:
    """Start the gateway and a browser, and stop everything at the end.

    Raises:
        NoBrowser: no usable browser is found, or it does not start.
    """
    async with contextlib.AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(Gateway())
        slots = page_slots()
        replays = Chromium(gateway_port=gateway.port, slots=slots)
        stack.push_async_exit(replays)
        chromium = await stack.enter_async_context(Chromium(gateway_port=gateway.port, slots=slots))
        yield Sandbox(sites=make_sites(gateway), sessions=chromium, replays=replays)
