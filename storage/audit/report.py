"""The report of an audit, and the notes it is made from."""

from collections import Counter
from collections.abc import Callable

from schemas.base import Record

Progress = Callable[[int, int], None]
"""Called with the number of objects checked and the number of all."""


class PublishedCopy(Record):
    """The result of checking a published copy."""

    destination: str
    """Its URL or path."""
    version: int | None
    """The version that was published; None: no publication has ended there, or it cannot be read."""
    files: int
    """Files that its manifest lists."""
    bytes: int
    """Their size."""
    whole: bool
    """Whether it was checked without a finding."""
    unproven: str | None = None
    """Why it could not be checked; None if it could."""
    findings: tuple[str, ...] = ()
    """Its findings, or the reason why it could not be checked; each names the file."""


class AuditReport(Record):
    """The result of an audit."""

    findings: tuple[str, ...]
    """The findings, each naming the object: those of the run, then those of its published copies."""
    run_findings: tuple[str, ...]
    """The findings in the run alone; empty if it is complete and unaltered."""
    leftovers: tuple[str, ...]
    """Leftovers of killed processes, each naming the object; these are not findings."""
    counts: dict[str, int]
    """How many objects and rows of each kind were checked."""
    published: tuple[PublishedCopy, ...] = ()
    """The published copies, in the order of `publish.to`."""


class Notes:
    """Collects the findings of a running audit."""

    def __init__(self, progress: Progress | None) -> None:
        self._findings: dict[str, None] = {}  # of the run; a copy has its own
        self._leftovers: dict[str, None] = {}
        self._counts: Counter[str] = Counter()
        self._copies: list[PublishedCopy] = []
        self._progress = progress
        self._done = 0
        self._total = 0

    def finding(self, where: str, what: str) -> None:
        """Note that something is wrong with the object `where` of the run."""
        self._findings[f"{where}: {what}"] = None

    def leftover(self, where: str, what: str) -> None:
        """Note that a killed process left the object `where` behind."""
        self._leftovers[f"{where}: {what}"] = None

    def count(self, what: str, number: int = 1) -> None:
        """Add `number` to how many of `what` were checked."""
        self._counts[what] += number

    def copy(self, result: PublishedCopy) -> None:
        """Add the result of a published copy."""
        self._copies.append(result)

    def expect(self, objects: int) -> None:
        """Add `objects` to the number of objects to check."""
        self._total += objects

    def advance(self) -> None:
        """Count one more object as checked, and report it to `progress`."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._done, self._total))

    def report(self) -> AuditReport:
        """Return the report."""
        own = tuple(self._findings)
        of_copies = (finding for copy in self._copies for finding in copy.findings)
        return AuditReport(
            findings=(*own, *of_copies),
            run_findings=own,
            leftovers=tuple(self._leftovers),
            counts=dict(sorted(self._counts.items())),
            published=tuple(self._copies),
        )
