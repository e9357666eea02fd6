"""A running job, from its first unit to its report: generating, or judging again.

Work begins when `begin` is called. When no unit is in flight any more, the job seals a version and,
unless it was interrupted, publishes it. After the first interrupt the units in flight have
`drain_seconds` to end; the second one stops at once.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from typing_extensions import override

from flows.job.context import JobContext, UnitReport, UnitState
from flows.job.judging import KnownVerdicts, UnitJudge, by_episode
from flows.job.progress import Progress
from flows.job.publish_job import Publisher
from flows.job.report import Report
from flows.job.resume_state import ResumeState, count_judged
from flows.job.summary import Summary, summarise
from flows.job.unit_runner import UnitRunner
from flows.job.worker_pool import Work, WorkerPool
from flows.resources.engines import PolicyRuntime
from schemas.errors import StepmillError
from storage.engine_limits import (
    EndpointLimits,
    EngineLimits,
    limits_sentence,
    write_engine_limits,
)
from storage.publish.publish import PublishReport

MAX_UNITS = 64
"""The maximum number of units in flight."""

MAX_FAILED_OUTSIDE = 0.1
"""The share of a run's episodes that may fail outside the policy before the report names it a problem."""

NOTE_SECONDS = 60.0
"""Between two notes of how many episodes may live at the engine."""

LIMIT_SECONDS = 0.25
"""The time between two looks at the limits of the run, seconds."""

LOG = logging.getLogger(__name__)


