"""A run at work: a bounded window of its units at a time, each waited for by its id.

Work begins when `begin` is called and does not depend on anybody waiting for it, so the start of
whatever schedules or shows it delays no rollout. Being interrupted once lets what is under way
end, for a while; twice stops at once. When the units are through, a version is sealed and, unless
the run was interrupted, published.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence

from flows.attempts import Attempts, Stopping
from flows.plan import PlannedUnit
from flows.provenance import code_version
from flows.report import Report
from flows.summary import Summary, summarise
from flows.survey import Survey, count
from flows.tally import Progress, Tally
from flows.units import UnitReport, Units, UnitState
from flows.wiring import Workshop
from schemas.config import RunConfig
from schemas.errors import StepmillError
from storage.publish.publish import PublishReport, publish
from storage.runs import RunFile

MOST_UNITS = 64
"""Units on their way at the same time, whatever their size."""

LOG = logging.getLogger(__name__)


class Generation:
    """One run's work, from the survey to the report."""

    def __init__(
        self,
        workshop: Workshop,
        config: RunConfig,
        *,
        run: RunFile,
        plan: Sequence[PlannedUnit],
        found: Survey,
    ) -> None:
        self._shop = workshop
        self._config = config
        self._run = run
        self._found = found
        self._stopping = Stopping()
        self._now = False
        self._planned = sum(len(unit.attempts) for unit in plan)
        self._tally = Tally(episodes_total=self._planned, units_total=len(plan), rule=config.accept)
        count(self._tally, found, plan)
        attempts = Attempts(
            workshop,
            config,
            run_id=run.run_id,
            code_version=code_version(),
            tally=self._tally,
            stopping=self._stopping,
        )
        self._units = Units(workshop, attempts, tally=self._tally, stopping=self._stopping)
        self._ends: dict[str, asyncio.Future[UnitReport]] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._report: asyncio.Task[Report] | None = None

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._run.run_id

    @property
    def pending(self) -> tuple[str, ...]:
        """Every unit that needed work when the run was opened."""
        return self._found.pending

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Begin to work, in tasks of `group`."""
        loop = asyncio.get_running_loop()
        self._ends = {unit_id: loop.create_future() for unit_id in self.pending}
        work = self._work()
        self._workers = [group.create_task(self._worker(work)) for _ in range(self._window())]
        self._report = group.create_task(self._finish())

    async def unit(self, unit_id: str) -> UnitReport:
        """Wait until a pending unit has ended, and return how."""
        return await asyncio.shield(self._ends[unit_id])

    async def report(self) -> Report:
        """Wait until everything has ended, and return what it came to."""
        if self._report is None:
            raise AssertionError("nothing was begun")
        return await asyncio.shield(self._report)

    def progress(self) -> Progress:
        """Return how far it is."""
        slots = self._shop.slots
        return self._tally.progress(busy=slots.busy, sessions=slots.most)

    @property
    def interrupted(self) -> bool:
        """Somebody asked it to stop."""
        return self._stopping.asked and not self._stopping.reason

    @property
    def stopping_now(self) -> bool:
        """It was asked twice: nothing is waited for."""
        return self._now

    def interrupt(self) -> None:
        """Let what is under way end, for `limits.drain_seconds`; asked again, stop now."""
        if self._stopping.asked:
            self._now = True
            self._cancel()
            return
        self._stopping.ask()
        loop = asyncio.get_running_loop()
        loop.call_later(self._config.limits.drain_seconds, self._cancel)

    def _cancel(self) -> None:
        for worker in self._workers:
            worker.cancel()

    def _window(self) -> int:
        """Return how many units must be on their way so that no session waits for a straggler."""
        size = max(1, self._config.tasks.unit_size)
        wanted = 2 + -(-2 * self._shop.slots.most // size)
        return max(1, min(wanted, MOST_UNITS, len(self.pending)))

    def _work(self) -> Iterator[str]:
        yield from self.pending

    async def _worker(self, work: Iterator[str]) -> None:
        missing = {unit.unit_id: unit for unit in self._found.missing}
        for unit_id in work:
            if self._stopping.asked:
                return
            if unit_id in missing:
                spooled = self._found.spooled.get(unit_id, set())
                ended = await self._units.make(missing[unit_id], spooled)
            else:
                ended = await self._units.judge(unit_id, self._found.said)
            self._ends[unit_id].set_result(ended)

    async def _finish(self) -> Report:
        problems: list[str] = []
        if self._workers:
            await asyncio.wait(self._workers)
        for unit_id, end in self._ends.items():
            if not end.done():
                end.set_result(UnitReport(unit_id=unit_id, state=UnitState.INTERRUPTED))
        failed = [e.result() for e in self._ends.values() if e.result().state is UnitState.FAILED]
        problems += [f"unit {one.unit_id} failed: {one.reason}" for one in failed]
        publications: list[PublishReport] = []
        summary = Summary(version=0)
        if not self._now:
            try:
                await self._discard_leftovers()
                summary = await self._seal()
                publications += await self._publish()
            except StepmillError as error:
                problems.append(str(error))
        return self._told(summary, publications, problems, failed=len(failed))

    def _told(
        self,
        summary: Summary,
        publications: Sequence[PublishReport],
        problems: Sequence[str],
        *,
        failed: int,
    ) -> Report:
        return Report(
            run=self._shop.store.url,
            run_id=self._run.run_id,
            summary=summary,
            seconds=self._tally.seconds,
            rolled_out=self._tally.rolled_out,
            steps=self._tally.steps,
            units_failed=failed,
            planned=self._planned,
            publications=tuple(publications),
            problems=tuple(problems),
            interrupted=self.interrupted,
        )

    async def _discard_leftovers(self) -> None:
        """Remove spool objects of units that were committed before this command began."""
        for unit_id in self._found.leftovers:
            await self._shop.spool.discard(unit_id)

    async def _seal(self) -> Summary:
        lake = self._shop.lake
        version = await lake.seal()
        if not version:
            return Summary(version=0)
        snapshot = await lake.snapshot(version)
        verdicts = await lake.verdicts(version=version)
        return await summarise(snapshot, verdicts, self._config.accept)

    async def _publish(self) -> list[PublishReport]:
        if self.interrupted:
            return []
        config = self._config
        snapshot = await self._shop.lake.snapshot()
        return [
            await publish(
                snapshot,
                self._run,
                config.accept,
                to,
                include_rejected=config.publish.include_rejected,
                shard_mb=config.storage.shard_mb,
            )
            for to in config.publish.to
        ]
