"""Who gets the next seat: at most so many at a time, each client within its bound, in fair shares.

A free seat goes to the waiting client that holds the fewest seats, and among those to the one that has waited
longest. Nothing here opens a seat; the holder of a place does.
"""

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Mapping

SLOWEST_SECONDS = 60.0
"""The longest time after which a client is told to come again."""


class Busy(Exception):
    """There is no seat now."""

    def __init__(self, why: str, *, place: int, retry_seconds: float) -> None:
        super().__init__(why)
        self.place = place
        """The place in the queue, from 1, that the client would have."""
        self.retry_seconds = retry_seconds
        """When to come again, in seconds."""


class Turnstile:
    """Lets clients in."""

    def __init__(self, limit: int, bounds: Mapping[str, int | None], *, max_waiting: int) -> None:
        """`limit` is how many seats there are, and `bounds` how many each client may hold; None: all of them."""
        self.limit = limit
        """How many seats there are."""
        self.held: Counter[str] = Counter()
        """How many each client holds."""
        self._bounds = bounds
        self._max_waiting = max_waiting
        self._waiting: dict[int, tuple[str, asyncio.Future[None]]] = {}
        self._numbers = itertools.count()
        self._mean_seconds = 5.0

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    @property
    def in_use(self) -> int:
        """How many seats are held."""
        return self.held.total()

    @contextlib.asynccontextmanager
    async def hold(self, client: str, *, wait_seconds: float) -> AsyncIterator[None]:
        """Hold a seat for the block, once the client's turn has come.

        Raises:
            Busy: it did not come in time, or too many wait already.
        """
        await self._enter(client, wait_seconds)
        begun = asyncio.get_running_loop().time()
        try:
            yield
        finally:
            took = asyncio.get_running_loop().time() - begun
            self._mean_seconds += 0.1 * (took - self._mean_seconds)
            self.held[client] -= 1
            self._let_in()

    async def _enter(self, client: str, wait_seconds: float) -> None:
        if not self._waiting and self._may_enter(client):
            self.held[client] += 1
            return
        if len(self._waiting) >= self._max_waiting:
            raise self._busy(client, f"{len(self._waiting)} requests wait for a seat already")
        turn = asyncio.get_running_loop().create_future()
        number = next(self._numbers)
        self._waiting[number] = (client, turn)
        self._let_in()
        try:
            async with asyncio.timeout(wait_seconds):  # `wait_for` of 3.11 may lose a cancellation
                await asyncio.shield(turn)
        except BaseException as error:
            if self._waiting.pop(number, None) is None and turn.done():  # it was let in meanwhile
                self.held[client] -= 1
                self._let_in()
            if isinstance(error, TimeoutError):
                raise self._busy(client, f"no seat was free within {wait_seconds:g} s") from None
            raise

    def _may_enter(self, client: str) -> bool:
        bound = self._bounds.get(client)
        return self.in_use < self.limit and (bound is None or self.held[client] < bound)

    def _let_in(self) -> None:
        """Give free seats to those that wait."""
        while True:
            able = [
                (self.held[client], number)
                for number, (client, _) in self._waiting.items()
                if self._may_enter(client)
            ]
            if not able:
                return
            _, number = min(able)
            client, turn = self._waiting.pop(number)
            self.held[client] += 1
            turn.set_result(None)

    def _busy(self, client: str, why: str) -> Busy:
        place = len(self._waiting) + 1
        bound = self._bounds.get(client)
        if bound is not None and self.held[client] >= bound:
            why += f"; {client} holds {self.held[client]} seats, which is its bound"
        seconds = min(SLOWEST_SECONDS, max(1.0, self._mean_seconds * place / self.limit))
        return Busy(
            f"{why}; {self.in_use} of {self.limit} seats are taken; come again in {seconds:.0f} s "
            f"(place {place})",
            place=place,
            retry_seconds=seconds,
        )
