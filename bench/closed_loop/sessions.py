"""Sessions in a closed loop: each asks, waits for its reply, thinks, and asks again; episodes end and others begin."""

import heapq
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from bench.closed_loop.episodes import REPLY, LoopEpisode
from generators.engine.governor.gate import Gate
from generators.engine.governor.governor import Governor
from generators.engine.governor.signals import CallFigures, Gauges
from generators.engine.simulator.batching.presets import ServerPreset
from generators.engine.simulator.batching.requests import BatchedRequest
from generators.engine.simulator.batching.scheduler import Batcher, Totals

THINK_SECONDS, THINK_SPREAD = 1.5, 0.3
"""A browser's time between a reply and the next request, and by what share it differs."""

CLIENT_SECONDS = 0.0997
"""Time of a request outside the scheduler, fitted with the server's times: sending it, and decoding its pictures."""

GAUGE_SECONDS = 2.0
"""Between two looks at the server's page of metrics."""


@dataclass(slots=True)
class Load:
    """What is asked of a server."""

    wanted: int
    """Sessions that there are."""
    seed: int
    seconds: float
    """How long it goes on, in the clock's time."""
    shape: str = "window"
    picture_tokens: int = 1_280
    live: int | None = None
    """Episodes that live at a time; None: a governor says, or all that are wanted."""
    requests: int | None = None
    """Requests under way at a time; None: a governor says, or any number."""
    in_the_middle: bool = False
    """The first episodes begin in their middle."""
    says_cached: bool = True
    """Replies say how much of their prompts was cached."""
    gauge_age: float = 0.0
    """How old the metrics page is, seconds."""
    change: Callable[[float, Batcher], None] = lambda _now, _server: None
    """Is called before each iteration; may change the server."""


class Look(NamedTuple):
    """A server after an iteration."""

    at: float
    running: int
    waiting: int
    usage: float
    """The share of its memory in use."""
    written: int
    """Tokens of replies from the beginning on."""


@dataclass(slots=True)
class Account:
    """What came of a load."""

    ends: list[float] = field(default_factory=list)
    """When each reply was there."""
    latencies: list[float] = field(default_factory=list)
    """The seconds from each request to its reply, beside `ends`."""
    requests: list[BatchedRequest] = field(default_factory=list)
    """The requests in the order of their replies."""
    limits: list[tuple[float, int, int, str]] = field(default_factory=list)
    """When a governor set which limits, and why."""
    looks: list["Look"] = field(default_factory=list)
    """The server after each iteration."""
    totals: Totals = field(default_factory=Totals)
    stuck_at: float | None = None
    """When the server stood still with requests in it; None: it never did."""

    def window(self, begin: float, end: float) -> range:
        """Return the indices of the replies in a span of time."""
        first = next((i for i, at in enumerate(self.ends) if at >= begin), len(self.ends))
        last = next(
            (i for i in range(first, len(self.ends)) if self.ends[i] >= end), len(self.ends)
        )
        return range(first, last)

    def rate(self, begin: float, end: float) -> float:
        """Return the replies a second in a span."""
        return len(self.window(begin, end)) / (end - begin)

    def written_rate(self, begin: float, end: float) -> float:
        """Return the replies a second in a span by their tokens, which a short span counts better than their ends."""
        looks = [look for look in self.looks if begin <= look.at < end]
        return (looks[-1].written - looks[0].written) / REPLY / (looks[-1].at - looks[0].at)

    def latency(self, begin: float, end: float) -> float:
        """Return the median latency in a span, seconds."""
        found = [self.latencies[i] for i in self.window(begin, end)]
        return statistics.median(found) if found else float("inf")

    def share(self, begin: float, end: float) -> float:
        """Return the share of prompts in a span that the cache served."""
        found = [self.requests[i] for i in self.window(begin, end)]
        return sum(one.cached for one in found) / max(1, sum(one.prompt for one in found))


