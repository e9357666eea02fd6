"""Limits of real time that stand still while a page asks something.

A page that shows a dialog answers nothing until it is answered, and its process stands still with it. A
policy may take minutes for that, so no limit on the page's answers counts them.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Patience:
    """The limits of one session."""

    def __init__(self) -> None:
        self._held_since: float | None = None
        self._held = 0.0
        self._limits: dict[asyncio.Timeout, float] = {}

    def time(self) -> float:
        """Return the time of the event loop without all the time for which the limits were held, seconds."""
        now = asyncio.get_running_loop().time() if self._held_since is None else self._held_since
        return now - self._held

    def hold(self) -> None:
        """Let no limit expire from now on."""
        if self._held_since is None:
            self._held_since = asyncio.get_running_loop().time()
            for limit in self._limits:
                limit.reschedule(None)

    def release(self) -> None:
        """Let the limits go on where they stood."""
        if self._held_since is not None:
            now = asyncio.get_running_loop().time()
            self._held += now - self._held_since
            self._held_since = None
            for limit, due in self._limits.items():
                limit.reschedule(due + self._held)

    @contextlib.asynccontextmanager
    async def limit(self, seconds: float) -> AsyncIterator[None]:
        """Run the block for at most `seconds`, without those for which the limits are held.

        Raises:
            TimeoutError: it took longer.
        """
        due = self.time() + seconds
        async with asyncio.timeout(None) as limit:
            self._limits[limit] = due
            if self._held_since is None:
                limit.reschedule(due + self._held)
            try:
                yield
            finally:
                del self._limits[limit]
