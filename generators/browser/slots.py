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
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from contextvars import ContextVar
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

PAGE_SLOTS_PER_CORE = 4
"""Sessions per core that use their pages at the same time, as measured by `bench/sessions.py`."""


_WHILE_WAITING: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar(
    "while waiting", default=contextlib.nullcontext
)


@contextlib.contextmanager
def while_waiting(pause: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Have each wait for a slot in this block be within a `pause()`: it counts against no limit of time."""
    token = _WHILE_WAITING.set(pause)
    try:
        yield
    finally:
        _WHILE_WAITING.reset(token)


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
    async def wait_for_slot(self: _Holder, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        async with self.slot():
            return await method(self, *args, **kwargs)

    return wait_for_slot


class Slots:
    """A counted limit that knows how many slots are in use."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        """The most holders at a time."""
        self.in_use = 0
        """The current holders."""
        self._free = asyncio.Semaphore(limit)

    @contextlib.asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Hold a slot for the block, once one is free."""
        with _WHILE_WAITING.get()():
            await self._free.acquire()
        self.in_use += 1
        try:
            yield
        finally:
            self.in_use -= 1
            self._free.release()


def page_slots() -> Slots:
    """Return the limit on sessions that use their pages at once, for the cores of this process."""
    return Slots(PAGE_SLOTS_PER_CORE * len(os.sched_getaffinity(0)))