def worker_count(unit_size: int, sessions: int) -> int:
    """Return how many units must be in flight so that no session waits for a straggler."""
    return min(MAX_UNITS, 2 + -(-2 * sessions // max(1, unit_size)))


class RunJob:
    """The work of one command on a run: units by a pool of workers, then a version and a report.

    A subclass adds tasks beside the units, work after the last unit, and a publication.
    """

    def __init__(self, context: JobContext, work: Work, *, workers: int) -> None:
        self._context = context
        self._stop_now = False
        self._end: asyncio.Task[tuple[Summary, list[PublishReport], list[str]]] | None = None
        self._report: asyncio.Task[Report] | None = None
        self._beside: list[asyncio.Task[None]] = []
        self.pool = WorkerPool(work, workers=workers, stopping=context.stopping)
        """Completes the units."""

    @property
    def pending(self) -> tuple[str, ...]:
        """Every unit that needed work when the run was opened."""
        return self.pool.unit_ids

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Start the side tasks and the end of the job in `group`; start the pool's workers before."""
        self._report = group.create_task(self._finish())
        self._beside += [group.create_task(task) for task in self._side_tasks()]

    def title(self, unit_id: str) -> str:
        """Return the title of a pending unit for people: its contents, as far as known."""
        return f"verdicts of unit {unit_id[:8]}"

    async def unit(self, unit_id: str) -> UnitReport:
        """Wait until a pending unit has ended, and return its report."""
        return await self.pool.unit(unit_id)

    async def report(self) -> Report:
        """Wait until everything has ended, and return the report."""
        if self._report is None:
            raise AssertionError("the job was not begun")
        return await asyncio.shield(self._report)

    def progress(self) -> Progress:
        """Return how far the job is."""
        slots = self._context.slots
        return self._context.progress.progress(busy=slots.in_use, sessions=slots.limit)

    @property
    def interrupted(self) -> bool:
        """The user asked the job to stop."""
        stopping = self._context.stopping
        return stopping.asked and not stopping.reason and stopping.reached is None

    @property
    def stopping_now(self) -> bool:
        """The user interrupted twice: the job waits for nothing."""
        return self._stop_now

    @property
    def drain_seconds(self) -> float:
        """How long units in flight may take to end after the first interrupt."""
        return self._context.drain_seconds

    def interrupt(self) -> None:
        """Give units in flight `drain_seconds` to end; called a second time, stop now."""
        if self._context.stopping.asked:
            self._stop_now = True
            self.pool.cancel()
            if self._end is not None:
                self._end.cancel()
            return
        self._context.stopping.ask()
        asyncio.get_running_loop().call_later(self.drain_seconds, self.pool.cancel)

    def _side_tasks(self) -> Iterable[Coroutine[None, None, None]]:
        """Return the tasks that run beside the units; they are cancelled when the units have ended."""
        return ()

    async def _finish_units(self) -> list[str]:
        """Do the work after the last unit; return its problems as sentences."""
        return []

    def _problems_of(self, summary: Summary) -> list[str]:
        """Return the problems of the run's contents as sentences."""
        del summary
        return []

    async def _publish(self) -> tuple[list[PublishReport], list[str]]:
        """Publish the sealed version; return the reports, and the problems as sentences."""
        return [], []

    async def _finish(self) -> Report:
        units = await self.pool.reports()
        for task in self._beside:
            task.cancel()
        summary, publications, problems = Summary(version=0), list[PublishReport](), list[str]()
        if not self._stop_now:
            self._context.progress.ending = True
            self._end = asyncio.create_task(self._seal_and_publish())
            await asyncio.wait([self._end])
            if not self._end.cancelled():
                summary, publications, problems = self._end.result()
        context, progress = self._context, self._context.progress
        failed = [_failure(unit) for unit in units if unit.state is UnitState.FAILED]
        fault = context.stopping.reason
        return Report(
            run=context.url,
            run_id=context.run.run_id,
            summary=summary,
            seconds=progress.seconds,
            rolled_out=progress.rolled_out,
            steps=progress.steps,
            left_out=dict(progress.left_out),
            units_failed=len(failed),
            planned=progress.episodes_total,
            publications=tuple(publications),
            problems=(*failed, *([fault] if fault and not failed else []), *problems),
            interrupted=self.interrupted,
            reached=context.stopping.reached if _is_cut_short(units) else None,
            waiting=progress.in_spool,
        )

    async def _seal_and_publish(self) -> tuple[Summary, list[PublishReport], list[str]]:
        """Return the run's summary, the reports of its publications, and the problems."""
        lake = self._context.lake
        try:
            problems = await self._finish_units()
            version = await lake.seal()
            if not version:
                return Summary(version=0), [], problems
            verdicts = await lake.verdicts(version=version)
            summary = await summarise(
                await lake.snapshot(version),
                verdicts,
                self._context.rule,
                works=await self._context.account.all(),
            )
            problems += self._problems_of(summary)
        except StepmillError as error:
            return Summary(version=0), [], [str(error)]
        publications, unpublished = await self._publish()
        return summary, publications, problems + unpublished


class GenerateJob(RunJob):
    """Makes the missing units of a run, judges those that owe verdicts, and publishes."""

    def __init__(
        self,
        context: JobContext,
        state: ResumeState,
        judge: UnitJudge,
        *,
        runner: UnitRunner | None,
        runtime: PolicyRuntime | None,
        publisher: Publisher,
        destinations: Sequence[str],
        workers: int,
    ) -> None:
        work = {
            unit_id: partial(judge.judge_owed, unit_id, state.known) for unit_id in state.to_judge
        }
        if runner is not None:
            for unit in state.missing:
                spooled = state.spooled.get(unit.unit_id, set())
                work[unit.unit_id] = partial(runner.make, unit, spooled)
        super().__init__(context, work, workers=workers)
        self._state = state
        self._planned = {unit.unit_id: unit for unit in state.missing}
        self._judge = judge
        self._runner = runner
        self._runtime = runtime
        self._publisher = publisher
        self._destinations = destinations

    @override
    def progress(self) -> Progress:
        engine = "" if self._runtime is None else limits_sentence(self._runtime.limits())
        waiting = 0 if self._runner is None else self._runner.waiting_for_memory
        return (
            super().progress().model_copy(update={"engine": engine, "waiting_for_memory": waiting})
        )

    @override
    def title(self, unit_id: str) -> str:
        planned = self._planned.get(unit_id)
        return super().title(unit_id) if planned is None else planned.title

    @override
    def _side_tasks(self) -> Iterable[Coroutine[None, None, None]]:
        if self._runtime is not None:
            yield self._give_up_with_the_engine(self._runtime)
            yield self._note_limits(self._runtime)
        if self.pending and self._context.progress.has_unknown:
            yield self._count_judged()
        if self._context.limits.are_set:
            yield self._watch_limits()

    async def _give_up_with_the_engine(self, runtime: PolicyRuntime) -> None:
        """Begin nothing new once the run's own engine is given up; rollouts waiting for it give no row."""
        self._context.stopping.ask(await runtime.wait_until_given_up())

    async def _note_limits(self, runtime: PolicyRuntime) -> None:
        """Write now and then how many episodes may live at the engine, and at the end."""
        noted: tuple[EndpointLimits, ...] = ()
        while True:
            try:
                await asyncio.sleep(NOTE_SECONDS)
            finally:
                limits = runtime.limits()
                if limits and limits != noted:
                    noted = limits
                    await write_engine_limits(
                        self._context.store,
                        EngineLimits(at=datetime.now(UTC), endpoints=limits),
                    )

    async def _watch_limits(self) -> None:
        """Stop the units when the run reaches a limit, as an interrupt does."""
        while True:
            if self._context.is_stopped():
                break
            await asyncio.sleep(LIMIT_SECONDS)
        if self._context.stopping.reached is not None:
            asyncio.get_running_loop().call_later(self.drain_seconds, self.pool.cancel)

    async def _count_judged(self) -> None:
        """Count the verdicts of judged units, which need no work."""
        try:
            await count_judged(self._context.lake, self._context.progress, self._state)
        except StepmillError as error:
            LOG.warning("the verdicts of earlier commands are not shown: %s", error)

    @override
    async def _finish_units(self) -> list[str]:
        """Judge episodes that other workers rolled out but did not judge, and clear the spool.

        Live workers had time until now; episodes that they judged are not judged again.
        """
        problems = []
        for unit_id in self._runner.foreign if self._runner is not None else ():
            known = by_episode(await self._context.lake.verdicts(units={unit_id}))
            unit = await self._judge.judge_owed(unit_id, known)
            if unit.state is UnitState.FAILED:
                problems.append(_failure(unit))
        for unit_id in self._state.stale_spool:
            await self._context.spool.discard(unit_id)
        return problems

    @override
    def _problems_of(self, summary: Summary) -> list[str]:
        outside = summary.outside
        if outside is None or outside.episodes <= MAX_FAILED_OUTSIDE * summary.episodes:
            return []
        problem = (
            f"{outside.episodes} of {summary.episodes} episodes failed for reasons outside the policy, "
            f"{outside.times} of them by {outside.kind.value}: {outside.reason}"
        )
        return [problem]

    @override
    async def _publish(self) -> tuple[list[PublishReport], list[str]]:
        publications, problems = list[PublishReport](), list[str]()
        for to in self._destinations:
            stopping = self._context.stopping
            if stopping.asked and stopping.reached is None:  # a run at its limit has ended
                break
            try:
                publications.append(await self._publisher.publish_last(to))
            except StepmillError as error:  # the other destinations are still published to
                problems.append(str(error))
        return publications, problems


class JudgeJob(RunJob):
    """Judges every committed episode of a run again; it makes and publishes nothing."""

    def __init__(
        self,
        context: JobContext,
        committed: Iterable[str],
        known: Mapping[str, KnownVerdicts],
        judge: UnitJudge,
        *,
        workers: int,
    ) -> None:
        work = {unit_id: partial(judge.judge_again, unit_id, known) for unit_id in committed}
        super().__init__(context, work, workers=workers)


def _is_cut_short(units: Sequence[UnitReport]) -> bool:
    """Return whether units of a job were stopped, or none began: a limit that the last one reached stops nothing."""
    return not units or any(unit.state is UnitState.INTERRUPTED for unit in units)


def _failure(unit: UnitReport) -> str:
    return f"unit {unit.unit_id} failed: {unit.reason}"
