"""One endpoint of an engine in use: its connections, its health, and the requests that wait for it."""

import asyncio
from dataclasses import dataclass, field

from generators.engine.client.discovery import HEALTH
from generators.engine.client.endpoint_health import EndpointHealth
from generators.engine.client.request_body import ServerQuirks
from generators.engine.client.solo_gate import SoloGate
from generators.engine.client.standstill import StandstillWatch
from generators.engine.client.suspects import Suspects
from generators.engine.client.transport import HttpResponse, IncompleteResponse, Transport
from generators.engine.client.turns import Turns
from generators.engine.client.weights import WeightsWatch


@dataclass(frozen=True)
class Fault:
    """Why a small request got no whole reply."""

    reason: str
    """On one line."""
    status: int | None = None
    """HTTP status of the answer; None: there was no answer, or it was not a reply."""


class AbandonedRequest(IncompleteResponse):
    """A request was given up because its endpoint is gone."""


@dataclass(eq=False)
class Endpoint:
    """One endpoint while it is used."""

    transport: Transport
    """The connections to it."""
    turns: Turns
    """The turns of its requests, and the episodes that live there."""
    gate: SoloGate = field(default_factory=SoloGate)
    """Passed by each request that is sent to it; a request that may kill it passes alone."""
    suspects: Suspects = field(default_factory=Suspects)
    """Requests that may be what kills it."""
    deaths: int = 0
    """How often it became dead."""
    convictions: int = 0
    """How many requests were given up in a row, because it died of them, without a whole reply in between."""
    quirks: ServerQuirks = field(default_factory=ServerQuirks)
    """The quirks that its requests must respect."""
    health: EndpointHealth = field(default_factory=EndpointHealth)
    """Its health, from probes and requests."""
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Wakes its watcher."""
    timeouts: set[asyncio.Timeout] = field(default_factory=set)
    """The time-outs of pending requests to it."""
    probe_path: str = HEALTH
    """The path of its health check."""
    block_tokens: int | None = None
    """Tokens of a block of its prefix cache; None: it does not say."""
    replied_at: float | None = None
    """When its last whole reply arrived, by the loop's clock; None: never."""
    standstill: StandstillWatch | None = None
    """Watches over whether it computes what it is asked; None: whoever runs it does."""
    weights: WeightsWatch | None = None
    """Asks it about its weights; None: nobody changes them."""
    busy: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while it has pending requests."""
    busy_since: float | None = None
    """When it got the first of its pending requests, by the loop's clock; None: it has none."""
    examination: asyncio.Task[Fault | None] | None = None
    """The last small request to it, which may be under way; None before the first."""
    examined_at: float = 0.0
    """When the last small request was sent, by the loop's clock."""

    @property
    def name(self) -> str:
        """Its URL, without credentials."""
        return self.transport.name

    async def ask(self, body: bytes, *, session: str, seconds: float) -> HttpResponse:
        """Return the answer to a request, which is abandoned when the endpoint is gone.

        Raises:
            AbandonedRequest: the endpoint is gone.
            IncompleteResponse: no answer came, or not all of it.
            ResponseTooLarge: the answer has more than 64 MiB.
        """
        try:
            async with asyncio.timeout(None) as timeout:
                if not self.timeouts:
                    self.busy_since = asyncio.get_running_loop().time()
                    self.busy.set()
                    self.wake.set()  # a living one is probed only while something waits
                self.timeouts.add(timeout)
                try:
                    return await self.transport.post_chat(body, session=session, seconds=seconds)
                finally:
                    self.timeouts.discard(timeout)
                    if not self.timeouts:
                        self.busy_since = None
                        self.busy.clear()
        except TimeoutError as error:
            raise AbandonedRequest(f"abandoned: {self.health.reason}", reached=True) from error

    def abandon(self) -> None:
        """End every request that waits for it, so that it is asked again elsewhere."""
        now = asyncio.get_running_loop().time()
        for timeout in self.timeouts:
            if not timeout.expired():
                timeout.reschedule(now)
