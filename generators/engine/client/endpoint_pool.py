"""The endpoints of an engine in use: their health, the choice among them, and the requests that wait.

The rules are those of `endpoint_health`; this module applies them to the clock and the servers. Every
endpoint has a watcher, which probes it when the rules say so and abandons the requests at an endpoint that
is gone. An endpoint that was down when the engine was opened, or went down since, is discovered again
before it gets requests: it must match the engine's card. One that fails a request for good gets a small
request: if that fails too, it is lost. When all are lost, every pending and later request fails, because
further requests would fare no better.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Self

from generators.engine.client.discovery import card_difference, discover
from generators.engine.client.endpoint import Endpoint, Fault
from generators.engine.client.endpoint_health import (
    EndpointHealth,
    Phase,
    ProbeTimings,
    choose_endpoint,
)
from generators.engine.client.request_body import RequestBody
from generators.engine.client.residents import Residents
from generators.engine.client.response import InvalidCompletion, error_message, read_completion
from generators.engine.client.retry_policy import StatusMeaning, status_meaning
from generators.engine.client.transport import (
    IncompleteResponse,
    ResponseTooLarge,
)
from generators.engine.protocol import EngineCard, EnginePrompt, Message, Role, Sampling
from generators.engine.stopwatch import Stopwatch
from schemas.errors import NoEngine

LOG = logging.getLogger(__name__)

_BROKEN = 500
_POLL_SECONDS = 0.1
"""Pause between two checks of a conversation that waits for a recovering endpoint, seconds."""
_MAX_CONVICTIONS = 4
"""Requests in a row that a server may die of and be excused for, without a reply in between."""
_IDLE_SECONDS = 60.0
"""Longest sleep of a watcher or a conversation without events, seconds."""
_EXAMINATION = "examination"
"""The conversation of a small request."""
_EXAMINATION_SECONDS = 60.0
"""Time limit of a small request, seconds."""
_SMALL_PROMPT = EnginePrompt(messages=(Message(role=Role.USER, parts=("Say anything.",)),))
_SMALL_SAMPLING = Sampling(max_tokens=16)


class EndpointPool:
    """The endpoints of one engine; an async context manager that watches over them."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        card: EngineCard,
        timings: ProbeTimings,
        *,
        patience: float,
        on_deadly_request: Callable[[], None] = lambda: None,
    ) -> None:
        """`patience` is how many seconds an endpoint may be dead before it counts as lost."""
        self._patience = patience
        self.on_deadly_request = on_deadly_request
        """Called when deaths of a server are put down to a request, which is given up."""
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self._card = card
        self._timings = timings
        self._changed = asyncio.Event()
        self._tasks = asyncio.TaskGroup()
        self._watchers: list[asyncio.Task[None]] = []
        self.residents = Residents(
            {end.name: end.turns for end in endpoints},
            lambda name: self._endpoints[name].health.is_live,
        )
        """The episodes that live at the endpoints."""

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._watchers = [
            self._tasks.create_task(work(endpoint), name=f"{work.__name__} {endpoint.name}")
            for endpoint in self.endpoints
            for work in (self._watch, self._measure, self._count_pauses)
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        for endpoint in self.endpoints:
            if endpoint.examination is not None:
                endpoint.examination.cancel()
        for watcher in self._watchers:
            watcher.cancel()
        await self._tasks.__aexit__(None, None, None)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """All of them."""
        return tuple(self._endpoints.values())

    @property
    def live_count(self) -> int:
        """The number of endpoints that take requests."""
        return sum(endpoint.health.is_live for endpoint in self.endpoints)

    @property
    def problems(self) -> str:
        """The problems of the unhealthy endpoints; empty if all are healthy."""
        unhealthy = [end for end in self.endpoints if end.health.reason]
        return "; ".join(f"{end.name}: {end.health.reason}" for end in unhealthy)

    async def select(
        self, session: str, *, stopwatch: Stopwatch | None, avoid: frozenset[str]
    ) -> Endpoint:
        """Return the endpoint that a conversation asks now, once there is one.

        Raises:
            NoEngine: every endpoint is lost.
        """
        endpoint = self._choose(session, avoid)
        if endpoint:
            return endpoint
        with _pause(stopwatch):
            while not (endpoint := self._choose(session, avoid)):
                left = self._seconds_left()
                if left <= 0:
                    (one, *_) = self.endpoints
                    raise NoEngine(
                        f"no engine is left to ask ({self.problems}); mend the server, its key or "
                        f"{one.transport.named_by}"
                    )
                await _is_set_within(self._changed, _POLL_SECONDS if self.live_count else left)
        return endpoint

    async def pause(self, seconds: float, *, stopwatch: Stopwatch | None) -> None:
        """Wait before a request is sent again; the wait does not count where no endpoint is up."""
        with _pause(None if self.live_count else stopwatch):
            await asyncio.sleep(seconds)

    def report_failure(self, endpoint: Endpoint, reason: str) -> None:
        """Record that a request failed at an endpoint."""
        self._set_health(endpoint, endpoint.health.after_failure(reason))
        endpoint.wake.set()

    async def has_died(self, endpoint: Endpoint, *, since: int) -> bool:
        """Return whether an endpoint, which had died `since` times before, died once more.

        While it is suspect, its probe decides that; the call waits for it.
        """
        while endpoint.health.phase is Phase.SUSPECT:
            await self._changed.wait()
        return endpoint.deaths > since

    def excuse(self, endpoint: Endpoint) -> None:
        """Put the deaths of an endpoint down to a request that is given up.

        A server that died of several in a row, and has replied to nothing in between, may die of whatever it is asked.
        It is excused for more only with its next reply, if there is one.
        """
        endpoint.convictions += 1
        if endpoint.convictions <= _MAX_CONVICTIONS:
            self.on_deadly_request()

    def clear(self, endpoint: Endpoint) -> None:
        """Note that an endpoint has replied, so that whatever it died of before was a request."""
        if endpoint.convictions > _MAX_CONVICTIONS:
            self.on_deadly_request()
        endpoint.convictions = 0

    async def is_lost(self, endpoint: Endpoint, *, status: int | None) -> bool:
        """Return whether an endpoint that failed a request for good fails every request.

        `status` is that of its answer; None: it gave no whole reply. The endpoint gets a request as small
        as a preflight, one at a time for all callers. If that fails in the same way, the endpoint gets no
        more requests.
        """
        if endpoint.health.phase is Phase.LOST:
            return True
        if endpoint.examination is None or endpoint.examination.done():
            endpoint.examination = self._tasks.create_task(self._examine(endpoint))
            endpoint.examined_at = _now()
        fault = await asyncio.shield(endpoint.examination)
        if fault is None or not _is_same(status, fault.status):
            return False
        if status is None and (endpoint.replied_at or -math.inf) >= endpoint.examined_at:
            return False  # it is slow, and others get their replies meanwhile
        self.lose(endpoint, fault.reason, abandons=status is None)
        return True

    def lose(self, endpoint: Endpoint, reason: str, *, abandons: bool) -> None:
        """Stop using an endpoint; with `abandons`, abandon its pending requests."""
        self._set_health(endpoint, endpoint.health.after_loss(reason))
        if abandons:
            endpoint.abandon()

    async def _examine(
        self, endpoint: Endpoint, *, limit: float = _EXAMINATION_SECONDS
    ) -> Fault | None:
        """Return why an endpoint does not reply to a small request in time; None: it does."""
        body = RequestBody(_SMALL_PROMPT, _SMALL_SAMPLING, model=self._card.model)
        seconds = min(limit, self._patience)
        try:
            async with endpoint.gate.entry(alone=False), asyncio.timeout(seconds):
                answer = await endpoint.transport.post_chat(
                    body.encode(endpoint.quirks), session=_EXAMINATION, seconds=seconds
                )
        except TimeoutError:
            return Fault(
                f"no reply in {self._patience:g} s, nor to a small request in {seconds:g} s"
            )
        except (IncompleteResponse, ResponseTooLarge) as error:
            return Fault(str(error))
        if not answer.ok:
            return Fault(f"HTTP {answer.status}: {error_message(answer.body)}", answer.status)
        try:
            read_completion(answer.body)
        except InvalidCompletion as error:
            return Fault(str(error))
        return None

    def _seconds_left(self) -> float:
        """Return after how many seconds every endpoint counts as lost, if none comes back."""
        return max(end.health.lost_at(self._patience) for end in self.endpoints) - _now()

    def _choose(self, session: str, avoid: frozenset[str]) -> Endpoint | None:
        """Return the endpoint where the conversation's episode lives, or another while that is suspect or to be avoided."""
        home = self.residents.home(session)
        if home is not None and self._endpoints[home].health.phase in {Phase.DEAD, Phase.LOST}:
            home = self.residents.move(session)
        if home is not None and home not in avoid:
            found = self._choose_among({home: self._endpoints[home]}, session, avoid)
            if found is not None or len(self._endpoints) == 1:
                return found
        return self._choose_among(self._endpoints, session, avoid)

    def _choose_among(
        self, endpoints: Mapping[str, Endpoint], session: str, avoid: frozenset[str]
    ) -> Endpoint | None:
        name = choose_endpoint(
            {name: endpoint.health for name, endpoint in endpoints.items()},
            session,
            now=_now(),
            timings=self._timings,
            avoid=avoid,
        )
        return self._endpoints[name] if name else None

    def _set_health(self, endpoint: Endpoint, health: EndpointHealth) -> None:
        """Set the health of an endpoint, and wake the requests and episodes that wait for one."""
        before, endpoint.health = endpoint.health, health
        if before.phase is health.phase:
            return
        endpoint.deaths += health.phase is Phase.DEAD
        if {Phase.DEAD, Phase.LOST} & {before.phase, health.phase}:
            LOG.warning("%s is %s: %s", endpoint.name, health.phase, health.reason or "it answers")
        self._changed.set()
        self._changed = asyncio.Event()
        self.residents.look()

    async def _watch(self, endpoint: Endpoint) -> None:
        """Probe an endpoint whenever the rules say so."""
        while True:
            endpoint.wake.clear()
            pause = endpoint.health.next_probe(self._timings, has_requests=bool(endpoint.timeouts))
            if pause != 0 and await _is_set_within(endpoint.wake, pause):
                continue
            if pause is None:
                continue
            problem = await self._probe(endpoint)
            health = endpoint.health.after_probe(problem, now=_now(), timings=self._timings)
            still = await self._standstill(endpoint) if health.is_live else None
            if still is not None:
                health = endpoint.health.after_standstill(still, now=_now(), timings=self._timings)
            self._set_health(endpoint, health)
            if health.is_gone(self._timings):
                endpoint.abandon()

    async def _measure(self, endpoint: Endpoint) -> None:
        """Read an endpoint's metrics while requests to it are under way."""
        await self.residents.measure(
            endpoint.transport,
            endpoint.turns,
            lambda: bool(endpoint.timeouts) and endpoint.health.is_live,
            seconds=self._timings.probe_timeout,
        )

    async def _count_pauses(self, endpoint: Endpoint) -> None:
        """Count the time for which an endpoint whose weights change is paused."""
        if endpoint.weights is not None:
            await endpoint.weights.count_pauses(endpoint.busy)

    async def _probe(self, endpoint: Endpoint) -> str | None:
        """Return the problem that a probe found with an endpoint; None: it is healthy."""
        seconds = self._timings.probe_timeout
        try:
            answer = await endpoint.transport.get(endpoint.probe_path, seconds=seconds)
            if answer.status >= _BROKEN:
                return f"HTTP {answer.status}"
            if endpoint.health.phase is not Phase.DEAD:
                return None
            if problem := await self._examine_standstill(endpoint):
                return problem
            card = await discover(endpoint.transport, model=self._card.model, seconds=seconds)
        except (IncompleteResponse, ResponseTooLarge, NoEngine) as error:
            return str(error)
        difference = card_difference(self._card, card)
        return f"it came back with another {difference}" if difference else None

    async def _standstill(self, endpoint: Endpoint) -> str | None:
        """Return why an endpoint that answers is as good as dead; None: it computes, or nobody knows."""
        if endpoint.standstill is None:
            return None
        seconds = self._timings.probe_timeout
        return await endpoint.standstill.problem(busy_since=endpoint.busy_since, seconds=seconds)

    async def _examine_standstill(self, endpoint: Endpoint) -> str | None:
        """Return why an endpoint that stood still is not asked yet; None: it computes again, or never stood still."""
        watch = endpoint.standstill
        if watch is None or not watch.found:
            return None
        seconds = self._timings.probe_timeout
        if not await watch.has_moved(seconds=seconds):
            fault = await self._examine(endpoint, limit=seconds)
            if fault is not None:
                late = f"it computes nothing for its requests, nor for a small one in {seconds:g} s"
                return late if fault.status is None else fault.reason
        watch.found = False
        return None


def _is_same(status: int | None, small: int | None) -> bool:
    """Return whether a request and a small one failed in the same way: refused alike, or neither refused."""
    refused = [
        one is not None and status_meaning(one) is StatusMeaning.REFUSED for one in (status, small)
    ]
    return status == small if any(refused) else True


async def _is_set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait for an event, at most so long and `_IDLE_SECONDS`; return whether it came."""
    try:
        async with asyncio.timeout(
            _IDLE_SECONDS if seconds is None else min(seconds, _IDLE_SECONDS)
        ):
            await event.wait()
    except TimeoutError:
        return False
    return True


@contextlib.contextmanager
def _pause(stopwatch: Stopwatch | None) -> Iterator[None]:
    with stopwatch.pause() if stopwatch else contextlib.nullcontext():
        yield


def _now() -> float:
    return asyncio.get_running_loop().time()
