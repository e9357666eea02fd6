"""One request from its first try to its whole reply, with its failures and retries.

A request that was under way at a death of its server is a suspect (`suspects`). After two deaths each request is asked
alone, until the suspects have their replies; one that the server dies of then is given up. So requests that kill
their server end as one failure each, before the server does.

Deadlines are the caller's. The decisions are made elsewhere: `retry_policy` defines the meaning of a status
and the pauses, `endpoint_pool` chooses the endpoint, and `request_body` adapts the request to the server.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random

from generators.engine.client.context_length import is_too_long
from generators.engine.client.endpoint import AbandonedRequest, Endpoint
from generators.engine.client.endpoint_pool import EndpointPool
from generators.engine.client.failed_sends import FailedSend, FailedSends
from generators.engine.client.request_body import RequestBody, ServerQuirks
from generators.engine.client.response import (
    ChatCompletion,
    InvalidCompletion,
    error_message,
    partial_usage,
    read_completion,
)
from generators.engine.client.retry_policy import (
    RetryPolicy,
    StatusMeaning,
    requested_pause,
    status_meaning,
)
from generators.engine.client.suspects import MAX_DEATHS_AMONG_OTHERS
from generators.engine.client.transport import HttpResponse, IncompleteResponse, ResponseTooLarge
from generators.engine.client.weights import spans_between
from generators.engine.protocol import PromptTooLong, Reply
from generators.engine.stopwatch import Stopwatch
from schemas.episodes.call import StructuredMode, WeightsSpan
from schemas.errors import FailureKind, RolloutFailure

_ABORTED = frozenset({"abort", "cancelled"})
"""Finish reasons of a reply that the server ended, as a trainer's pause makes it do: vLLM, SGLang; TensorRT-LLM."""

_MAX_FULL_IN_A_ROW = 3
"""After this many tries in a row without room for one request, an endpoint is suspect."""


LOG = logging.getLogger(__name__)

_SERVER_BROKE = 500
_NO_ROOM = 503


