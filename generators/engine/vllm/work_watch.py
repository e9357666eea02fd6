"""Watches over whether a vLLM that this program runs computes what it is asked.

What the run's client has under way decides whether it has requests: the server's own account is behind, and an
engine process that was stopped before a request came never reports it. Where no client of this program asks the
server, as in `stepmill engine serve`, its account is all there is.
"""

from collections.abc import Callable

import aiohttp

from generators.engine.client.progress import ProgressWatch, TokenCounts, token_counts
from generators.engine.vllm.command import ServeCommand

_PAGE_SECONDS = 20.0
"""The time-out of a page of metrics; a busy server on few cores is slow."""


class WorkWatch:
    """Finds out that one start of a server stands still while it has requests."""

    def __init__(
        self,
        command: ServeCommand,
        *,
        limit_seconds: float,
        look_seconds: float,
        under_way: Callable[[], int | None],
    ) -> None:
        """`limit_seconds` is how long it may stand still, `look_seconds` the pause between two looks.

        `under_way` returns how many requests a client of this program has there; None: there is no such client.
        """
        self._command = command
        self._progress = ProgressWatch(limit_seconds)
        self._look_seconds = look_seconds
        self._under_way = under_way
        self._looked_at: float | None = None
        self._busy_since: float | None = None

    async def still_seconds(self, http: aiohttp.ClientSession, *, now: float) -> float | None:
        """Return for how many seconds the server has stood still; None: not for too long, or nobody knows.

        It looks now and then only: a page of metrics is large.
        """
        if self._looked_at is not None and now - self._looked_at < self._look_seconds:
            return None
        self._looked_at = now
        counts = await _fetch_counts(http, self._command)
        if counts is None:
            return None
        under_way = self._under_way()
        if not (counts.requests if under_way is None else under_way):
            self._busy_since = None
        elif self._busy_since is None:
            self._busy_since = now
        return self._progress.still_seconds(counts, busy_since=self._busy_since, now=now)


async def _fetch_counts(http: aiohttp.ClientSession, command: ServeCommand) -> TokenCounts | None:
    timeout = aiohttp.ClientTimeout(total=_PAGE_SECONDS)
    try:
        async with http.get(f"{command.origin}/metrics", timeout=timeout) as response:
            return token_counts(await response.text(errors="replace")) if response.ok else None
    except (aiohttp.ClientError, TimeoutError, OSError):
        return None
