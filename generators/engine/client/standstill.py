"""Watches over whether one endpoint computes what it is asked, by its page of metrics."""

import asyncio

from generators.engine.client.metrics import fetch_counts
from generators.engine.client.progress import ProgressWatch
from generators.engine.client.transport import Transport


class StandstillWatch:
    """Finds out that an endpoint answers its probes and computes nothing for its requests."""

    def __init__(self, transport: Transport, limit_seconds: float) -> None:
        """`limit_seconds` is how long it may compute nothing."""
        self._transport = transport
        self._progress = ProgressWatch(limit_seconds)
        self.found = False
        """It was found standing still, so that an answer to a probe says nothing any more."""

    async def problem(self, *, busy_since: float | None, seconds: float) -> str | None:
        """Return why it is as good as dead, in words; None: it computes, has no request, or nobody knows.

        `busy_since` is when it got the first of its pending requests, by the loop's clock; None: it has none.
        Its page is waited for `seconds`.
        """
        if busy_since is None:
            return None
        counts = await fetch_counts(self._transport, seconds=seconds)
        now = asyncio.get_running_loop().time()
        still = self._progress.still_seconds(counts, busy_since=busy_since, now=now)
        if still is None:
            return None
        self.found = True
        return f"it answers, and has computed nothing for its requests for {still:.0f} s"

    async def has_moved(self, *, seconds: float) -> bool:
        """Return whether it has computed something since it was found standing still, or was started anew."""
        return self._progress.has_moved(await fetch_counts(self._transport, seconds=seconds))
