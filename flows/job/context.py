"""The record that the parts of a job share: storage, panel, limits, progress, and whether to stop.

A job, its worker pool and its units are given this one record; of the run's other resources only
rollouts need any (`flows.job.unit_runner.RolloutSetup`).
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from flows.job.progress import ProgressCounter
from flows.job.run_limits import ReachedLimit, RunLimits
from flows.job.work_account import WorkAccount
from generators.browser.slots import Slots
from generators.verify.panel import Panel
from schemas.base import Record
from schemas.configuration.sections import AcceptSection
from schemas.errors import NoBrowser, StepmillError, Unwritable
from storage.lake.lake import Lake
from storage.objects.protocol import ObjectStore
from storage.run_file import RunFile
from storage.spool import Spool

LOG = logging.getLogger(__name__)


class UnitState(StrEnum):
    """How a unit ended."""

    DONE = "done"
    """Committed and judged."""
    INTERRUPTED = "interrupted"
    """Stopped before its end; finished episodes are durable."""
    FAILED = "failed"
    """Something could not be read or written."""


class UnitReport(Record):
    """How a unit ended, and why."""

    unit_id: str
    """The unit's id."""
    state: UnitState
    """How it ended."""
    reason: str = ""
    """Why it failed; empty if it did not."""


class StopSignal:
    """Whether a job was asked to begin nothing new."""

    def __init__(self) -> None:
        self.asked = False
        """Nothing new begins."""
        self.reason = ""
        """The fault that forces the job to stop; empty if the user asked for it, or it has reached a limit."""
        self.reached: ReachedLimit | None = None
        """The limit of the run that was reached; None: none was, before something else stopped the job."""

    def ask(self, reason: str = "", *, reached: ReachedLimit | None = None) -> None:
        """Ask the job to begin nothing new."""
        if not self.asked:
            self.reached = reached
        self.asked = True
        self.reason = self.reason or reason


@dataclass(frozen=True, slots=True)
class JobContext:
    """The record that all parts of a job share."""

    url: str
    """The run's URL."""
    run: RunFile
    """The run's `run.json`."""
    store: ObjectStore
    """Where the run is stored."""
    lake: Lake
    """The run's tables."""
    spool: Spool
    """Finished episodes that are not committed."""
    panel: Panel
    """The verifiers of the run."""
    rule: AcceptSection
    """The rule of acceptance."""
    drain_seconds: float
    """How long an interrupted job waits for work in flight, in seconds."""
    slots: Slots
    """The limit on open sessions."""
    attempts: asyncio.Semaphore
    """The limit on attempts that are held in memory, over all units.

    It is slightly above the number of sessions, because some attempts are being judged or written. So a
    replay waits for a session or two, never for all rollouts that were planned first.
    """
    progress: ProgressCounter
    """The progress of the job."""
    stopping: StopSignal
    """Whether the job was asked to stop."""
    account: WorkAccount
    """How long this command works on the run, and what it costs."""
    limits: RunLimits
    """The limits of the whole run."""

    def is_stopped(self) -> bool:
        """Return whether nothing new may begin: the job was asked to stop, or the run has reached a limit."""
        if not self.stopping.asked and (reached := self.limits.find_reached()) is not None:
            LOG.warning("%s", reached.sentence)
            self.stopping.ask(reached=reached)
        return self.stopping.asked

    def fail(self, unit_id: str, error: Exception) -> UnitReport:
        """Count a unit that `error` ended, and return its report.

        The job begins nothing new if every further unit would fail for the same reason.

        Raises:
            ExceptionGroup: `error` itself, if it holds a defect of the program.
        """
        errors = _unit_errors(error)
        reason = "; ".join(dict.fromkeys(str(one) for one in errors))
        self.progress.units_failed += 1
        if any(isinstance(one, NoBrowser | Unwritable) for one in errors):
            self.stopping.ask(reason)
        LOG.error("unit %s failed: %s", unit_id, reason)
        return UnitReport(unit_id=unit_id, state=UnitState.FAILED, reason=reason)


def _unit_errors(error: Exception) -> Sequence[Exception]:
    """Return the errors that a unit may fail with, out of `error` if it is a group.

    Raises:
        ExceptionGroup: the group, if one of its errors is a defect.
    """
    if not isinstance(error, ExceptionGroup):
        return [error]
    expected, defects = error.split((StepmillError, OSError))
    if defects is not None or expected is None:
        raise error
    return [leaf for one in expected.exceptions for leaf in _unit_errors(one)]
