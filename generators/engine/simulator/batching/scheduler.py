"""The iterations of a server that batches continuously, after vLLM 0.26's `v1/core/sched/scheduler.py`.

An iteration gives each reply that is being written a token, and shares what is left of its tokens among prompts in the
order of their admission, which is that of their arrival or, with `--scheduling-policy priority`, of their priority. Where
states can be found again, the part of a prompt that an iteration reads ends at the end of a block
(`_mamba_block_aligned_split`), so that a part may be empty; and it begins no picture that the encoder has no room for
(`_try_schedule_encoder_inputs`). Both together can stand still for ever. A request that finds no room makes the youngest
one start again, or the least urgent one.

Replies are counted, not walked: between two events every one of them gets a token in each iteration.
"""

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from generators.engine.simulator.batching.blocks import Piece, Pool
from generators.engine.simulator.batching.holdings import Holdings
from generators.engine.simulator.batching.pictures import PictureCache
from generators.engine.simulator.batching.presets import ServerPreset
from generators.engine.simulator.batching.requests import BatchedRequest

_AHEAD = 1
"""Iterations that are planned before the last one's end is known (`--async-scheduling`)."""

_Event = tuple[int, int, BatchedRequest, int]
"""The iteration in which it is due, a number that breaks ties, the request, and when that was to end as this was planned."""


@dataclass(slots=True)
class Load:
    """What an iteration does."""

    read: int = 0
    """Tokens of prompts."""
    encoded: int = 0
    """Tokens of pictures."""
    written: int = 0
    """Tokens of replies."""


@dataclass(slots=True)
class Totals:
    """Counters from the beginning on, in vLLM's sense."""

    prompt_tokens: int = 0
    """Tokens of prompts whose first token has come."""
    cached_tokens: int = 0
    """The number of these that the cache served."""
    generation_tokens: int = 0
    """Tokens of replies."""
    computed_tokens: int = 0
    """Tokens of prompts that were read, again after a preemption too."""
    encoded_tokens: int = 0
    """Tokens of pictures that were encoded."""
    queries: int = 0
    """Tokens that were looked up, at each try to admit a request."""
    hits: int = 0
    """The number of these that were found."""
    preemptions: int = 0
    """Requests that had to make room."""