class Request:
    """One request, from its first try to a whole reply."""

    def __init__(
        self,
        body: RequestBody,
        pool: EndpointPool,
        *,
        session: str,
        stopwatch: Stopwatch | None,
        retry_policy: RetryPolicy,
        random: Random,
        timeout_seconds: float,
    ) -> None:
        self._body = body
        self._pool = pool
        self._session = session
        self._stopwatch = stopwatch
        self._retry_policy = retry_policy
        self._random = random
        self._timeout_seconds = timeout_seconds
        self._failed_sends = FailedSends()
        self._quirks: dict[str, ServerQuirks] = {}
        self._endpoint: Endpoint | None = None
        self.deadline: asyncio.Timeout | None = None
        """When it is given up, which is put off while it waits for its turn; None: never."""
        self._deaths = 0
        self._under_way = False

    @property
    def last_failure(self) -> str:
        """The last failure and the number of tries; empty: none failed."""
        tries = self._failed_sends.tries
        return f"{tries[-1].reason} (asked {len(tries)} times)" if tries else ""

    async def run(self, *, logprobs_mode: str | None) -> Reply:
        """Send the request until a whole reply arrives.

        Raises:
            PromptTooLong: the prompt does not fit into the model's context.
            RolloutFailure: a server that replies to others refuses it for good, breaks on it again and
                again, or dies of it.
            NoEngine: no endpoint is left to ask.
        """
        while True:
            endpoint = self._endpoint = await self._pool.select(
                self._session,
                stopwatch=self._stopwatch,
                avoid=self._failed_sends.endpoints_to_avoid,
            )
            alone = self._has_to_be_alone(endpoint)
            async with self._take_turn(endpoint, alone=alone):
                if not endpoint.health.is_live:
                    continue  # it died while this request waited for its turn
                deaths = endpoint.deaths
                result = await self._send(endpoint, logprobs_mode)
                # While it is not known whether the server died, who is next would be taken for the cause.
                died = bool(result) and await self._has_died(endpoint, result, since=deaths)
            if isinstance(result, Reply):
                return result
            if result:
                if died:
                    self._count_death(endpoint, result, alone=alone)
                await self._pause_after(endpoint, result)

    def settle(self) -> None:
        """Be a suspect no more, because it has its reply or is given up."""
        for endpoint in self._pool.endpoints:
            endpoint.suspects.settle(self)

    @contextlib.asynccontextmanager
    async def _take_turn(self, endpoint: Endpoint, *, alone: bool) -> AsyncIterator[None]:
        """Hold a turn at an endpoint, alone if it may kill the server.

        The wait for it, which may be that of a parked episode, is not limited.
        """
        self._under_way = False
        deadline, now = self.deadline, asyncio.get_running_loop().time
        due = None if deadline is None else deadline.when()
        left = None if due is None else due - now()
        if deadline is not None:
            deadline.reschedule(None)
        async with (
            endpoint.turns.take(self._session, first=self in endpoint.suspects),
            endpoint.gate.entry(alone=alone),
        ):
            self._under_way = True
            if deadline is not None and left is not None:
                deadline.reschedule(now() + left)
            yield

    async def may_go_on(self) -> bool:
        """Return whether this request, which got no whole reply in time, may be retried.

        It may if no endpoint is up, for which the pool has its own time limit, if it waits for a request
        that is asked alone, or if its endpoint has stopped replying to any request and is lost. Otherwise
        the request is at fault.
        """
        endpoint = self._endpoint
        if endpoint is None or not endpoint.health.is_live:
            return True
        if endpoint.gate.is_solo and not self._under_way:
            return True
        return await self._pool.is_lost(endpoint, status=None)

    def _has_to_be_alone(self, endpoint: Endpoint) -> bool:
        return endpoint.suspects.are_tried or self._deaths >= MAX_DEATHS_AMONG_OTHERS

    async def _has_died(
        self, endpoint: Endpoint, result: Reply | FailedSend | None, *, since: int
    ) -> bool:
        """Return whether the server died while this request was under way, and let the pool look if it may have."""
        if not isinstance(result, FailedSend) or not result.endpoint_suspect:
            return False
        self._pool.report_failure(endpoint, result.reason)
        return result.may_have_killed and await self._pool.has_died(endpoint, since=since)

    def _count_death(self, endpoint: Endpoint, failed: FailedSend, *, alone: bool) -> None:
        """Count a death of the server while this request was under way.

        Raises:
            RolloutFailure: this request was the only one, after two deaths among others.
        """
        self._deaths += 1
        if alone:
            self._pool.excuse(endpoint)
            before = max(endpoint.suspects.deaths, self._deaths - 1)
            raise _failure(
                endpoint,
                f"{self._body.size} was asked alone after {before} deaths of its server, and the server died"
                f" again: {failed.reason}",
            )
        endpoint.suspects.add(self, death=endpoint.deaths)

    async def _send(
        self, endpoint: Endpoint, logprobs_mode: str | None
    ) -> Reply | FailedSend | None:
        """Send it once; None: send it again at once, adapted to the server."""
        quirks = self._quirks.get(endpoint.name, endpoint.quirks)
        body = self._body.encode(quirks, rank=endpoint.turns.rank(self._session))
        now, watch = asyncio.get_running_loop().time, endpoint.weights
        version = None if watch is None else await watch.version_before()
        paused = 0.0 if watch is None else watch.paused_seconds
        begun = now()
        try:
            answer = await endpoint.ask(body, session=self._session, seconds=self._timeout_seconds)
        except IncompleteResponse as error:
            return FailedSend(
                error.reason,
                reached_server=error.reached,
                broken=error.reached and not isinstance(error, AbandonedRequest),
                endpoint_suspect=True,
                tokens=partial_usage(error.partial_body),
            )
        except ResponseTooLarge as error:
            raise _failure(endpoint, str(error)) from error
        endpoint.health = endpoint.health.after_answer()
        if status_meaning(answer.status) is StatusMeaning.REFUSED:
            return self._adapt_to(endpoint, quirks, answer)
        if status_meaning(answer.status) is not StatusMeaning.DONE:
            return _failed_send(answer)
        try:
            completion = read_completion(answer.body)
        except InvalidCompletion as error:
            tokens = partial_usage(answer.body)
            return FailedSend(str(error), reached_server=True, broken=True, tokens=tokens)
        endpoint.replied_at = now()
        self._pool.clear(endpoint)
        if completion.finish_reason in _ABORTED:
            reason = f"the server ended the reply ({completion.finish_reason})"
            tokens = partial_usage(answer.body)
            return FailedSend(reason, reached_server=True, tokens=tokens)
        schema = self._body.canonical_schema
        if endpoint.name in self._quirks:
            LOG.warning("%s is asked in another way from now on: %s", endpoint.name, quirks)
            endpoint.quirks = endpoint.quirks.merged_with(quirks)
        return self._reply(
            completion,
            endpoint,
            structured_mode=None if schema is None else quirks.structured_mode(schema),
            left_out=self._body.left_out(quirks) if quirks.left_out else (),
            logprobs_mode=logprobs_mode,
            total_ms=(now() - begun) * 1_000,
            paused_ms=0.0 if watch is None else (watch.paused_seconds - paused) * 1_000,
            weights=completion.weights or await _weights(endpoint, version),
        )

    async def _pause_after(self, endpoint: Endpoint, failed: FailedSend) -> None:
        """Record a failed try and wait before the next one.

        Raises:
            RolloutFailure: the endpoint refuses or breaks on this request for good, and replies to a small one.
        """
        if endpoint.weights is not None:
            endpoint.weights.forget()  # a pause or a restart may have been the reason
        sends = self._failed_sends
        if failed.refused is not None:
            if not await self._pool.is_lost(endpoint, status=failed.refused):
                raise _failure(endpoint, failed.reason)
            return
        sends.add(failed, endpoint.name)
        if sends.full_in_a_row >= _MAX_FULL_IN_A_ROW:
            sends.full_in_a_row = 0
            self._pool.report_failure(endpoint, failed.reason)
        if sends.broken >= self._retry_policy.max_broken:
            if not await self._pool.is_lost(endpoint, status=None):
                raise _failure(endpoint, f"asked {sends.broken} times in vain: {failed.reason}")
            sends.broken_at.pop(endpoint.name)
        seconds = self._retry_policy.pause(
            len(self._failed_sends.tries), self._random, requested=failed.pause
        )
        await self._pool.pause(seconds, stopwatch=self._stopwatch)

    def _adapt_to(
        self, endpoint: Endpoint, quirks: ServerQuirks, answer: HttpResponse
    ) -> FailedSend | None:
        """Leave out what the server refuses; other requests do so too once a reply has come.

        Return the failure where it refuses something that cannot be left out.

        Raises:
            PromptTooLong: it refuses the length of the prompt.
        """
        message = error_message(answer.body)
        if is_too_long(answer.status, message):
            raise PromptTooLong(
                FailureKind.ENGINE, f"{endpoint.name}: HTTP {answer.status}: {message}"
            )
        adapted = quirks.after_refusal(message, schema=self._body.canonical_schema)
        if adapted is None or answer.status not in {400, 422}:
            return FailedSend(f"HTTP {answer.status}: {message}", refused=answer.status)
        LOG.info("%s refuses: %s", endpoint.name, message)
        self._quirks[endpoint.name] = adapted
        return None

    def _reply(
        self,
        completion: ChatCompletion,
        endpoint: Endpoint,
        *,
        structured_mode: StructuredMode | None,
        left_out: tuple[str, ...],
        logprobs_mode: str | None,
        total_ms: float,
        paused_ms: float,
        weights: tuple[WeightsSpan, ...],
    ) -> Reply:
        return Reply(
            text=completion.text,
            reasoning=completion.reasoning,
            finish_reason=completion.finish_reason,
            endpoint=endpoint.name,
            model=completion.model,
            weights=weights,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            cached_tokens=completion.cached_tokens,
            image_tokens=completion.image_tokens,
            prompt_token_ids=completion.prompt_token_ids,
            completion_token_ids=completion.completion_token_ids,
            completion_logprobs=completion.completion_logprobs,
            logprobs_mode=logprobs_mode if completion.completion_logprobs is not None else None,
            queue_ms=completion.queue_ms,
            ttft_ms=completion.ttft_ms,
            paused_ms=min(paused_ms, total_ms),
            total_ms=total_ms,
            block_tokens=endpoint.block_tokens,
            retries=len(self._failed_sends.tries),
            wasted_tokens=self._failed_sends.wasted_tokens(completion.prompt_tokens),
            structured_mode=structured_mode,
            left_out=left_out,
            cut_chars=completion.cut_chars,
        )


async def _weights(endpoint: Endpoint, before: str | None) -> tuple[WeightsSpan, ...]:
    """Return which weights may have written a reply that has just come; `before` is the version when it was asked for."""
    if endpoint.weights is None or before is None:
        return ()
    return spans_between(before, await endpoint.weights.version())


def _failed_send(answer: HttpResponse) -> FailedSend:
    """Return the failure that a status other than success and refusal means."""
    broke = status_meaning(answer.status) is StatusMeaning.BROKEN
    return FailedSend(
        f"HTTP {answer.status}: {error_message(answer.body)}",
        reached_server=broke and answer.status >= _SERVER_BROKE,
        broken=broke,
        endpoint_suspect=broke and answer.status >= _SERVER_BROKE,
        full=answer.status == _NO_ROOM,
        pause=requested_pause(answer.headers, now=datetime.now(UTC)),
    )


def _failure(endpoint: Endpoint, what: str) -> RolloutFailure:
    return RolloutFailure(FailureKind.ENGINE, f"{endpoint.name}: {what}")
