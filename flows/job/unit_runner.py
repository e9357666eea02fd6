"""One unit from nothing, or from where an earlier command stopped, to committed rows and verdicts.

An episode is put into the spool the moment it ends, and judged at once. When every episode of a unit is
in the spool, the unit is committed and the verdicts follow. Its rows are made from the spool and not
from memory, because another worker may have made some of the episodes or committed all of them. An
unreadable object fails its unit and no other; if writing fails, no browser starts or no engine is left,
no further unit is begun. Running the same command again goes on from there. A job that is asked to stop
lets rollouts in flight end and begins nothing new.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Self

from flows.job.context import JobContext, UnitReport, UnitState
from flows.job.judging import JudgedCheck, UnitJudge, commit_verdicts
from flows.job.plan import PlannedAttempt, PlannedUnit
from flows.job.provenance import code_version
from flows.resources.memory_room import MemoryRoom
from generators.browser.protocol import Sessions
from generators.browser.slots import Slots
from generators.policy.factory import PolicyFactory
from generators.policy.model.try_account import Account
from generators.policy.protocol import Policy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import make_limits
from generators.rollout.rollout import rollout
from generators.sites.protocol import Site
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import LimitsSection, PolicySection
from schemas.episodes.episode import Episode
from schemas.episodes.viewport import Viewport, draw_viewport
from schemas.errors import Conflict, NoEngine, StepmillError
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Verdict
from storage.lake.lake import Lake
from storage.objects.protocol import Missing
from storage.spool import Spool

COMMIT_TRIES = 5
"""How often a unit is read from the spool again because another worker changed it."""

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    """The settings and resources that all rollouts of a run share."""

    run_id: str
    """The run that the episodes belong to."""
    code_version: str
    """The program's version and commit, and the plug-ins' versions."""
    config: RunConfig
    """The run's configuration, which sets the size of pages and pictures."""
    limits: LimitsSection
    """The limits of every attempt."""
    sites: Mapping[str, Site]
    """The sites by the names that tasks give them."""
    sessions: Sessions
    """Sessions of the browsers for rollouts."""
    policies: PolicyFactory
    """Makes the policy of every attempt."""

    @classmethod
    def of(
        cls,
        config: RunConfig,
        run_id: str,
        tasks: Iterable[Task],
        *,
        sites: Mapping[str, Site],
        sessions: Sessions,
        policies: PolicyFactory,
    ) -> Self:
        """Return the setup that a configuration asks for; `tasks` are those of the run."""
        return cls(
            run_id=run_id,
            code_version=code_version(config, tasks),
            config=config,
            limits=config.limits,
            sites=sites,
            sessions=sessions,
            policies=policies,
        )

    def viewport_of(self, task: Task) -> Viewport:
        """Return the viewport of all attempts at a task."""
        area = self.sites[task.site].area(task.template_id)
        return draw_viewport(self.config, area, seed=task.task_id)

    def roll_out(
        self,
        unit_id: str,
        planned: PlannedAttempt,
        make_policy: Callable[[Account, Viewport], Policy] | None = None,
    ) -> Coroutine[None, None, Episode]:
        """Return the rollout of an attempt, to be awaited.

        `make_policy` makes the policy of each try; None: the run's factory makes that of the attempt's section.

        Raises:
            NoBrowser: the browser is gone and does not start again.
        """
        task, site = planned.task, self.sites[planned.task.site]
        viewport = self.viewport_of(task)
        attempt = Attempt(
            run_id=self.run_id,
            unit_id=unit_id,
            task=task,
            attempt=planned.attempt,
            viewport_width=viewport.width,
            viewport_height=viewport.height,
            device_scale_factor=viewport.scale,
            code_version=self.code_version,
        )
        return rollout(
            attempt,
            site=site,
            sessions=self.sessions,
            make_policy=lambda account: (
                make_policy(account, viewport)
                if make_policy is not None
                else self.policies.make(
                    planned.policy, seed=planned.seed, task=task, account=account, viewport=viewport
                )
            ),
            limits=make_limits(task, self.limits),
        )


@dataclass(frozen=True, slots=True)
class FinishedAttempt:
    """An attempt that ended."""

    content_sha256: str
    """The hash of the spooled episode; empty if another worker has committed the unit."""
    verdicts: tuple[Verdict, ...] | None
    """The new verdicts on it; None if the panel was not asked."""