class ClosedLoop:
    """A load on a server, from its first request to the end of its time."""

    def __init__(self, preset: ServerPreset, load: Load, governor: Governor | None = None) -> None:
        self._preset, self._load, self._governor = preset, load, governor
        self._server = Batcher(preset)
        limits = governor.limits if governor else None
        live = load.live or (limits.live if limits else load.wanted)
        requests = load.requests or (limits.requests if limits else load.wanted)
        self._gate: Gate[int] = Gate(live, requests)
        self._random = Random(load.seed)
        self._now, self._begun, self._tie = 0.0, 0, 0
        self._due: list[tuple[float, int, int]] = []
        self._episodes: dict[int, LoopEpisode] = {}
        self._asked: dict[BatchedRequest, tuple[int, float, int]] = {}
        self._known: dict[int, Sequence[int]] = {}
        self._pages: list[tuple[float, Gauges]] = []
        self.account = Account(totals=self._server.totals)

    def run(self) -> Account:
        """Return what came of it."""
        load, server = self._load, self._server
        self._fill(in_the_middle=load.in_the_middle)
        while self._now < load.seconds:
            load.change(self._now, server)
            while self._due and self._due[0][0] <= self._now:
                self._gate.ask(heapq.heappop(self._due)[2])
            self._send()
            until = min(self._due[0][0] if self._due else load.seconds, load.seconds)
            if self._governor is not None:
                self._look()
                until = min(until, self._now + GAUGE_SECONDS)
            seconds, done = server.step(self._now, until)
            if seconds == 0.0:
                if not self._due:
                    self.account.stuck_at = self._now
                    break
                self._now = max(self._now, self._due[0][0])
                continue
            self._now += seconds
            written = server.totals.generation_tokens
            waiting = len(server.waiting)
            self.account.looks.append(
                Look(self._now, server.running, waiting, server.usage, written)
            )
            for request in done:
                self._receive(request)
        return self.account

    def _fill(self, *, in_the_middle: bool = False) -> None:
        while self._gate.has_room and self._gate.live < self._load.wanted:
            number, self._begun = self._begun, self._begun + 1
            random = Random(f"{self._load.seed}/{number}")
            episode = LoopEpisode(
                (self._load.seed, number), self._load.shape, self._load.picture_tokens, random
            )
            if in_the_middle:
                episode.go_to_middle()
            self._episodes[number] = episode
            self._gate.begin(number)
            self._later(self._now + self._random.uniform(0, 3.0 if in_the_middle else 1.0), number)

    def _later(self, at: float, number: int) -> None:
        self._tie += 1
        heapq.heappush(self._due, (at, self._tie, number))

    def _send(self) -> None:
        block = self._preset.block_tokens
        for number in self._gate.next():
            request = self._episodes[number].ask(self._now, block)
            common = 0
            for name, known in zip(request.names, self._known.get(number, ()), strict=False):
                if name != known:
                    break
                common += 1
            cacheable = min(common, (request.prompt - 1) // block) * block
            self._known[number] = request.names[: request.prompt // block]
            self._asked[request] = (number, self._now, cacheable)
            self._server.add(request)

    def _receive(self, request: BatchedRequest) -> None:
        number, asked, cacheable = self._asked.pop(request)
        self._gate.finish(number)
        seconds = self._now - asked + CLIENT_SECONDS
        self.account.ends.append(self._now)
        self.account.latencies.append(self._now - request.arrived + CLIENT_SECONDS)
        self.account.requests.append(request)
        if self._governor is not None:
            self._tell(
                self._governor,
                CallFigures(
                    str(number),
                    seconds,
                    request.prompt,
                    request.cached if self._says_cached else None,
                    cacheable,
                ),
            )
        episode = self._episodes[number]
        episode.step += 1
        if episode.step < episode.length:
            spread = self._random.uniform(1 - THINK_SPREAD, 1 + THINK_SPREAD)
            self._later(self._now + CLIENT_SECONDS + THINK_SECONDS * spread, number)
            return
        self._gate.end(number)
        del self._episodes[number]
        self._known.pop(number, None)
        if self._governor is not None:
            self._governor.forget(str(number))
        self._fill()

    @property
    def _says_cached(self) -> bool:
        return self._load.says_cached and self._preset.caches

    def _tell(self, governor: Governor, figures: CallFigures) -> None:
        before = governor.limits
        governor.hear(figures, self._now, live=self._gate.live)
        self._obey(governor, before)

    def _look(self) -> None:
        """Let the governor see the metrics page, as old as it is."""
        governor, pages = self._governor, self._pages
        if governor is None or (pages and self._now - pages[-1][0] < GAUGE_SECONDS):
            return
        totals, server = self._server.totals, self._server
        gauges = Gauges(
            server.running,
            len(server.waiting),
            totals.preemptions,
            totals.generation_tokens / REPLY,
        )
        pages.append((self._now, gauges))
        old = [page for at, page in pages if at <= self._now - self._load.gauge_age]
        if old and self._load.says_cached:
            before = governor.limits
            governor.read(old[-1])
            self._obey(governor, before)

    def _obey(self, governor: Governor, before: object) -> None:
        limits = governor.limits
        if limits is before:
            return
        self._gate.set_limits(limits.live, limits.requests)
        self.account.limits.append((self._now, limits.live, limits.requests, limits.because))
        self._fill()
