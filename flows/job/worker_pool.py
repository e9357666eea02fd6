"""Workers that each complete one unit after another.

There are as many workers as units in flight. Work begins with `begin`, whether or not any caller
waits for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping

from flows.job.context import StopSignal, UnitReport, UnitState

Work = Mapping[str, Callable[[], Awaitable[UnitReport]]]
"""The work that completes each unit, in the order in which units are begun."""


class WorkerPool:
    """Completes units by a fixed number of workers."""

    def __init__(self, work: Work, *, workers: int, stopping: StopSignal) -> None:
        self._work = work
        self._workers = min(workers, len(work))
        self._stopping = stopping
        self._reports: dict[str, asyncio.Future[UnitReport]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def unit_ids(self) -> tuple[str, ...]:
        """The units, in the order in which they are begun."""
        return tuple(self._work)

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Start the workers as tasks of `group`."""
        loop = asyncio.get_running_loop()
        self._reports = {unit_id: loop.create_future() for unit_id in self._work}
        queue = iter(self._work)
        for _ in range(self._workers):
            self._tasks.append(group.create_task(self._run_worker(queue)))

    async def unit(self, unit_id: str) -> UnitReport:
        """Wait until a unit has ended, and return its report."""
        return await asyncio.shield(self._reports[unit_id])

    async def reports(self) -> list[UnitReport]:
        """Wait until all workers have ended, and return the report of every unit."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        for unit_id, report in self._reports.items():
            if not report.done():
                report.set_result(UnitReport(unit_id=unit_id, state=UnitState.INTERRUPTED))
        return [report.result() for report in self._reports.values()]

    def cancel(self) -> None:
        """Stop now, and leave units in flight as they are."""
        for task in self._tasks:
            task.cancel()

    async def _run_worker(self, queue: Iterator[str]) -> None:
        for unit_id in queue:
            if self._stopping.asked:
                return
            self._reports[unit_id].set_result(await self._work[unit_id]())
