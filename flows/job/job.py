"""A run at work, from the survey to the report.

Work begins when `begin` is called; when no unit is on its way any more a version is sealed and,
unless the run was interrupted, published. Being interrupted once lets what is under way end, for
a while; twice stops at once. Judging a run again is the same work on units that are all committed.
"""

import asyncio
import logging
from collections.abc import Sequence

from flows.job.attempt_runner import Attempts, Stopping
from flows.job.judging import by_episode
from flows.job.plan import PlannedUnit
from flows.job.progress import Progress, Tally
from flows.job.provenance import code_version
from flows.job.report import Report
from flows.job.resume_state import Survey, count
from flows.job.summary import Summary, summarise
from flows.job.unit_runner import UnitReport, Units, UnitState
from flows.job.worker_pool import Crew
from flows.resources.resources import Workshop
from schemas.config import RunConfig
from schemas.errors import StepmillError
from storage.publish.publish import PublishReport, publish
from storage.run_file import RunFile

MOST_UNITS = 64
"""Units on their way at the same time, whatever their size."""

RECALLED_AT_ONCE = 1_000
"""Units whose verdicts of earlier commands are read at once."""

LOG = logging.getLogger(__name__)


class Generation:
    """One run's work."""

    def __init__(
        self,
        workshop: Workshop,
        config: RunConfig,
        *,
        run: RunFile,
        plan: Sequence[PlannedUnit],
        found: Survey,
        again: bool = False,
    ) -> None:
        self._shop = workshop
        self._config = config
        self._run = run
        self._found = found
        self._again = again
        self._stopping = Stopping()
        self._now = False
        self._tally = Tally(rule=config.accept)
        count(self._tally, found, plan, again=again)
        self._units = self._make_units()
        self._missing = {unit.unit_id: unit for unit in found.missing}
        self._crew = Crew(found.pending, self._do, stopping=self._stopping)
        self._end: asyncio.Task[tuple[Summary, list[PublishReport], list[str]]] | None = None
        self._report: asyncio.Task[Report] | None = None
        self._beside: list[asyncio.Task[None]] = []

    @property
    def pending(self) -> tuple[str, ...]:
        """Every unit that needed work when the run was opened."""
        return self._crew.unit_ids

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Begin to work, in tasks of `group`."""
        self._crew.begin(group, workers=self._workers())
        self._report = group.create_task(self._finish())
        self._beside.append(group.create_task(self._give_up_with_the_engine()))
        if self.pending and not self._again:
            self._beside.append(group.create_task(self._recall()))

    async def unit(self, unit_id: str) -> UnitReport:
        """Wait until a pending unit has ended, and return how."""
        return await self._crew.unit(unit_id)

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

    @property
    def drain_seconds(self) -> float:
        """How long what is under way may take to end, once it was asked to stop."""
        return self._config.limits.drain_seconds

    def interrupt(self) -> None:
        """Let what is under way end, for `limits.drain_seconds`; asked again, stop now."""
        if self._stopping.asked:
            self._now = True
            self._cancel()
            return
        self._stopping.ask()
        loop = asyncio.get_running_loop()
        loop.call_later(self.drain_seconds, self._crew.cancel)

    def _cancel(self) -> None:
        self._crew.cancel()
        if self._end is not None:
            self._end.cancel()

    def _make_units(self) -> Units:
        attempts = Attempts(
            self._shop,
            self._config,
            run_id=self._run.run_id,
            code_version=code_version(),
            tally=self._tally,
            stopping=self._stopping,
        )
        return Units(self._shop, attempts, tally=self._tally, stopping=self._stopping)

    def _workers(self) -> int:
        """Return how many units must be on their way so that no session waits for a straggler."""
        size = max(1, self._config.tasks.unit_size)
        return min(MOST_UNITS, 2 + -(-2 * self._shop.slots.most // size))

    async def _do(self, unit_id: str) -> UnitReport:
        unit = self._missing.get(unit_id)
        if unit is None:
            return await self._units.judge(unit_id, self._found.said, again=self._again)
        return await self._units.make(unit, self._found.spooled.get(unit_id, set()))

    async def _give_up_with_the_engine(self) -> None:
        """Stop at once when the run's own engine is given up: no reply would ever come."""
        reason = await self._shop.acting.given_up()
        self._stopping.ask(reason)
        self._crew.cancel()

    async def _recall(self) -> None:
        """Tell the tally how the episodes of settled units stand, which no work waits for."""
        settled = sorted(self._found.settled)
        for first in range(0, len(settled), RECALLED_AT_ONCE):
            units = settled[first : first + RECALLED_AT_ONCE]
            try:
                verdicts = await self._shop.lake.verdicts(units=units)
            except StepmillError as error:
                LOG.warning("nothing is shown of verdicts of earlier commands: %s", error)
                return
            for episode_id, said in by_episode(verdicts).items():
                self._tally.judged_before(episode_id, said)

    async def _finish(self) -> Report:
        ends = await self._crew.ended()
        for task in self._beside:
            task.cancel()
        failed = [one for one in ends if one.state is UnitState.FAILED]
        summary, publications, problems = Summary(version=0), list[PublishReport](), list[str]()
        if not self._now:
            self._end = asyncio.create_task(self._seal_and_publish())
            await asyncio.wait([self._end])
            if not self._end.cancelled():
                summary, publications, problems = self._end.result()
        return Report(
            run=self._shop.store.url,
            run_id=self._run.run_id,
            summary=summary,
            seconds=self._tally.seconds,
            rolled_out=self._tally.rolled_out,
            steps=self._tally.steps,
            units_failed=len(failed),
            planned=self._tally.episodes_total,
            publications=tuple(publications),
            problems=(
                *(f"unit {one.unit_id} failed: {one.reason}" for one in failed),
                *([self._stopping.reason] if self._stopping.reason and not failed else []),
                *problems,
            ),
            interrupted=self.interrupted,
        )

    async def _seal_and_publish(self) -> tuple[Summary, list[PublishReport], list[str]]:
        """Return what the run holds, where it was published, and what went wrong with that."""
        publications, problems = list[PublishReport](), list[str]()
        try:
            problems += await self._judge_foreign()
            for unit_id in self._found.leftovers:
                await self._shop.spool.discard(unit_id)
            summary = await self._seal()
        except StepmillError as error:
            return Summary(version=0), publications, [str(error)]
        for to in self._config.publish.to:
            if summary.version and not self._stopping.asked:
                try:
                    publications.append(await self._publish(to))
                except StepmillError as error:  # the other destinations are no worse for it
                    problems.append(str(error))
        return summary, publications, problems

    async def _judge_foreign(self) -> list[str]:
        """Judge what other workers rolled out and did not judge; return what went wrong.

        Those that live have had until now, and what they answered is not asked again.
        """
        problems = []
        for unit_id in self._units.foreign:
            said = by_episode(await self._shop.lake.verdicts(units={unit_id}))
            end = await self._units.judge(unit_id, said, again=False)
            if end.state is UnitState.FAILED:
                problems.append(f"unit {end.unit_id} failed: {end.reason}")
        return problems

    async def _seal(self) -> Summary:
        lake = self._shop.lake
        version = await lake.seal()
        if not version:
            return Summary(version=0)
        verdicts = await lake.verdicts(version=version)
        return await summarise(await lake.snapshot(version), verdicts, self._config.accept)

    async def _publish(self, to: str) -> PublishReport:
        snapshot = await self._shop.lake.snapshot()
        await self._shop.lake.keep(snapshot.version)
        return await publish(
            snapshot,
            self._run,
            self._config.accept,
            to,
            terms=self._config.publish,
            storage=self._config.storage,
        )
