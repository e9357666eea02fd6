"""Handles chat requests: reads, checks, answers, sends and logs them.

The handler holds everything that lasts from one request to the next: caches, counters, queued
replies, faults. Of HTTP it knows a chat's body and its response, and no other page of the server.
"""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from random import Random
from time import perf_counter

from aiohttp import web

from generators.engine.simulator.batching.presets import read_presets
from generators.engine.simulator.batching.served import ServedClock
from generators.engine.simulator.chat import (
    SCHEMA_FIELDS,
    ChatRequest,
    check_chat,
    check_fields,
    read_chat,
)
from generators.engine.simulator.faults import STATUS, ActiveFaults, FaultBoard, FaultKind
from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.metrics import EngineCounters
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.pictures import ImageCache
from generators.engine.simulator.prefix_cache import PrefixCache, blocks_of
from generators.engine.simulator.replies import (
    QueuedReplies,
    generate_reply,
    is_blunder,
    request_seed,
)
from generators.engine.simulator.request_log import LoggedChat, RequestLog, drop_pictures
from generators.engine.simulator.response import (
    ABORTED,
    STREAM_TOKENS,
    ReplyUsage,
    ResponseBody,
    TokenizedReply,
    send_events,
    send_plain,
    tokenize_reply,
    wait_forever,
)
from generators.engine.simulator.tokenizer import TokenizedPrompt, Tokenizer
from generators.engine.simulator.weights import Aborted, Weights
from schemas.base import JsonObject

SESSION = "x-session-id"
"""The header that names the conversation of a request."""


