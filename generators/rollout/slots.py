"""How many sessions may be open at once, over all units of a process.

Units are for accounting and never a barrier: each session takes one slot, whichever unit or
replay it belongs to, and gives it back when it ends.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Slots:
    """A counted limit that can say how much of it is in use."""

    def __init__(self, most: int) -> None:
        self.most = most
        """Sessions at once."""
        self.busy = 0
        """Sessions open now."""
        self._free = asyncio.Semaphore(most)

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a slot."""
        async with self._free:
            self.busy += 1
            try:
                yield
            finally:
                self.busy -= 1
