"""Keeps served episodes: each durable as soon as it ends, judged, and committed in units of several.

A planned unit is known before its first attempt. Here nobody knows which episode ends next, so a unit is whatever ended
together: it is named after its first episode, takes those that end after it, and is committed when it is full or old
enough. The tasks lie in the store beside the spooled episodes, so that a server that begins after a `kill -9` commits
what the one before left.
"""

import asyncio
import logging
from dataclasses import dataclass, field

from flows.job.plan import PlannedAttempt
from schemas.verdicts.verdict import Verdict

SEAL_SECONDS = 600.0
"""The time between two versions of a run that is served on; there is one at the end of the server too."""

LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Batch:
    """The episodes of a unit that is being filled."""

    unit_id: str
    attempts: list[PlannedAttempt] = field(default_factory=list)
    judging: list[asyncio.Task[tuple[Verdict, ...]]] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None
    storing: int = 0
    """Episodes of it that are not durable yet."""
    full: bool = False
    """Whether it takes no more."""
