"""One request from its first try to its whole reply: what fails on the way, and what follows.

It knows no deadlines, which are its caller's, and decides nothing by itself: `retry_policy` says what
a status means and how long to pause, `endpoint_pool` which endpoint is asked, and `request_body`
what a server takes.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

from generators.engine.client.endpoint_pool import AbandonedRequest, Endpoint, EndpointPool
from generators.engine.client.request_body import RequestBody, ServerQuirks
from generators.engine.client.response import (
    Completion,
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
from generators.engine.client.transport import HttpResponse, IncompleteResponse, ResponseTooLarge
from generators.engine.protocol import Reply
from generators.engine.stopwatch import Stopwatch
from schemas.call import StructuredMode
from schemas.errors import FailureKind, RolloutFailure

_MAX_BROKEN_AT_ENDPOINT = 3
"""A request that broke so often at one endpoint is asked elsewhere, if there is an elsewhere."""


@dataclass(frozen=True)
class FailedTry:
    """One try that brought no whole reply."""

    reason: str
    """The reason, on one line."""
    reached_server: bool = False
    """The server may have worked for it."""
    broken: bool = False
    """It may be the request's own fault."""
    endpoint_suspect: bool = False
    """The endpoint may be dying."""
    tokens: int | None = None
    """What the part reply says it took; None: it does not say."""
    pause: float | None = None
    """What the server asks to be left alone for, seconds; None: it does not say."""


@dataclass
class FailedTries:
    """The failed tries of one request."""

    tries: list[FailedTry] = field(default_factory=list)
    """In order."""
    broken_at: dict[str, int] = field(default_factory=dict)
    """By endpoint, losses that may be the request's own fault."""

    def add(self, loss: FailedTry, endpoint: str) -> None:
        """Add one."""
        self.tries.append(loss)
        self.broken_at[endpoint] = self.broken_at.get(endpoint, 0) + loss.broken

    @property
    def broken(self) -> int:
        """How many may be the request's own fault."""
        return sum(self.broken_at.values())

    @property
    def endpoints_to_avoid(self) -> frozenset[str]:
        """The endpoints to use only where no other is up."""
        return frozenset(name for name, n in self.broken_at.items() if n >= _MAX_BROKEN_AT_ENDPOINT)

    def wasted_tokens(self, prompt_tokens: int | None) -> int | None:
        """Return the tokens that failed tries took; None: none, or the number is unknown.

        A part reply that does not say counts as its prompt, which is the prompt of the whole
        reply; what had been generated of it cannot be known and is left out.
        """
        counts = [
            prompt_tokens if loss.tokens is None else loss.tokens
            for loss in self.tries
            if loss.reached_server
        ]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None


LOG = logging.getLogger(__name__)

_SERVER_BROKE = 500


