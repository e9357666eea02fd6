"""The account of a command: how long it works on a run and what that costs, beside what others have.

The account begins when the run is opened, before an engine is started, and ends when everything is closed. While the
command works, its record in the run's work log is renewed every few seconds.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Self

import pyarrow.compute as pc

from flows.job.engine_usage import covered_seconds, run_dollars
from flows.job.progress import ProgressCounter
from flows.job.run_limits import RunLimits, Totals
from generators.engine.client.pricing import Meter
from schemas.configuration.sections import LimitsSection
from schemas.errors import StepmillError
from storage.lake import readers
from storage.lake.lake import Lake
from storage.objects.batch_get import get_many
from storage.objects.protocol import ObjectStore
from storage.spool import read_spooled, spool_key
from storage.work_log import Work, WorkLog

WRITE_SECONDS = 10.0
"""The time between two writings of a command's record, seconds: a kill loses at most so much of it."""

LOG = logging.getLogger(__name__)


class WorkAccount:
    """What one command does to a run; a context that ends after everything that costs something."""

    def __init__(
        self, store: ObjectStore, meter: Meter, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """`meter` counts what the command spends on engines."""
        self._log = WorkLog(store)
        self._meter = meter
        self._clock = clock
        self._began = clock()
        self._began_at = datetime.now(UTC)
        self._panel = ""
        self._progress: ProgressCounter | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write the record for the last time, if it was written at all."""
        if self._progress is not None:
            await self._write()

    @property
    def seconds(self) -> float:
        """Seconds since the command began."""
        return self._clock() - self._began

    @property
    def dollars(self) -> float:
        """Dollars that it has spent; 0 where nothing has a price."""
        return self._meter.dollars or 0.0

    @contextlib.asynccontextmanager
    async def keep(self, progress: ProgressCounter, panel: str) -> AsyncIterator[None]:
        """Keep the record written while the block runs; `panel` judges the episodes that `progress` counts."""
        self._progress, self._panel = progress, panel
        writing = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            writing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await writing

    async def earlier(self) -> Sequence[Work]:
        """Return the records of all other commands on the run.

        Raises:
            Damaged: one cannot be read.
        """
        return await self._log.read()

    async def all(self) -> Sequence[Work]:
        """Return the records of all commands on the run, this one's as it is now.

        Raises:
            Damaged: one cannot be read.
        """
        return [*await self._log.read(), *([] if self._progress is None else [self._work()])]

    async def _renew(self) -> None:
        while True:
            await self._write()
            await asyncio.sleep(WRITE_SECONDS)

    async def _write(self) -> None:
        try:
            await self._log.write(self._work())
        except StepmillError as error:  # the work itself says so where it cannot be written
            LOG.warning("the work log is not up to date: %s", error)

    def _work(self) -> Work:
        return Work(
            began_at=self._began_at,
            seconds=self.seconds,
            server_seconds=self._meter.server_seconds,
            server_gpus=self._meter.own_gpus,
            dollars=self._meter.dollars,
            accepted=self._progress.accepted_in_spool if self._progress is not None else (),
            panel=self._panel,
        )


async def open_limits(
    limits: LimitsSection,
    account: WorkAccount,
    progress: ProgressCounter,
    *,
    lake: Lake,
    store: ObjectStore,
    spooled: Mapping[str, AbstractSet[str]],
    panel: str,
) -> RunLimits:
    """Return the limits of a run, which count what earlier commands made and what this one makes.

    `spooled` are the episodes by unit that wait for a commit. Those that an earlier command with the same `panel`
    accepted are counted by `progress`, until they are judged again.

    Raises:
        Damaged: the tables, the spool or the work log cannot be read.
    """
    if not RunLimits(limits).are_set:
        return RunLimits()
    works = await account.earlier()
    waiting = {episode_id for found in spooled.values() for episode_id in found}
    for work in works:
        if work.panel == panel:
            for episode_id in waiting.intersection(work.accepted):
                progress.count_accepted_before(episode_id)
    dollars = seconds = 0.0
    if limits.dollars is not None:
        keys = [spool_key(unit_id, one) for unit_id, found in spooled.items() for one in found]
        stored = await _stored_dollars(lake) + await _spooled_dollars(store, keys)
        dollars = run_dollars(stored, works) or 0.0
    if limits.hours is not None:
        seconds = max(await _stored_seconds(lake), sum(work.seconds for work in works))
    return RunLimits(
        limits,
        lambda: Totals(
            dollars=dollars + account.dollars,
            seconds=seconds + account.seconds,
            accepted=progress.accepted,
        ),
    )


async def _stored_dollars(lake: Lake) -> float:
    """Return the cost of all committed calls."""
    calls = await (await lake.current())[0].dataset("calls")
    if calls is None or "cost_usd" not in calls.schema.names:
        return 0.0
    table = await asyncio.to_thread(readers.read_table, calls, columns=["cost_usd"])
    return float(pc.sum(table["cost_usd"]).as_py() or 0.0)


async def _spooled_dollars(store: ObjectStore, keys: Sequence[str]) -> float:
    """Return the cost of all calls of episodes that wait for a commit."""
    dollars = 0.0
    async for key, data in get_many(store, keys):
        if data is not None:
            dollars += sum(call.cost_usd or 0.0 for call in read_spooled(data, key).calls)
    return dollars


async def _stored_seconds(lake: Lake) -> float:
    """Return the seconds in which at least one committed episode was in progress.

    Runs of earlier versions have no work log.
    """
    episodes = await (await lake.current())[0].dataset("episodes")
    rows = await asyncio.to_thread(readers.rows, episodes, columns=["started_at", "ended_at"])
    return covered_seconds((row["started_at"], row["ended_at"]) for row in rows)
