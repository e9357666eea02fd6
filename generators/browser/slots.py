"""Counted limits, first come first served: on open sessions, and on sessions that use their pages.

An open session costs memory; opening, observing or acting on its page costs a core. So there are two
limits. A session that waits for its policy holds no page slot, and 128 may be open on two cores as
long as only a few use their pages at a time: more at once only take turns in the browser, which makes
all of them slower.
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
"""Sessions per core that use their pages at the same time, as measured by `bench/sessions.py`."""


class SlotHolder(Protocol):
    """An object some of whose methods hold a slot."""

    def slot(self) -> AbstractAsyncContextManager[None]:
        """Hold a slot while the block runs."""
        ...


_P = ParamSpec("_P")
_T = TypeVar("_T")
_Holder = TypeVar("_Holder", bound=SlotHolder)


def in_slot(
    method: Callable[Concatenate[_Holder, _P], Awaitable[_T]],
) -> Callable[Concatenate[_Holder, _P], Coroutine[Any, Any, _T]]:
    """Decorate a method to hold its object's slot while it runs; no such method may call another."""

    @functools.wraps(method)
    async def slotted(self: _Holder, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        async with self.slot():
            return await method(self, *args, **kwargs)

    return slotted


class Slots:
    """A counted limit that knows how many slots are in use."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        """The most holders at a time."""
        self.in_use = 0
        """The current holders."""
        self._free = asyncio.Semaphore(limit)

    @contextlib.asynccontextmanager
    async def hold(self) -> AsyncIterator[float]:
        """Hold a slot for the block; yields the seconds that the caller waited for it."""
        asked = time.perf_counter()
        async with self._free:
            self.in_use += 1
            try:
                yield time.perf_counter() - asked
            finally:
                self.in_use -= 1


def page_slots() -> Slots:
    """Return the limit on sessions that use their pages at once, for the cores of this process."""
    return Slots(PAGE_SLOTS_PER_CORE * len(os.sched_getaffinity(0)))