class Batcher:
    """The scheduler of one server. Time is the caller's."""

    def __init__(self, preset: ServerPreset, *, by_priority: bool = False) -> None:
        """`by_priority`: requests begin by their priority, not in the order of their arrival, and the least urgent one makes room."""
        self.preset = preset
        self._by_priority = by_priority
        self.memory = Holdings(preset)
        """The memory of its requests."""
        self.waiting: deque[BatchedRequest] = deque()
        """Requests that are not worked on."""
        self.reading: list[BatchedRequest] = []
        """Requests whose prompts are being read, in the order of their admission."""
        self.writing: set[BatchedRequest] = set()
        """Requests whose replies are being written."""
        self.totals = Totals()
        self.iteration = 0
        """Number of the last iteration."""
        self._ends: list[_Event] = []
        self._crossings: list[_Event] = []
        self._tie = 0
        self._admissions = 0
        self._pictures = PictureCache(preset.encoder_tokens)
        self._under_way: deque[list[tuple[BatchedRequest, Piece | None]]] = deque(
            [] for _ in range(1 + _AHEAD)
        )

    @property
    def pool(self) -> Pool:
        """All memory."""
        return self.memory.pool

    @property
    def running(self) -> int:
        """Requests that are worked on."""
        return len(self.reading) + len(self.writing)

    @property
    def usage(self) -> float:
        """The share of memory in use (`kv_cache_usage_perc`)."""
        return self.pool.used / self.pool.blocks

    def add(self, request: BatchedRequest) -> None:
        """Let a request wait for its turn."""
        self.waiting.append(request)
        self._sort()

    def _sort(self) -> None:
        if self._by_priority:
            self.waiting = deque(sorted(self.waiting, key=lambda one: one.urgency))

    def remove(self, request: BatchedRequest) -> None:
        """Drop a request whose caller is gone."""
        if request in self.writing:
            self.writing.discard(request)
        elif request in self.reading:
            self.reading.remove(request)
        elif request in self.waiting:
            self.waiting.remove(request)
        self._release(request)
        request.done = request.done or 0.0

    def step(self, now: float, until: float) -> tuple[float, list[BatchedRequest]]:
        """Do one iteration, or as many as bring tokens of replies alone and nothing else, and return their time and what is done.

        They begin at `now`; further ones begin before `until`, when somebody else may ask. The time is 0.0 where nothing
        can be done: nobody asks, or the server stands still.
        """
        self.iteration += 1
        load = self._schedule(now)
        if not (load.read or load.written):
            return self.preset.iteration_seconds if any(self._under_way) else 0.0, []
        seconds = self._seconds(load)
        if not load.read and not self.waiting and not self.reading:
            seconds = self._write_on(seconds, now, until)
        self.totals.computed_tokens += load.read
        self.totals.encoded_tokens += load.encoded
        return seconds, self._finish(now + seconds)

    def _seconds(self, load: Load) -> float:
        preset = self.preset
        return (
            preset.iteration_seconds
            + preset.token_seconds * load.read
            + preset.picture_token_seconds * load.encoded
            + preset.reply_token_seconds * load.written
        )

    def _write_on(self, seconds: float, now: float, until: float) -> float:
        """Go on to the next event, or to `until`, while nothing but replies is worked on."""
        due = min((one[0][0] for one in (self._ends, self._crossings) if one), default=0)
        more = max(0, min(due - self.iteration - 1, int((until - now) / seconds)))
        self.iteration += more
        self.totals.generation_tokens += more * len(self.writing)
        return seconds * (1 + more)

    # What an iteration does

    def _schedule(self, now: float) -> Load:
        load = Load()
        self.memory.begin_iteration()
        self._leave_behind()
        was = self.totals.preemptions
        self._make_room_to_write()
        budget = self.preset.batched_tokens - len(self.writing)
        encoder = self.preset.encoder_tokens
        for request in list(self.reading):
            if budget <= 0:
                break
            if request not in self.reading:  # it had to make room
                continue
            part, sights = self._part(request, request.computed, budget, encoder)
            if part and self._make_room(request, request.computed + part):
                budget -= part
                encoder -= self._read(request, part, sights, load)
        if self.totals.preemptions == was:
            self._admit(budget, encoder, load, now)
        load.written = len(self.writing)
        return load

    def _leave_behind(self) -> None:
        """Leave what the iteration before the last one was the last to need."""
        for request, state in self._under_way.popleft():
            self._pictures.leave_read(request)
            if request in self.writing and state in request.states:
                newest = len(request.states) - request.states.index(state)
                self.memory.leave_states(request, newest)
        self._under_way.append([])

    def _admit(self, budget: int, encoder: int, load: Load, now: float) -> None:
        """Begin with requests that wait, in order, until one cannot begin."""
        while self.waiting and budget > 0 and self.running < self.preset.sequences:
            request = self.waiting[0]
            found, state, junction = self._look_up(request)
            request.junction = junction
            part, sights = self._part(request, found, budget, encoder)
            if not part:
                return
            if not self.memory.fits(request, found, state):
                self._pictures.leave_all(request)
                return
            self.waiting.popleft()
            self.memory.begin(request, found, state)
            self._admissions += 1
            request.turn = self._admissions
            if request.admitted is None:
                request.admitted, request.cached = now, found
            self.reading.append(request)
            if not self._make_room(request, found + part):
                raise AssertionError("a request that fits found no room")
            budget -= part
            encoder -= self._read(request, part, sights, load)

    def _look_up(self, request: BatchedRequest) -> tuple[int, Piece | None, int]:
        found, state, junction = self.memory.look_up(request)
        if self.preset.caches:
            self.totals.queries += request.length
            self.totals.hits += found
        return found, state, junction

    def _part(
        self, request: BatchedRequest, start: int, budget: int, encoder: int
    ) -> tuple[int, list[int]]:
        """Return how much of a prompt an iteration reads from `start`, and which pictures it encodes for that."""
        part = min(request.length - start, budget)
        part, sights = self._see(request, start, part, encoder)
        if part and self.preset.caches and self.preset.state_blocks:
            part = self._align(request, start, part)
        return part, sights

    def _see(
        self, request: BatchedRequest, start: int, part: int, encoder: int
    ) -> tuple[int, list[int]]:
        """Return the part up to the first picture that the encoder has no room for, and those to encode."""
        sights: dict[int, int] = {}
        wanted = 0
        for index, sight in enumerate(request.sights):
            if sight.start >= start + part:
                break
            is_read = sight.start + sight.tokens <= start
            if is_read or sight.content in sights or self._pictures.find(request, index):
                continue
            wanted += sight.tokens
            if wanted > encoder or not self._pictures.make_room(wanted):
                part = max(0, sight.start - start)
                break
            sights[sight.content] = index
        return part, list(sights.values())

    def _align(self, request: BatchedRequest, start: int, part: int) -> int:
        """Return the part up to the end of a block whose state is kept."""
        block, end = self.preset.block_tokens, start + part
        last = request.length - request.length % block
        if end < last:
            end = end // block * block
        stops = [last]
        if start < request.junction < end:
            stops.append(start + (request.junction - start) // block * block)
        return max(min([stop for stop in stops if start < stop < end], default=end) - start, 0)

    def _read(self, request: BatchedRequest, part: int, sights: list[int], load: Load) -> int:
        """Read a part of a prompt, and return how many tokens of pictures are encoded for it."""
        for index in sights:
            self._pictures.put(request, index)
        tokens = sum(request.sights[index].tokens for index in sights)
        request.computed += part
        request.read_at = self.iteration
        load.read += part
        load.encoded += tokens
        self._under_way[-1].append((request, request.states[-1] if request.states else None))
        return tokens

    # Memory

    def _make_room(self, request: BatchedRequest, end: int) -> bool:
        """Take the memory for a prompt up to `end`; False: there is none, whoever else makes room."""
        # The state before the last one is read by the iteration under way.
        self.memory.leave_states(request, 2 if request.read_at == self.iteration - 1 else 1)
        while self.pool.free < sum(self.memory.needs(request, end)):
            if not self._preempt_for(request):
                return False
        self.memory.take(request, end)
        return True

    def _make_room_to_write(self) -> None:
        """Take the memory for replies that get to a new block in this iteration."""
        for request in sorted(self._due(self._crossings), key=lambda one: one.turn):
            if request not in self.writing:  # it had to make room
                continue
            at = request.computed_at(self.iteration - 1)
            self.memory.keep(request, at)
            if self._make_room(request, at + 1):
                self._under_way[-1].append(
                    (request, request.states[-1] if request.states else None)
                )
                self._plan_crossing(request)

    def _due(self, events: list["_Event"]) -> Iterator[BatchedRequest]:
        """Yield the requests being written whose events are due, and drop those events."""
        while events and events[0][0] <= self.iteration:
            _, _, request, ends_at = heapq.heappop(events)
            if request in self.writing and request.ends_at == ends_at:
                yield request

    def _preempt_for(self, request: BatchedRequest) -> bool:
        """Let the youngest request begin again, which may be this one itself; return whether it is another."""
        if self._by_priority:
            youngest = max((*self.reading, *self.writing), key=lambda one: one.urgency)
        else:
            youngest = max((*self.reading[-1:], *self.writing), key=lambda one: one.turn)
        if youngest in self.writing:
            self.writing.discard(youngest)
            youngest.written = youngest.computed_at(self.iteration - 1) + 1 - youngest.prompt
        else:
            self.reading.remove(youngest)
        self._release(youngest)
        youngest.computed = 0
        youngest.preemptions += 1
        self.totals.preemptions += 1
        self.waiting.appendleft(youngest)
        self._sort()
        return youngest is not request

    def _release(self, request: BatchedRequest) -> None:
        self.memory.release(request)
        self._pictures.leave_all(request)

    # The end of an iteration

    def _finish(self, now: float) -> list[BatchedRequest]:
        """Give tokens out, and return the requests that are done."""
        self.totals.generation_tokens += len(self.writing)
        for request in [one for one in self.reading if one.computed >= one.length]:
            self.reading.remove(request)
            if request.first_token is None:
                request.first_token = now
                self.totals.prompt_tokens += request.prompt
                self.totals.cached_tokens += request.cached
            self.totals.generation_tokens += 1
            request.ends_at = self.iteration + request.reply - request.written - 1
            self.writing.add(request)
            self._tie += 1
            heapq.heappush(self._ends, (request.ends_at, self._tie, request, request.ends_at))
            self._plan_crossing(request)
        done = list(self._due(self._ends))
        for request in done:
            self.writing.discard(request)
            self._release(request)
            request.done = now
        return done

    def _plan_crossing(self, request: BatchedRequest) -> None:
        """Note when a reply needs another block."""
        block = self.preset.block_tokens
        due = self.iteration + (-request.computed_at(self.iteration)) % block + 1
        if due <= request.ends_at:
            self._tie += 1
            heapq.heappush(self._crossings, (due, self._tie, request, request.ends_at))
