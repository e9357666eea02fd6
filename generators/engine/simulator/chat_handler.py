"""Handles chat requests: reads, checks, answers, sends and logs them.

The handler holds everything that lasts: caches, counters, queued replies, faults. It knows what a
chat needs of HTTP (a body in, a response out) and no other page of the server.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from random import Random
from time import perf_counter

from aiohttp import web

from generators.engine.simulator.chat import SCHEMA_FIELDS, Chat, read_chat
from generators.engine.simulator.faults import STATUS, ActiveFaults, Fault, FaultBoard, FaultKind
from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.limits import check_chat, check_fields, max_reply_tokens
from generators.engine.simulator.metrics import EngineCounters
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.pictures import ImageCache
from generators.engine.simulator.prefix_cache import PrefixCache, blocks_of
from generators.engine.simulator.replies import QueuedReplies, generate_reply, request_seed
from generators.engine.simulator.request_log import LoggedChat, RequestLog, drop_pictures
from generators.engine.simulator.response import (
    STREAM_TOKENS,
    ReplyUsage,
    ResponseBody,
    TokenizedReply,
    send_events,
    send_plain,
    tokenize_reply,
    wait_forever,
)
from generators.engine.simulator.tokenizer import Prompt, Tokenizer
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
        self._slots = asyncio.Semaphore(options.at_once)

    async def chat(self, request: web.Request, strikes: ActiveFaults) -> web.StreamResponse:
        """Answer a chat.

        Raises:
            HttpRefusal: it cannot be answered, or a fault says so.
        """
        session = request.headers.get(SESSION)
        entry = self.request_log.open(session, strikes.kinds)
        with self._logged(entry):
            came = perf_counter()
            body = await read_object(request)
            entry.body = body
            await self.apply_faults(strikes)
            chat, prompt = self._read_checked(body, strikes)
            entry.prompt_tokens = len(prompt.ids)
            async with self._slot(prompt) as queued:
                return await self._reply(
                    request, chat, prompt, entry=entry, strikes=strikes, came=came, queued=queued
                )

    async def apply_faults(self, strikes: ActiveFaults) -> None:
        """Apply the faults that are the same for every path.

        Raises:
            HttpRefusal: one is a status.
        """
        if slow := strikes.get(FaultKind.SLOW):
            await asyncio.sleep(slow.seconds)
        if strikes.get(FaultKind.STUCK, FaultKind.HANGING_HEALTH):
            await wait_forever()
        if status := strikes.get(*STATUS):
            raise fault_refusal(status)

    def read(self, body: JsonObject, strikes: ActiveFaults) -> Chat:
        """Return the chat that a body asks for, whether or not it can be served.

        Raises:
            HttpRefusal: it is not a chat.
        """
        unstructured = strikes.get(FaultKind.UNSTRUCTURED)
        deaf_to = (unstructured.fields or SCHEMA_FIELDS) if unstructured else ()
        return read_chat(body, self.images, ignored_fields=deaf_to, model=self.options.model)

    def _read_checked(self, body: JsonObject, strikes: ActiveFaults) -> tuple[Chat, Prompt]:
        if unknown := strikes.get(FaultKind.UNKNOWN_FIELDS):
            check_fields(body, unknown.fields)
        chat = self.read(body, strikes)
        prompt = self.tokenizer.prompt(chat)
        text_only = FaultKind.NO_PICTURES in strikes
        check_chat(chat, prompt, self.options, text_only=text_only)
        return chat, prompt

    async def _reply(
        self,
        request: web.Request,
        chat: Chat,
        prompt: Prompt,
        *,
        entry: LoggedChat,
        strikes: ActiveFaults,
        came: float,
        queued: float,
    ) -> web.StreamResponse:
        read = blocks_of(prompt.keys)
        cached = self.cache.look_up(read)
        self.cache.keep(read)
        self.counters.prompt_tokens += len(prompt.ids)
        self.counters.cached_tokens += cached
        entry.cached_tokens = cached
        account = ReplyUsage(self.options, prompt, cached, queued)
        told = self.queued_replies.take(entry.session)
        sent = False
        try:
            made = await generate_reply(chat, prompt, self.options, strikes=strikes, queued=told)
            most = (
                None if FaultKind.HUGE in strikes else max_reply_tokens(chat, prompt, self.options)
            )
            said = tokenize_reply(made, self.tokenizer, number=entry.number, most=most)
            response, left = await self._send(
                request, chat, account, said=said, strikes=strikes, came=came
            )
            entry.puppet = sent = left and made.verbatim
        finally:
            if told is not None and entry.session is not None and not sent:
                self.queued_replies.put_back(entry.session, told)
        self.cache.keep(blocks_of(said.ids, after=read))
        self._record(entry, said, whole=left)
        self.counters.e2e.observe(perf_counter() - came)
        return response

    async def _send(
        self,
        request: web.Request,
        chat: Chat,
        account: ReplyUsage,
        *,
        said: TokenizedReply,
        strikes: ActiveFaults,
        came: float,
    ) -> tuple[web.StreamResponse, bool]:
        """Send a reply after its delay; the first token comes half-way."""
        delay = self._delay(chat, account.prompt)
        writer = ResponseBody(chat, said, strikes, account)
        if not chat.stream and FaultKind.STREAM_ERROR in strikes:
            raise HttpRefusal(500, "EngineCore encountered an issue")
        if delay:
            await asyncio.sleep(delay / 2)
        account.first = perf_counter()
        self.counters.ttft.observe(account.first - came)
        if not chat.stream:
            if delay:
                await asyncio.sleep(delay / 2)
            return await send_plain(request, writer.plain(), strikes)
        events = len(said.ids) // STREAM_TOKENS + 3
        return await send_events(request, writer.events(), strikes, pause=delay / 2 / events)

    def _delay(self, chat: Chat, prompt: Prompt) -> float:
        low, high = self.options.delay_ms
        if high == low:
            return low / 1_000
        return Random(request_seed(chat, prompt, self.options)).uniform(low, high) / 1_000

    def _record(self, entry: LoggedChat, said: TokenizedReply, *, whole: bool) -> None:
        self.counters.generation_tokens += len(said.ids)
        entry.completion_tokens = len(said.ids)
        entry.finish_reason = said.finish
        entry.status = 200
        entry.outcome = "whole" if whole else "broken"
        reason = "length" if said.finish == "length" else "stop"
        self.counters.ended[reason if whole else "error"] += 1

    @asynccontextmanager
    async def _slot(self, prompt: Prompt) -> AsyncIterator[float]:
        """Hold one of the slots for requests in progress; yields the seconds of the wait."""
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
    def _logged(self, entry: LoggedChat) -> Iterator[None]:
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


def fault_refusal(fault: Fault) -> HttpRefusal:
    """Return the refusal that a fault stands for."""
    return HttpRefusal(
        STATUS[fault.kind], f"told to fail: {fault.kind}", retry_after=fault.retry_after
    )
