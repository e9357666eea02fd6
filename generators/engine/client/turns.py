"""The turns of requests at one endpoint, and the episodes that live there, under the limits of a governor."""

import asyncio
import contextlib
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

from generators.engine.governor.gate import Gate
from generators.engine.governor.governor import Governor, Limits
from generators.engine.governor.signals import CallFigures, Gauges

_FIRST = "/first"
"""Ends the name of one that lives nowhere, as no episode's does."""

ANY_NUMBER = 1 << 30
"""The limit on episodes of an endpoint without a governor."""


@dataclass(frozen=True, slots=True)
class EndpointLoad:
    """How many live and ask at an endpoint, how many may, and why."""

    live: int
    """Episodes that live there, parked ones too."""
    live_limit: int
    """How many may."""
    parked: int
    """How many wait, because more live than may."""
    under_way: int
    """Requests under way."""
    request_limit: int
    """How many may be."""
    because: str
    """Why so many episodes may live; empty without a governor."""


def episode_of(session: str) -> str:
    """Return the episode that a conversation belongs to: a role's is named after it, as `episode/validator`."""
    return session.partition("/")[0]


class Turns:
    """Lets requests to one endpoint go in the order of their episodes' ages."""

    def __init__(self, requests: int, governor: Governor | None = None) -> None:
        """At most `requests` are under way at a time. `governor` None: any number of episodes may live."""
        self._most, self._governor = requests, governor
        live = ANY_NUMBER if governor is None else governor.limits.live
        self._gate: Gate[str] = Gate(live, self._request_limit)
        self._queues: defaultdict[str, deque[asyncio.Future[None]]] = defaultdict(deque)

    @property
    def _request_limit(self) -> int:
        return (
            self._most
            if self._governor is None
            else min(self._most, self._governor.limits.requests)
        )

    @property
    def load(self) -> EndpointLoad:
        """How many live and ask there now."""
        gate = self._gate
        because = "" if self._governor is None else self._governor.limits.because
        return EndpointLoad(
            gate.live, gate.live_limit, gate.parked, gate.under_way, gate.request_limit, because
        )

    @property
    def has_room(self) -> bool:
        """Whether another episode may begin."""
        return self._gate.has_room

    @contextlib.asynccontextmanager
    async def take(self, session: str, *, first: bool = False) -> AsyncIterator[None]:
        """Hold a turn for a request of a conversation while the block runs, once it comes.

        With `first` it goes before those of all episodes, and is not parked.
        """
        episode, turn = episode_of(session), asyncio.get_running_loop().create_future()
        if first:
            episode += _FIRST
        self._queues[episode].append(turn)
        self._gate.ask(episode)
        self._go()
        try:
            await turn
        except asyncio.CancelledError:
            self._leave(episode, turn)
            raise
        try:
            yield
        finally:
            self._gate.finish(episode)
            self._go()

    def _leave(self, episode: str, turn: asyncio.Future[None]) -> None:
        """Forget a request that was given up, or give back its turn if that had just come."""
        if turn.done() and not turn.cancelled():
            self._gate.finish(episode)
        elif turn in self._queues[episode]:
            self._queues[episode].remove(turn)
            self._gate.give_up(episode)
        self._go()

    def _go(self) -> None:
        """Let the requests go whose turn it is."""
        while going := self._gate.next():
            for episode in going:
                self._queues[episode].popleft().set_result(None)
                if not self._queues[episode]:
                    del self._queues[episode]

    def begin(self, episode: str) -> None:
        """Let an episode live here."""
        self._gate.begin(episode)

    def end(self, episode: str) -> None:
        """Forget an episode that has ended or moved away; requests of it that wait go on waiting for a turn."""
        self._gate.end(episode)
        for _ in self._queues.get(episode, ()):
            self._gate.ask(episode)
        if self._governor is not None:
            self._governor.forget(episode)
        self._go()

    def rank(self, session: str) -> int:
        """Return which requests go before those of a conversation: those of a lower rank, whose episodes are older.

        It is the order in which requests get their turns here, for a server that puts them into an order of its own.
        """
        return self._gate.rank(episode_of(session))

    def hear(self, call: CallFigures, now: float) -> bool:
        """Learn of a reply; return whether the limits have changed."""
        if self._governor is None:
            return False
        before = self._governor.limits
        self._governor.hear(call, now, live=self._gate.live)
        return self._obey(before)

    def read(self, gauges: Gauges) -> bool:
        """Learn of the server's metrics; return whether the limits have changed."""
        if self._governor is None:
            return False
        before = self._governor.limits
        self._governor.read(gauges)
        return self._obey(before)

    def _obey(self, before: Limits) -> bool:
        if self._governor is None or self._governor.limits == before:
            return False
        self._gate.set_limits(self._governor.limits.live, self._request_limit)
        self._go()
        return True
