"""Which endpoint each episode lives at: the least loaded one when it begins, and the same one as long as that is up."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping

from generators.engine.client.metrics import fetch_metrics
from generators.engine.client.transport import Transport
from generators.engine.client.turns import Turns, episode_of
from generators.engine.governor.signals import Gauges

MEASURE_SECONDS = 5.0
"""Pause between two looks at the metrics of an endpoint, seconds."""


class Residents:
    """The episodes that live at the endpoints of one engine."""

    def __init__(self, turns: Mapping[str, Turns], is_up: Callable[[str], bool]) -> None:
        """`is_up` tells whether an endpoint of a name takes requests."""
        self._turns, self._is_up = turns, is_up
        self._homes: dict[str, str] = {}
        self._waiting: deque[asyncio.Future[None]] = deque()

    @contextlib.asynccontextmanager
    async def live(self, session: str) -> AsyncIterator[None]:
        """Let an episode live at an endpoint while the block runs, once there is room; first come, first served."""
        while self._waiting or self._roomy() is None:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                else:
                    self.look()  # it had just been this one's turn
                raise
            if self._roomy() is not None:
                break
        home = self._roomy() or min(self._turns)
        episode = episode_of(session)
        self._homes[episode] = home
        self._turns[home].begin(episode)
        self.look()
        try:
            yield
        finally:
            self._turns[self._homes.pop(episode)].end(episode)
            self.look()

    def home(self, session: str) -> str | None:
        """Return the endpoint of a conversation's episode; None: it lives nowhere, as a judge's."""
        return self._homes.get(episode_of(session))

    def move(self, session: str) -> str | None:
        """Let an episode live elsewhere, because its endpoint is gone; None: no other is up."""
        episode = episode_of(session)
        up = [name for name in self._turns if self._is_up(name)]
        if not up:
            return None
        self._turns[self._homes[episode]].end(episode)
        self._homes[episode] = home = min(up, key=self._fullness)
        self._turns[home].begin(episode)
        return home

    def look(self) -> None:
        """Let those begin that wait, as far as there is room now."""
        if self._waiting and self._roomy() is not None:
            self._waiting.popleft().set_result(None)

    async def measure(
        self, transport: Transport, turns: Turns, is_busy: Callable[[], bool], *, seconds: float
    ) -> None:
        """Read an endpoint's metrics again and again while it is busy; a look takes `seconds` at most. It never ends."""
        while True:
            await asyncio.sleep(MEASURE_SECONDS)
            found = await fetch_metrics(transport, seconds=seconds) if is_busy() else None
            if found is not None and turns.read(
                Gauges(found.running, found.waiting, found.preemptions, found.finished)
            ):
                self.look()

    def _roomy(self) -> str | None:
        """Return the least loaded endpoint that has room; None: none has."""
        up = [name for name in self._turns if self._is_up(name)] or list(self._turns)
        names = [name for name in up if self._turns[name].has_room]
        return min(names, key=self._fullness, default=None)

    def _fullness(self, name: str) -> tuple[float, int, str]:
        load = self._turns[name].load
        return load.live / load.live_limit, load.live, name