class ChatHandler:
    """Answers chats; holds the simulator's state."""

    def __init__(self, options: SimulatorOptions) -> None:
        self.options = options
        self.tokenizer = Tokenizer()
        self.images = ImageCache()
        self.cache = PrefixCache(options.cache_blocks, on=options.prefix_cache)
        self.counters = EngineCounters()
        self.queued_replies = QueuedReplies()
        self.faults = FaultBoard()
        self.request_log = RequestLog()
        self.weights = Weights()
        self._slots = asyncio.Semaphore(options.at_once)
        preset = None if options.preset is None else read_presets()[options.preset]
        self.clock = (
            None
            if preset is None
            else ServedClock(preset, speed=options.speed, by_priority=options.by_priority)
        )
        """The clock of the server whose times it has; None: replies take their delay."""

    async def chat(self, request: web.Request, faults: ActiveFaults) -> web.StreamResponse:
        """Answer a chat.

        Raises:
            HttpRefusal: it cannot be answered, or a fault says so.
        """
        session = request.headers.get(SESSION)
        entry = self.request_log.open(session, faults.kinds)
        with self._log(entry):
            received = perf_counter()
            body = await read_object(request)
            entry.body = body
            await self.apply_faults(faults)
            if unknown := faults.get(FaultKind.UNKNOWN_FIELDS):
                check_fields(body, unknown.fields)
            chat = self.read(body, faults)
            prompt = self.tokenizer.prompt(chat)
            text_only = FaultKind.NO_PICTURES in faults
            check_chat(chat, len(prompt.ids), self.options, text_only=text_only)
            entry.prompt_tokens = len(prompt.ids)
            await self.weights.wait_until_going()
            async with self._slot(prompt) as queued:
                return await self._reply(
                    request,
                    chat,
                    prompt,
                    entry=entry,
                    faults=faults,
                    received=received,
                    queued=queued,
                )

    async def apply_faults(self, faults: ActiveFaults) -> None:
        """Apply the faults that are the same for every path.

        Raises:
            HttpRefusal: one is a status.
        """
        if slow := faults.get(FaultKind.SLOW):
            await asyncio.sleep(slow.seconds)
        if FaultKind.DEADLY in faults:
            os.kill(os.getpid(), signal.SIGKILL)
        if faults.get(FaultKind.STUCK, FaultKind.HANGING_HEALTH):
            await wait_forever()
        if status := faults.get(*STATUS):
            raise HttpRefusal(
                STATUS[status.kind], f"told to fail: {status.kind}", retry_after=status.retry_after
            )

    def read(self, body: JsonObject, faults: ActiveFaults) -> ChatRequest:
        """Return the chat that a body asks for, whether or not it can be served.

        Raises:
            HttpRefusal: it is not a chat.
        """
        unstructured = faults.get(FaultKind.UNSTRUCTURED)
        ignored = (unstructured.fields or SCHEMA_FIELDS) if unstructured else ()
        return read_chat(body, self.images, ignored_fields=ignored, model=self.options.model)

    async def _reply(
        self,
        request: web.Request,
        chat: ChatRequest,
        prompt: TokenizedPrompt,
        *,
        entry: LoggedChat,
        faults: ActiveFaults,
        received: float,
        queued: float,
    ) -> web.StreamResponse:
        """Answer a chat whose turn has come; `queued` are the seconds that it waited for it."""
        blocks = blocks_of(prompt.keys)
        cached = self.cache.look_up(blocks) if self.clock is None else 0
        self.cache.keep(blocks)
        self.counters.prompt_tokens += len(prompt.ids)
        self.counters.cached_tokens += cached
        usage = ReplyUsage(self.options, prompt, cached, queued)
        text = self.queued_replies.take(entry.session)
        if text is not None and is_blunder(chat, prompt, self.options):
            text = None
        used = False
        try:
            content = await generate_reply(chat, prompt, self.options, faults=faults, queued=text)
            max_tokens = chat.max_tokens or self.options.context_tokens - len(prompt.ids)
            reply = tokenize_reply(
                content,
                self.tokenizer,
                number=entry.number,
                max_tokens=None if FaultKind.HUGE in faults else max_tokens,
            )
            reply, paces = await self._write(chat, usage, reply, faults=faults, received=received)
            response, whole = await self._send(
                request, chat, usage, reply=reply, faults=faults, pause=paces
            )
            whole = whole and reply.finish != ABORTED
            entry.puppet = used = whole and content.verbatim
        finally:
            if text is not None and entry.session is not None and not used:
                self.queued_replies.put_back(entry.session, text)
        entry.cached_tokens = usage.cached
        self.cache.keep(blocks_of(reply.ids, after=blocks))
        self._record(entry, reply, whole=whole)
        self.counters.e2e.observe(perf_counter() - received)
        return response

    async def _write(
        self,
        chat: ChatRequest,
        usage: ReplyUsage,
        reply: TokenizedReply,
        *,
        faults: ActiveFaults,
        received: float,
    ) -> tuple[TokenizedReply, float]:
        """Write a reply, which takes its delay; return it as far as it was written, and the pause between its events.

        The first token comes half-way through the delay.
        """
        low, delay = (ms / 1_000 for ms in self.options.delay_ms)
        if low < delay:
            seed = request_seed(chat, usage.prompt, self.options)
            delay = Random(seed).uniform(*self.options.delay_ms) / 1_000
        if not chat.stream and FaultKind.STREAM_ERROR in faults:
            raise HttpRefusal(500, "EngineCore encountered an issue")
        ticket = None
        if self.clock is not None:
            ticket = self.clock.add(usage.prompt.keys, reply.ids, priority=chat.priority)
        try:
            with self.weights.reply() as ended:
                if ticket is not None:
                    await self.weights.write(ticket.wait_for_first(), ended)
                    usage.cached, usage.queued = ticket.request.cached, ticket.queued_seconds
                elif delay:
                    await self.weights.write(asyncio.sleep(delay / 2), ended)
                usage.first = perf_counter()
                self.counters.ttft.observe(usage.first - received)
                if ticket is not None:
                    await self.weights.write(ticket.wait_for_end(), ended)
                elif delay and not chat.stream:
                    await self.weights.write(asyncio.sleep(delay / 2), ended)
        except Aborted:
            reply = reply.abort()
        return reply, delay / 2 / (len(reply.ids) // STREAM_TOKENS + 3)

    async def _send(
        self,
        request: web.Request,
        chat: ChatRequest,
        usage: ReplyUsage,
        *,
        reply: TokenizedReply,
        faults: ActiveFaults,
        pause: float,
    ) -> tuple[web.StreamResponse, bool]:
        """Send a reply, the events of a stream `pause` seconds apart; return the response and whether all of it left."""
        body = ResponseBody(chat, reply, faults, usage)
        if not chat.stream:
            return await send_plain(request, body.plain(), faults)
        return await send_events(request, body.events(), faults, pause=pause)

    def _record(self, entry: LoggedChat, reply: TokenizedReply, *, whole: bool) -> None:
        """Log and count a reply that was sent, whole or not."""
        self.counters.generation_tokens += len(reply.ids)
        entry.completion_tokens = len(reply.ids)
        entry.finish_reason = reply.finish
        entry.status = 200
        entry.outcome = "whole" if whole else "broken"
        reason = reply.finish if reply.finish in {"length", "abort"} else "stop"
        self.counters.ended[reason if whole else "error"] += 1

    @asynccontextmanager
    async def _slot(self, prompt: TokenizedPrompt) -> AsyncIterator[float]:
        """Hold one of the slots for requests in progress; yields the seconds of the wait."""
        if self.clock is not None:  # it has turns of its own
            yield 0.0
            return
        asked = perf_counter()
        self.counters.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.counters.waiting -= 1
        queued = perf_counter() - asked
        self.counters.queue.observe(queued)
        self.counters.running += 1
        self.counters.tokens_running += len(prompt.ids)
        try:
            yield queued
        finally:
            self.counters.running -= 1
            self.counters.tokens_running -= len(prompt.ids)
            self._slots.release()

    @contextmanager
    def _log(self, entry: LoggedChat) -> Iterator[None]:
        """Log how a chat ended, whichever way it did."""
        try:
            yield
        except HttpRefusal as refusal:
            entry.status = refusal.status
            entry.outcome = "refused"
            raise
        except (asyncio.CancelledError, ConnectionError):
            entry.outcome = "aborted"
            self.counters.ended["abort"] += 1
            raise
        finally:
            drop_pictures(entry.body)
            self.request_log.close(entry)


async def read_object(request: web.Request) -> JsonObject:
    """Return a request's body.

    Raises:
        HttpRefusal: it is not a JSON object.
    """
    try:
        body = json.loads(await request.read())
    except ValueError as error:
        raise HttpRefusal(400, f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise HttpRefusal(400, "the body is not a JSON object")
    return body