class Request:
    """One request, from its first try to a whole reply."""

    def __init__(
        self,
        question: RequestBody,
        roster: EndpointPool,
        *,
        session: str,
        stopwatch: Stopwatch | None,
        retry_policy: RetryPolicy,
        random: Random,
        patience: float,
    ) -> None:
        self._body = question
        self._pool = roster
        self._session = session
        self._stopwatch = stopwatch
        self._retry_policy = retry_policy
        self._random = random
        self._timeout_seconds = patience
        self._failed_tries = FailedTries()
        self._quirks: dict[str, ServerQuirks] = {}

    @property
    def last_failure(self) -> str:
        """The last failure and the number of tries; empty: none failed."""
        lost = self._failed_tries.tries
        return f"{lost[-1].reason} (asked {len(lost)} times)" if lost else ""

    async def run(self, *, logprobs_mode: str | None) -> Reply:
        """Send the request until a whole reply arrives.

        Raises:
            RolloutFailure: a server refuses it for good, or breaks on it again and again.
        """
        while True:
            endpoint = await self._pool.select(
                self._session,
                stopwatch=self._stopwatch,
                avoid=self._failed_tries.endpoints_to_avoid,
            )
            async with endpoint.slots:
                if not endpoint.health.is_live:
                    continue  # it died while this request waited for a slot
                found = await self._ask(endpoint, logprobs_mode)
            if isinstance(found, Reply):
                return found
            if found:
                await self._pause_after(endpoint, found)

    async def _ask(self, endpoint: Endpoint, logprobs_mode: str | None) -> Reply | FailedTry | None:
        """Send it once; None: send it again at once, adapted to the server."""
        manners = self._quirks.get(endpoint.name, endpoint.quirks)
        body = self._body.encode(manners)
        now = asyncio.get_running_loop().time
        begun = now()
        try:
            answer = await endpoint.ask(body, session=self._session, seconds=self._timeout_seconds)
        except IncompleteResponse as lost:
            return FailedTry(
                lost.reason,
                reached_server=lost.reached,
                broken=lost.reached and not isinstance(lost, AbandonedRequest),
                endpoint_suspect=True,
                tokens=partial_usage(lost.partial_body),
            )
        except ResponseTooLarge as error:
            raise _failure(endpoint, str(error)) from error
        endpoint.health = endpoint.health.after_answer()
        if status_meaning(answer.status) is StatusMeaning.REFUSED:
            self._adapt_to(endpoint, manners, answer)
            return None
        if status_meaning(answer.status) is not StatusMeaning.DONE:
            return _failed_try(answer)
        try:
            completion = read_completion(answer.body)
        except InvalidCompletion as error:
            tokens = partial_usage(answer.body)
            return FailedTry(str(error), reached_server=True, broken=True, tokens=tokens)
        if endpoint.name in self._quirks:
            LOG.warning("%s is asked in another way from now on: %s", endpoint.name, manners)
            endpoint.quirks = endpoint.quirks.merged_with(manners)
        return self._reply(
            completion,
            endpoint,
            structured_mode=self._structured_mode(manners),
            logprobs_mode=logprobs_mode,
            total_ms=(now() - begun) * 1_000,
        )

    async def _pause_after(self, endpoint: Endpoint, loss: FailedTry) -> None:
        """Record a failed try and wait before the next one."""
        self._failed_tries.add(loss, endpoint.name)
        if loss.endpoint_suspect:
            self._pool.report_failure(endpoint, loss.reason)
        if self._failed_tries.broken >= self._retry_policy.max_broken:
            raise _failure(
                endpoint, f"asked {self._failed_tries.broken} times in vain: {loss.reason}"
            )
        seconds = self._retry_policy.pause(
            len(self._failed_tries.tries), self._random, requested=loss.pause
        )
        await self._pool.pause(seconds, stopwatch=self._stopwatch)

    def _adapt_to(self, endpoint: Endpoint, manners: ServerQuirks, answer: HttpResponse) -> None:
        """Adapt the request to what the server does not take; kept for others once a reply came.

        Raises:
            RolloutFailure: it is about the request itself.
        """
        said = error_message(answer.body)
        better = manners.after_refusal(said, schema=self._body.canonical_schema)
        if better is None or answer.status not in {400, 422}:
            raise _failure(endpoint, f"HTTP {answer.status}: {said}")
        LOG.info("%s refuses: %s", endpoint.name, said)
        self._quirks[endpoint.name] = better

    def _structured_mode(self, manners: ServerQuirks) -> StructuredMode | None:
        schema = self._body.canonical_schema
        return None if schema is None else manners.structured_mode(schema)

    def _reply(
        self,
        completion: Completion,
        endpoint: Endpoint,
        *,
        structured_mode: StructuredMode | None,
        logprobs_mode: str | None,
        total_ms: float,
    ) -> Reply:
        return Reply(
            text=completion.text,
            reasoning=completion.reasoning,
            finish_reason=completion.finish_reason,
            endpoint=endpoint.name,
            model=completion.model,
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
            total_ms=total_ms,
            retries=len(self._failed_tries.tries),
            wasted_tokens=self._failed_tries.wasted_tokens(completion.prompt_tokens),
            structured_mode=structured_mode,
            cut_chars=completion.cut_chars,
        )


def _failed_try(answer: HttpResponse) -> FailedTry:
    """Return the loss that a status other than success and refusal means."""
    broke = status_meaning(answer.status) is StatusMeaning.BROKEN
    return FailedTry(
        f"HTTP {answer.status}: {error_message(answer.body)}",
        reached_server=broke and answer.status >= _SERVER_BROKE,
        broken=broke,
        endpoint_suspect=answer.status >= _SERVER_BROKE,
        pause=requested_pause(answer.headers, now=datetime.now(UTC)),
    )


def _failure(endpoint: Endpoint, what: str) -> RolloutFailure:
    return RolloutFailure(FailureKind.ENGINE, f"{endpoint.name}: {what}")
