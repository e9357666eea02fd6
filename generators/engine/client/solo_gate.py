"""The gate of an endpoint: requests pass it together, or one passes it alone.

After two deaths of a server one of several requests may be what kills it. Each is asked alone, so that
a third death can have no other cause, and so that no other request is lost to it. Who comes first goes
first: a request that has to be alone waits for those before it to end, and those after it wait for it.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class _Waiter:
    alone: bool
    admitted: asyncio.Future[None]


class SoloGate:
    """Lets the requests of one endpoint through, in the order in which they come."""

    def __init__(self) -> None:
        self._inside = 0
        self._has_solo = False
        self._waiting: deque[_Waiter] = deque()

    @property
    def is_solo(self) -> bool:
        """Whether a request is alone inside, or waits until it can be."""
        return self._has_solo or any(waiter.alone for waiter in self._waiting)

    @asynccontextmanager
    async def entry(self, *, alone: bool) -> AsyncIterator[None]:
        """Hold a place inside; with `alone`, the only one."""
        await self._enter(alone=alone)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, *, alone: bool) -> None:
        if not self._waiting and self._has_room(alone=alone):
            self._admit(alone=alone)
            return
        waiter = _Waiter(alone, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        try:
            await waiter.admitted
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
                self._admit_next()
            else:
                self._leave()  # it was let in and cancelled at once
            raise

    def _has_room(self, *, alone: bool) -> bool:
        return not self._has_solo and not (alone and self._inside)

    def _admit(self, *, alone: bool) -> None:
        self._inside += 1
        self._has_solo = alone

    def _admit_next(self) -> None:
        while self._waiting and self._has_room(alone=self._waiting[0].alone):
            waiter = self._waiting.popleft()
            self._admit(alone=waiter.alone)
            if not waiter.admitted.done():
                waiter.admitted.set_result(None)

    def _leave(self) -> None:
        self._inside -= 1
        self._has_solo = False
        self._admit_next()
