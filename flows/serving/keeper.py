"""Keeps served episodes: each durable as soon as it ends, judged, and committed in units of several.

A planned unit is known before its first attempt. Here nobody knows which episode ends next, so a unit is whatever ended
together: it is named after its first episode, takes those that end after it, and is committed when it is full or old
enough. The tasks lie in the store beside the spooled episodes, so that a server that begins after a `kill -9` commits
what the one before left.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field

from flows.job.context import JobContext
from flows.job.judging import JudgedCheck, UnitJudge, by_episode, commit_verdicts
from flows.job.plan import PlannedAttempt, PlannedUnit
from flows.job.unit_runner import commit_episodes, with_goal
from schemas.configuration.sections import PolicySection
from schemas.episodes.episode import Episode
from schemas.errors import StepmillError
from schemas.ids import served_unit_id
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Verdict
from storage.served import ServedTasks

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


class EpisodeKeeper:
    """Keeps the episodes of one server."""

    def __init__(
        self, context: JobContext, judge: UnitJudge, *, unit_size: int, commit_seconds: float
    ) -> None:
        self._context, self._judge = context, judge
        self.store, self.lake = context.store, context.lake
        """Where the run is, and its tables."""
        self._tasks = ServedTasks(context.store)
        self._unit_size, self._commit_seconds = max(1, unit_size), commit_seconds
        self._batch: _Batch | None = None
        self._commits = set[asyncio.Task[None]]()
        self._sealed_at = time.monotonic()
        self.kept = 0
        """Episodes that are durable."""
        self.committed = 0
        """Episodes of them that are in the tables."""
        self.problems: list[str] = []
        """Why units could not be committed; a server that begins later commits them."""

    async def keep(self, planned: PlannedAttempt, made: Episode) -> Episode:
        """Make an episode durable, and have it judged and committed; return it as it is stored.

        Raises:
            Unwritable: it cannot be stored.
        """
        batch = self._open_batch(made)
        episode = made.model_copy(update={"unit_id": batch.unit_id})
        batch.storing += 1
        if len(batch.attempts) + batch.storing >= self._unit_size:
            self._close(batch)
        try:
            await self._tasks.put(batch.unit_id, planned.task)
            await self._context.spool.put(episode)
            self._count(episode)
            batch.attempts.append(planned)
            task = with_goal(planned.task, episode.instruction)
            batch.judging.append(asyncio.create_task(self._judge_one(task, episode)))
        finally:
            batch.storing -= 1
            self._commit_if_whole(batch)
        return episode

    def _count(self, episode: Episode) -> None:
        self.kept += 1
        self._context.progress.count_new(episode)
        self._context.progress.count_spooled(episode.episode_id)

    def _open_batch(self, made: Episode) -> _Batch:
        if self._batch is None:
            batch = _Batch(served_unit_id(made.run_id, made.episode_id))
            loop = asyncio.get_running_loop()
            batch.timer = loop.call_later(self._commit_seconds, self._close, batch)
            self._batch = batch
        return self._batch

    async def _judge_one(self, task: Task, episode: Episode) -> tuple[Verdict, ...]:
        async with self._context.attempts:
            if self._context.stopping.asked:
                return ()
            return await self._judge.judge_episode(task, episode, ())

    def _close(self, batch: _Batch) -> None:
        """Let a batch take no more, and commit it once all of it is durable."""
        batch.full = True
        if self._batch is batch:
            self._batch = None
        self._commit_if_whole(batch)

    def _commit_if_whole(self, batch: _Batch) -> None:
        if batch.full and not batch.storing and batch.timer is not None:
            batch.timer.cancel()
            batch.timer = None
            if batch.attempts:
                commit = asyncio.create_task(self._commit(batch))
                self._commits.add(commit)
                commit.add_done_callback(self._end_commit)

    def _end_commit(self, commit: asyncio.Task[None]) -> None:
        self._commits.discard(commit)
        if not commit.cancelled() and (error := commit.exception()) is not None:
            LOG.error("served episodes wait in the spool: a defect", exc_info=error)
            self.problems.append(f"a unit was not committed, because of a defect: {error}")

    async def _commit(self, batch: _Batch) -> None:
        try:
            judged = [one for judging in batch.judging for one in await judging]
            await self._commit_unit(batch.unit_id, batch.attempts, judged)
        except (StepmillError, OSError) as error:
            LOG.exception("served episodes wait in the spool for the next server")
            self.problems.append(f"unit {batch.unit_id} failed: {error}")

    async def _commit_unit(
        self, unit_id: str, attempts: list[PlannedAttempt], verdicts: list[Verdict]
    ) -> None:
        context = self._context
        ordered = sorted(attempts, key=lambda one: (one.task.task_id, one.attempt))
        tasks = tuple({one.task.task_id: one.task for one in ordered}.values())
        unit = PlannedUnit(unit_id=unit_id, tasks=tasks, attempts=tuple(ordered))
        contents = await commit_episodes(context.lake, context.spool, unit)
        await commit_verdicts(
            context.lake, unit_id, verdicts, check=JudgedCheck(context.panel, contents.keys())
        )
        await self._tasks.discard(unit_id)
        self.committed += len(contents)
        context.progress.units += 1
        context.progress.count_committed(contents)
        if time.monotonic() - self._sealed_at >= SEAL_SECONDS:
            await self._seal()

    async def _seal(self) -> None:
        self._sealed_at = time.monotonic()
        await self._context.lake.seal()

    async def take_up(self) -> int:
        """Commit and judge what a server that was killed left; return how many episodes that were.

        Raises:
            Damaged: a spooled episode or a task cannot be read.
        """
        context, found = self._context, 0
        spooled = await context.spool.listing()
        for unit_id, task_ids in (await self._tasks.listing()).items():
            if unit_id in spooled and not await context.lake.has(unit_id):
                tasks = {one: await self._tasks.get(unit_id, one) for one in task_ids}
                attempts = [
                    await self._plan_of(unit_id, episode_id, tasks)
                    for episode_id in sorted(spooled[unit_id])
                ]
                await self._commit_unit(unit_id, attempts, [])
                found += len(attempts)
            if await context.lake.has(unit_id):
                known = by_episode(await context.lake.verdicts(units={unit_id}))
                await self._judge.judge_owed(unit_id, known)
                await context.spool.discard(unit_id)
            await self._tasks.discard(unit_id)
        return found

    async def _plan_of(
        self, unit_id: str, episode_id: str, tasks: dict[str, Task]
    ) -> PlannedAttempt:
        episode = await self._context.spool.get(unit_id, episode_id)
        task = tasks[episode.task_id]
        return PlannedAttempt(episode_id, task, episode.attempt, PolicySection(), seed="")

    async def close(self) -> None:
        """Commit everything that has ended."""
        if self._batch is not None:
            self._close(self._batch)
        while self._commits:
            await asyncio.wait(tuple(self._commits))
        await self._seal()
