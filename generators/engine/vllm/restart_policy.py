"""How often a server that died is started again, and after how long: pure arithmetic.

A server that never served is not started again: something is wrong with how it is started. One that
served is started again after a pause; where it keeps dying soon after its start, the pauses grow and
in the end it is given up.
"""

from schemas.backoff import Backoff
from schemas.base import Record

_BACKOFF = Backoff(first_seconds=1.0, max_seconds=60.0, tries=5)


class RestartPolicy(Record):
    """When a server is started again, and when it counts as dead."""

    backoff: Backoff = _BACKOFF
    """Pauses before the next start, and the number of deaths in a row at which it is given up."""
    stable_seconds: float = 300.0
    """A server that served this long begins a new row of deaths."""
    silent_seconds: float = 900.0
    """How long a start may take without a new line in the server's log."""
    hung_seconds: float = 120.0
    """How long a server that served may leave health checks unanswered before it counts as dead."""
    poll_seconds: float = 1.0
    """Between two health checks of a server that serves."""
    progress_seconds: float = 5.0
    """Between two looks at what it has computed."""


class RestartCounter:
    """Counts the deaths of one server."""

    def __init__(self, policy: RestartPolicy) -> None:
        self._policy = policy
        self._served = False
        self._row = 0

    def count_death(self, served_seconds: float | None) -> float | None:
        """Count a death; return the seconds to wait before the next start, None: give it up.

        `served_seconds` is how long the server had served; None: it died before it did.
        """
        if served_seconds is not None:
            self._served = True
            if served_seconds >= self._policy.stable_seconds:
                self._row = 0
        self._row += 1
        return self._policy.backoff.pause(self._row) if self._served else None

    def forgive(self) -> None:
        """Begin a new row: something else than the server was found to be the cause of its deaths."""
        self._row = 0

    @property
    def deaths_in_a_row(self) -> int:
        """Deaths in a row, each soon after a start."""
        return self._row