class UnitRunner:
    """Rolls out, commits and judges units that are not committed."""

    def __init__(
        self,
        context: JobContext,
        judge: UnitJudge,
        setup: RolloutSetup,
        *,
        slots: Slots,
        live: Callable[[PolicySection, str], AbstractAsyncContextManager[None]],
        memory: MemoryRoom,
    ) -> None:
        """`slots` bounds how many rollouts run; `live` waits for a place at the engine that an attempt's policy asks.

        None begins while `memory` is short.
        """
        self._context = context
        self._judge = judge
        self._setup = setup
        self._slots, self._live, self._memory = slots, live, memory
        self.foreign: list[str] = []
        """Units with another worker's rollouts; that worker may die before it judges them."""

    @property
    def waiting_for_memory(self) -> int:
        """How many attempts do not begin, because the memory of the machine is short."""
        return self._memory.waiting

    async def make(self, unit: PlannedUnit, spooled: set[str]) -> UnitReport:
        """Complete a unit that is not committed; its `spooled` episodes are finished already."""
        try:
            async with asyncio.TaskGroup() as group:
                running = {}
                for planned in unit.attempts:
                    attempt = self._finish(unit.unit_id, planned, spooled)
                    running[planned.episode_id] = group.create_task(attempt)
            finished = {
                episode_id: ended
                for episode_id, task in running.items()
                if (ended := task.result()) is not None
            }
            whole = len(finished) == len(unit.attempts)
            if whole:
                await self._commit(unit, finished)
        except (StepmillError, OSError, ExceptionGroup) as error:
            return self._context.fail(unit.unit_id, error)
        self._context.progress.units += whole
        if whole:
            self._context.progress.count_committed(finished)
        judged = whole and all(attempt.verdicts is not None for attempt in finished.values())
        state = UnitState.DONE if judged else UnitState.INTERRUPTED
        return UnitReport(unit_id=unit.unit_id, state=state)

    async def _finish(
        self, unit_id: str, planned: PlannedAttempt, spooled: set[str]
    ) -> FinishedAttempt | None:
        """Roll out, store and judge an attempt; None if the job was stopped before it began or no engine is left.

        Raises:
            Unwritable: the episode cannot be stored.
            Damaged: the episode in the spool cannot be read.
            NoBrowser: the browser is gone and does not start again.
        """
        context = self._context
        async with context.attempts:
            try:
                if planned.episode_id in spooled:
                    episode = await context.spool.get(unit_id, planned.episode_id)
                else:
                    async with (
                        self._slots.hold(),
                        self._place(planned),
                        context.slots.hold(),
                    ):
                        if context.is_stopped():
                            return None
                        try:
                            made = await self._setup.roll_out(unit_id, planned)
                        except NoEngine as error:  # rollouts that ask no engine go on to their ends
                            context.stopping.ask(str(error))
                            return None
                    episode = await self._store(made)
                context.progress.count_spooled(planned.episode_id)
            except Missing:  # another worker has committed the unit meanwhile
                return FinishedAttempt("", ())
            if context.stopping.asked:
                return FinishedAttempt(episode.content_sha256, None)
            task = with_goal(planned.task, episode.instruction)
            verdicts = await self._judge.judge_episode(task, episode, ())
            return FinishedAttempt(episode.content_sha256, verdicts)

    @contextlib.asynccontextmanager
    async def _place(self, planned: PlannedAttempt) -> AsyncIterator[None]:
        """Hold a place at the engine, and memory, for an attempt; no place is held while memory is waited for."""
        context, memory = self._context, self._memory
        while True:
            await memory.wait(context.is_stopped)
            async with self._live(planned.policy, planned.seed):
                if memory.has_room or context.is_stopped():
                    with memory.episode():
                        yield
                    return

    async def _store(self, made: Episode) -> Episode:
        """Put an episode into the spool; return the stored one, which may be another worker's.

        Raises:
            Missing: another worker stored one, and has committed its unit since.
        """
        spool, stored = self._context.spool, made
        if not await spool.put(made):
            stored = await spool.get(made.unit_id, made.episode_id)
        self._context.progress.count_new(stored)
        return stored

    async def _commit(self, unit: PlannedUnit, finished: Mapping[str, FinishedAttempt]) -> None:
        """Commit a unit whose episodes are all finished, and the verdicts on those committed.

        Raises:
            Conflict: other workers change the unit again and again.
        """
        context = self._context
        contents = await commit_episodes(context.lake, context.spool, unit)
        own = [
            finished[episode_id]
            for episode_id, content_sha256 in contents.items()
            if finished[episode_id].content_sha256 == content_sha256
        ]
        if len(own) < len(contents):
            self.foreign.append(unit.unit_id)
        await commit_verdicts(
            context.lake,
            unit.unit_id,
            [verdict for attempt in own for verdict in attempt.verdicts or ()],
            check=JudgedCheck(context.panel, contents.keys()),
        )


async def commit_episodes(lake: Lake, spool: Spool, unit: PlannedUnit) -> Mapping[str, str]:
    """Commit a unit from the spool; return the hash of each episode that the tables now hold.

    Raises:
        Conflict: other workers changed the unit at every try.
    """
    conflicts: list[Conflict] = []
    while len(conflicts) < COMMIT_TRIES:
        try:
            committed = None
            if not await lake.has(unit.unit_id):
                committed = await _commit_spooled(lake, spool, unit)
            if committed is None:
                committed = await lake.content_hashes(unit.unit_id)
        except Conflict as conflict:
            LOG.info("reading unit %s again: %s", unit.unit_id, conflict)
            conflicts.append(conflict)
        else:
            await spool.discard(unit.unit_id)
            return committed
    raise conflicts[-1]


async def _commit_spooled(lake: Lake, spool: Spool, unit: PlannedUnit) -> Mapping[str, str] | None:
    """Return the hashes of the committed episodes; None if another worker committed the unit.

    Episodes are read one at a time.

    Raises:
        Conflict: another worker changed the unit; the caller reads it again.
    """
    contents, goals = dict[str, str](), dict[str, str]()
    async with lake.unit(unit.unit_id) as writer:
        for planned in unit.attempts:
            try:
                episode = await spool.get(unit.unit_id, planned.episode_id)
            except Missing:
                if await lake.has(unit.unit_id):
                    return None
                raise Conflict(
                    "an episode is missing from the spool, and the unit is not committed"
                ) from None
            if episode.instruction:
                goals[episode.task_id] = episode.instruction
            contents[episode.episode_id] = episode.content_sha256
            await writer.add(episode)
        tasks = [with_goal(task, goals.get(task.task_id, "")) for task in unit.tasks]
        return contents if await writer.commit(tasks) else None


def with_goal(task: Task, goal: str) -> Task:
    """Return `task` with the goal that its page stated, where the task states none itself."""
    if task.instruction or not goal:
        return task
    return task.model_copy(update={"instruction": goal})
