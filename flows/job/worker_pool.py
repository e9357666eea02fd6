"""Some workers that bring units to their end, one after another each; whoever asks may wait.

How many workers there are is how many units are on their way at the same time. Work begins when
the crew is told to and never depends on anybody waiting for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from flows.job.attempt_runner import Stopping
from flows.job.unit_runner import UnitReport, UnitState

Do = Callable[[str], Awaitable[UnitReport]]
"""Brings a unit to its end."""


class Crew:
    """Workers for some units."""

    def __init__(self, unit_ids: Sequence[str], do: Do, *, stopping: Stopping) -> None:
        self.unit_ids = tuple(unit_ids)
        """The units, in the order they are begun."""
        self._do = do
        self._stopping = stopping
        self._ends: dict[str, asyncio.Future[UnitReport]] = {}
        self._workers: list[asyncio.Task[None]] = []

    def begin(self, group: asyncio.TaskGroup, *, workers: int) -> None:
        """Begin to work, in tasks of `group`."""
        loop = asyncio.get_running_loop()
        self._ends = {unit_id: loop.create_future() for unit_id in self.unit_ids}
        work = iter(self.unit_ids)
        least = min(workers, len(self.unit_ids))
        self._workers = [group.create_task(self._worker(work)) for _ in range(least)]

    async def unit(self, unit_id: str) -> UnitReport:
        """Wait until a unit has ended, and return how."""
        return await asyncio.shield(self._ends[unit_id])

    async def ended(self) -> list[UnitReport]:
        """Wait until no worker works any more, and return how every unit ended."""
        if self._workers:
            await asyncio.wait(self._workers)
        for unit_id, end in self._ends.items():
            if not end.done():
                end.set_result(UnitReport(unit_id=unit_id, state=UnitState.INTERRUPTED))
        return [end.result() for end in self._ends.values()]

    def cancel(self) -> None:
        """Stop now; what is on its way is left as it is."""
        for worker in self._workers:
            worker.cancel()

    async def _worker(self, work: Iterator[str]) -> None:
        for unit_id in work:
            if self._stopping.asked:
                return
            self._ends[unit_id].set_result(await self._do(unit_id))
