"""An existing run, opened by its URL, with the configuration it was made with.

The user's settings (a file, the environment, flags) override that configuration, so a command on a run
needs no setting that the run has already. The progress of a run is read from the stored objects alone,
so it is right for a run that is under way, cancelled or killed; these states look the same from outside,
because a run holds no lock and leaves no marker. The spool is listed before the tables are opened: a
unit that is committed in between is then seen twice and counted once, and never missed. Nothing is
written.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field, ValidationError

from flows.job.config_loader import Sources, load
from flows.job.summary import read_episodes
from generators.tasks.site_offers import site_offers
from generators.tasks.task_plan import plan_tasks, refusal_of
from schemas.base import Record
from schemas.configuration.config import RunConfig
from schemas.episodes.episode import Episode, StopReason
from schemas.errors import BadConfig, BadTasks, Damaged
from schemas.tables.tables import Row
from storage.lake.lake import Lake
from storage.lake.lake_reader import Snapshot
from storage.objects.batch_get import get_many
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.run_file import KEY, RunFile, open_run
from storage.spool import Spool, read_spooled, spool_key


@dataclass(frozen=True, slots=True)
class StoredRun:
    """An existing run."""

    config: RunConfig
    """The run's own, overridden by the user's settings."""
    run: RunFile
    """The run's `run.json`."""
    store: ObjectStore
    """Where the run is stored."""
    lake: Lake
    """The run's tables; the caller closes them."""


async def open_stored_run(url: str, sources: Sources, environ: Mapping[str, str]) -> StoredRun:
    """Return the run at `url`, with `sources` over its own configuration.

    Raises:
        NotFound: there is no run at `url`.
        BadConfig: a value in `sources` or the environment is wrong.
        Damaged: its `run.json` cannot be read.
    """
    located = sources.model_copy(update={"run": url})
    store = open_store(url, load(located, environ).storage)
    run = await open_run(store)
    config = load(located, environ, (f"{store.url}/{KEY}", run.config))
    return StoredRun(config=config, run=run, store=store, lake=Lake(url, store, config.storage))


class Completion(Record):
    """How much of a run has been made."""

    planned: int | None
    """Episodes of the plan; None where its tasks cannot be listed here."""
    committed: int
    """Planned episodes that are in the tables."""
    spooled: int
    """Planned episodes that have ended and wait for their unit's commit."""
    spooled_failed: int
    """Spooled episodes that failed."""
    spooled_unreadable: int
    """Objects of the spool that hold no episode; `stepmill audit --deep` names them."""
    sealed: bool
    """Nothing was committed since the last version was sealed."""
    last_ended_at: datetime | None
    """When the last of these episodes ended, UTC; None before the first."""
    waiting: dict[str, int] = Field(default_factory=dict)
    """Planned tasks without a commit that cannot be attempted here, by reason."""

    @property
    def complete(self) -> bool | None:
        """Every planned episode is in a version; None if the plan is unknown."""
        if self.spooled or not self.sealed:
            return False
        return None if self.planned is None else self.committed >= self.planned


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as it was at one moment."""

    made: Completion
    """How much of the run has been made."""
    snapshot: Snapshot
    """Its tables; the version is the last one that was sealed, 0 if none was."""
    episodes: Sequence[Row]
    """Its committed episodes, see `read_episodes`."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan of a run."""

    episodes: int
    """Its episodes."""
    waiting: Mapping[str, str]
    """The reason why each waiting task waits for its application, by task."""

    def count_waiting(self, begun: Collection[str]) -> dict[str, int]:
        """Return the number of waiting tasks by reason, without those `begun`."""
        return dict(Counter(why for task_id, why in self.waiting.items() if task_id not in begun))


async def view_run(stored: StoredRun) -> RunView:
    """Return how much of a run is made, and its tables as they are now.

    Raises:
        Damaged: the tables cannot be read.
    """
    spooled = await Spool(stored.store).listing()
    snapshot, sealed = await stored.lake.current()
    rows = await read_episodes(snapshot)
    committed: dict[str, datetime] = {row["episode_id"]: row["ended_at"] for row in rows}
    waiting = {unit_id: found - committed.keys() for unit_id, found in spooled.items()}
    episodes, unreadable = await _read_spooled(stored, waiting)
    plan = await asyncio.to_thread(_plan, stored)
    made = Completion(
        planned=None if plan is None else plan.episodes,
        committed=len(committed),
        spooled=sum(map(len, waiting.values())),
        spooled_failed=sum(one.stop_reason is StopReason.FAILED for one in episodes),
        spooled_unreadable=unreadable,
        sealed=sealed,
        last_ended_at=max([*committed.values(), *(one.ended_at for one in episodes)], default=None),
        waiting={} if plan is None else plan.count_waiting({row["task_id"] for row in rows}),
    )
    return RunView(made, snapshot, rows)


async def _read_spooled(
    stored: StoredRun, waiting: Mapping[str, set[str]]
) -> tuple[list[Episode], int]:
    """Return spooled episodes without their steps, and how many objects hold none.

    One that is gone was committed meanwhile, and counts as spooled all the same.
    """
    keys = [spool_key(unit_id, one) for unit_id, found in waiting.items() for one in sorted(found)]
    episodes, unreadable = list[Episode](), 0
    async for key, data in get_many(stored.store, keys):
        try:
            if data is not None:
                whole = read_spooled(data, key)
                episodes.append(whole.model_copy(update={"steps": (), "calls": ()}))
        except Damaged:
            unreadable += 1
    return episodes, unreadable


def _plan(stored: StoredRun) -> _Plan | None:
    """Return the plan of the run's own configuration; None if its tasks cannot be listed here."""
    try:
        config = RunConfig.model_validate(stored.run.config)
        plan = plan_tasks(config.tasks, seed=config.run.seed, applications=config.sites)
        sites = site_offers(config.sites)
    except (ValidationError, BadConfig, BadTasks):
        return None
    return _Plan(
        episodes=(len(plan.tasks) + len(plan.waiting)) * config.tasks.attempts,
        waiting={task.task_id: refusal_of(task, sites) or "" for task in plan.waiting},
    )
