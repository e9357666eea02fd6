"""How often a server that died is started again, and how long is waited before: pure arithmetic.

A server that never once served is not started again: what is wrong with it is wrong with how it is
started. One that served and died is started at once; one that keeps dying soon is given more and
more time, and in the end is given up.
"""

from schemas.base import Record


class Patience(Record):
    """How much is borne."""

    deaths: int = 5
    """In a row, each soon after the last, before the server is given up."""
    first_seconds: float = 1.0
    """Waited after the first death of a row; doubled with every further one."""
    most_seconds: float = 60.0
    """Waited at most."""
    settled_seconds: float = 300.0
    """A server that served this long begins a new row."""
    silent_seconds: float = 900.0
    """How long a start may go on without a word in its log."""
    wedged_seconds: float = 120.0
    """How long a server that served may give no answer before it counts as dead."""
    look_seconds: float = 1.0
    """Between two looks at a server that serves."""


class Deaths:
    """The server's deaths so far, as far as they matter."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._served = False
        self._row = 0

    def died(self, served_seconds: float | None) -> float | None:
        """Count a death; return how long to wait before the next start, None: give it up.

        `served_seconds` is how long it had served; None: it had not come that far.
        """
        if served_seconds is not None:
            self._served = True
            if served_seconds >= self._patience.settled_seconds:
                self._row = 0
        self._row += 1
        if not self._served or self._row >= self._patience.deaths:
            return None
        seconds = self._patience.first_seconds * 2.0 ** (self._row - 1)
        return min(seconds, self._patience.most_seconds)

    @property
    def row(self) -> int:
        """How many there were in a row."""
        return self._row
