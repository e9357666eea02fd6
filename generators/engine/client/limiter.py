"""Lets so many in at once, first come first served, with a limit that may change at any time."""

import asyncio
from collections import deque


class Gate:
    """An async context manager that is entered by at most `limit` at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.inside = 0
        """How many are in."""

    @property
    def queued(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def allow(self, limit: int) -> None:
        """Let `limit` in from now; those who are in beyond it stay."""
        self._limit = limit
        self._admit()

    async def __aenter__(self) -> None:
        if not self._waiting and self.inside < self._limit:
            self.inside += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif not turn.cancelled():  # let in and cancelled at once: the next may have it
                self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self.inside -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self.inside < self._limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self.inside += 1
                turn.set_result(None)
