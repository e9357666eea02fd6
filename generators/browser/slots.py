"""Counted limits, first come first served: on open sessions, and on those at work on their pages.

An open session costs memory; a session whose page is opened, looked at or acted on costs a core.
So there are two limits. A session that waits for its policy holds no page slot, and hundreds may be
open on two cores as long as a few at a time do something: more at once only take turns in the
browser, which makes all of them slower.
"""

import asyncio
import contextlib
import functools
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

PAGE_SLOTS_PER_CORE = 4
"""Sessions at work on their pages at the same time, for each core: measured by `bench/sessions.py`."""


class SlotHolder(Protocol):
    """What takes a slot for some of its methods."""

    def slot(self) -> AbstractAsyncContextManager[None]:
        """Hold a slot while the block runs."""
        ...


_P = ParamSpec("_P")
_T = TypeVar("_T")
_Holder = TypeVar("_Holder", bound=SlotHolder)


def in_slot(
    method: Callable[Concatenate[_Holder, _P], Awaitable[_T]],
) -> Callable[Concatenate[_Holder, _P], Coroutine[Any, Any, _T]]:
    """Make a method hold its object's slot while it runs; no such method may call another."""

    @functools.wraps(method)
    async def slotted(self: _Holder, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        async with self.slot():
            return await method(self, *args, **kwargs)

    return slotted


class Slots:
    """A counted limit that knows how many hold it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        """Holders at once."""
        self.in_use = 0
        """Holders now."""
        self._free = asyncio.Semaphore(limit)

    @contextlib.asynccontextmanager
    async def hold(self) -> AsyncIterator[float]:
        """Hold a slot for the block; yields how long the caller waited for it, s."""
        asked = time.perf_counter()
        async with self._free:
            self.in_use += 1
            try:
                yield time.perf_counter() - asked
            finally:
                self.in_use -= 1


def page_slots() -> Slots:
    """Return the limit on sessions that work on their pages at once, for the cores of this process."""
    return Slots(PAGE_SLOTS_PER_CORE * len(os.sched_getaffinity(0)))
