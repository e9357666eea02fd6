"""When a request is sent again, and after how long.

The rules, all in one place: a request is sent again where its answer did not arrive whole, or says
that the server is busy or broken; any other refusal is final. It is sent again after a pause that
doubles with each failure, with jitter, or after the pause that the server requests. A request to a
busy server is sent again for as long as the caller has time; one on which servers break is given up
after `max_broken` times.
"""

import email.utils
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from random import Random

from schemas.backoff import Backoff

_RETRY_MS = "retry-after-ms"
_RETRY = "retry-after"
_BACKOFF = Backoff(first_seconds=0.25, max_seconds=30.0, jitter=0.5)


class StatusMeaning(StrEnum):
    """What the HTTP status of an answer means for the request."""

    DONE = "done"
    """The answer is the reply."""
    LATER = "later"
    """The server works, but has no room now."""
    BROKEN = "broken"
    """The server failed, and may be dying."""
    REFUSED = "refused"
    """The request is wrong, and would be refused again."""


def status_meaning(status: int) -> StatusMeaning:
    """Return the meaning of an HTTP status for the request."""
    if 200 <= status < 300:  # noqa: PLR2004 - HTTP's own classes
        return StatusMeaning.DONE
    if status in {425, 429, 503}:
        return StatusMeaning.LATER
    if status in {408, 409} or (status >= 500 and status not in {501, 505}):  # noqa: PLR2004
        return StatusMeaning.BROKEN
    return StatusMeaning.REFUSED


def requested_pause(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the pause that a server requests, seconds; None: it requests none."""
    exact = _number(headers.get(_RETRY_MS))
    if exact is not None:
        return exact / 1_000
    value = headers.get(_RETRY)
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        until = email.utils.parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())


def _number(text: str | None) -> float | None:
    """Return a number of at least 0, at most a year of seconds in ms; None for anything else."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 1e12 else None  # noqa: PLR2004 - NaN compares false


@dataclass(frozen=True)
class RetryPolicy:
    """How long to wait before a request is sent again, and how often at most."""

    backoff: Backoff = _BACKOFF
    """Pauses between tries; without a limit of tries, because the caller has one of time."""
    max_broken: int = 12
    """Failures of one request on servers that live before it is given up."""

    def pause(self, failures: int, random: Random, *, requested: float | None = None) -> float:
        """Return the seconds to wait after `failures` failures (1 or more).

        A pause that the server requests is never cut short: half of our own is added to it.
        """
        own = self.backoff.pause(failures, random) or 0.0
        return own if requested is None else requested + own / 2
