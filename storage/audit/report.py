"""The report of an audit, and the notes it is made from."""

from collections import Counter
from collections.abc import Callable

from schemas.base import Record

Progress = Callable[[int, int], None]
"""Called with the number of objects checked and the number of all."""


class PublishedCopy(Record):
    """What an audit saw of a published copy."""

    destination: str
    """Where it lies."""
    version: int | None
    """The version that it is; None: none can be seen there."""
    files: int
    """Files that its manifest lists."""
    bytes: int
    """Their size."""
    whole: bool
    """It was looked at, and nothing was found that is not as it should be."""
    unproven: str | None = None
    """Why it could not be looked at, so that nothing is known of it; None if it could."""
    findings: tuple[str, ...] = ()
    """What is not as it should be there, or why it could not be looked at, each naming where."""


class AuditReport(Record):
    """What an audit saw."""

    findings: tuple[str, ...]
    """What is not whole, each naming the object: the run's own, then its published copies'."""
    run_findings: tuple[str, ...]
    """Those of the findings that are the run's own; empty for a run that is whole."""
    leftovers: tuple[str, ...]
    """What killed processes left behind, each naming the object; no finding."""
    counts: dict[str, int]
    """What was looked at."""
    published: tuple[PublishedCopy, ...] = ()
    """The published copies, in the order of `publish.to`."""


class Notes:
    """What an audit has seen so far."""

    def __init__(self, progress: Progress | None) -> None:
        self._findings: dict[str, None] = {}  # of the run; a copy has its own
        self._leftovers: dict[str, None] = {}
        self._counts: Counter[str] = Counter()
        self._copies: list[PublishedCopy] = []
        self._progress = progress
        self._done = 0
        self._total = 0

    def finding(self, where: str, what: str) -> None:
        """Write down that the object `where` of the run is not as it should be."""
        self._findings[f"{where}: {what}"] = None

    def leftover(self, where: str, what: str) -> None:
        """Write down that the object `where` is what a killed process left."""
        self._leftovers[f"{where}: {what}"] = None

    def count(self, what: str, number: int = 1) -> None:
        """Add to the number of `what` that was looked at."""
        self._counts[what] += number

    def copy(self, seen: PublishedCopy) -> None:
        """Write down what was seen of a published copy, its findings included."""
        self._copies.append(seen)

    def expect(self, objects: int) -> None:
        """Announce so many more objects to check."""
        self._total += objects

    def advance(self) -> None:
        """Report that one more object was checked."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._done, self._total))

    def report(self) -> AuditReport:
        """Return everything written down."""
        own = tuple(self._findings)
        of_copies = (finding for copy in self._copies for finding in copy.findings)
        return AuditReport(
            findings=(*own, *of_copies),
            run_findings=own,
            leftovers=tuple(self._leftovers),
            counts=dict(sorted(self._counts.items())),
            published=tuple(self._copies),
        )
