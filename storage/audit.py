"""Proof that a run is whole. See `audit`."""

from collections.abc import Callable

from schemas.base import Record
from storage.objects import ObjectStore

Progress = Callable[[int, int], None]
"""Told how many of how many objects were looked at."""


class AuditReport(Record):
    """What an audit saw."""

    findings: tuple[str, ...]
    """What is not whole, each naming the object; empty for a good run."""
    leftovers: tuple[str, ...]
    """What killed processes left behind, each naming the object; no finding."""
    counts: dict[str, int]
    """What was looked at."""


async def audit(store: ObjectStore, *, deep: bool, progress: Progress | None = None) -> AuditReport:
    """Prove the run in `store` whole, or name what is not.

    Raises:
        NotFound: no run lies there.
    """
    raise NotImplementedError
