"""Whether a server that has requests computes anything, by vLLM's counters of tokens.

`/health` says that a server's processes live, not that they work: a scheduler that livelocks, or an engine process
that is stopped, leaves it at 200 for ever. vLLM counts the tokens of prompts and of replies as they are computed, so
a server that has requests and whose two counters both stand still for long is of no more use than a dead one. Only
these counters are believed: other servers count a request when it ends. A server without them is never suspected.

Everything here is a pure function of pages and of times that are passed in.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from generators.engine.client.metrics_page import read_samples

FIRST_TIMES = 3
"""A server that has not computed a token since its start may stand still this many times as long: its first request
may compile what the next ones use."""

_PROMPT = "vllm:prompt_tokens_total"
_GENERATION = "vllm:generation_tokens_total"
_REQUESTS = ("vllm:num_requests_running", "vllm:num_requests_waiting")


class TokenCounts(NamedTuple):
    """What a server has computed since its start, and what it has to do."""

    prompt: float
    """Tokens of prompts."""
    generation: float
    """Tokens of replies."""
    requests: float
    """Requests that it works on or lets wait, by its own account."""

    @property
    def tokens(self) -> tuple[float, float]:
        """The counters that move while it works."""
        return self.prompt, self.generation


def token_counts(page: str) -> TokenCounts | None:
    """Return the counts of a page of metrics; None: one of the two counters is not on it."""
    sums: dict[str, float] = {}
    for name, _, value in read_samples(page):
        sums[name] = sums.get(name, 0.0) + value
    if _PROMPT not in sums or _GENERATION not in sums:
        return None
    requests = sum(sums.get(name, 0.0) for name in _REQUESTS)
    return TokenCounts(sums[_PROMPT], sums[_GENERATION], requests)


@dataclass
class ProgressWatch:
    """Finds out whether one server stands still."""

    limit_seconds: float
    """How long it may stand still while it has requests."""
    counts: TokenCounts | None = None
    """What it said last; None: nothing yet."""
    moved_at: float = -math.inf
    """When the counters were first seen as they are."""

    def still_seconds(
        self, counts: TokenCounts | None, *, busy_since: float | None, now: float
    ) -> float | None:
        """Return for how many seconds a server has stood still; None: not for too long, or nobody knows.

        `counts` is what it says now; None: it does not say. `busy_since` is when it got the first of its present
        requests; None: it has none.
        """
        if counts is None:
            return None
        if self.counts is None or counts.tokens != self.counts.tokens:
            self.counts, self.moved_at = counts, now
            return None
        self.counts = counts
        if busy_since is None:
            return None
        still = now - max(self.moved_at, busy_since)
        limit = self.limit_seconds if any(counts.tokens) else FIRST_TIMES * self.limit_seconds
        return still if still >= limit else None

    def has_moved(self, counts: TokenCounts | None) -> bool:
        """Return whether a server that stood still has computed something since, or was started anew."""
        return counts is not None and (self.counts is None or counts.tokens != self.counts.tokens)
