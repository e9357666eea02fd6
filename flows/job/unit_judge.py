"""Committed units judged by the panel, from the tables alone."""

import asyncio
from collections.abc import Mapping

from flows.job.context import JobContext, UnitReport, UnitState
from flows.job.judging import JudgedCheck, KnownVerdicts, commit_verdicts
from schemas.acceptance import latest_verdicts
from schemas.episode import Episode
from schemas.errors import StepmillError
from schemas.task import Task
from schemas.verdict import Verdict


class UnitJudge:
    """Judges episodes, and whole units of them."""

    def __init__(self, context: JobContext) -> None:
        self._context = context

    async def judge_owed(self, unit_id: str, known: Mapping[str, KnownVerdicts]) -> UnitReport:
        """Judge those episodes of a committed unit that owe verdicts beside the `known` ones."""
        return await self._judge(unit_id, known, again=False)

    async def judge_again(self, unit_id: str, known: Mapping[str, KnownVerdicts]) -> UnitReport:
        """Judge all episodes of a committed unit, whatever is `known` of them."""
        return await self._judge(unit_id, known, again=True)

    async def judge_episode(
        self, task: Task, episode: Episode, known: KnownVerdicts, *, again: bool = False
    ) -> tuple[Verdict, ...]:
        """Return the panel's new verdicts on one episode, and count it by all of its verdicts."""
        new = await self._context.panel.judge(task, episode, {} if again else known)
        self._context.progress.count_judged(episode.episode_id, {**known, **latest_verdicts(new)})
        return tuple(new)

    async def _judge(
        self, unit_id: str, known: Mapping[str, KnownVerdicts], *, again: bool
    ) -> UnitReport:
        lake, panel = self._context.lake, self._context.panel
        try:
            tasks = {task.task_id: task for task in await lake.tasks(unit_id)}
            episodes = await lake.episodes(unit_id)
            async with asyncio.TaskGroup() as group:
                judging = [
                    group.create_task(
                        self._unless_stopped(tasks[episode.task_id], episode, before, again=again)
                    )
                    for episode in episodes
                    for before in [known.get(episode.episode_id, {})]
                    if again or panel.needs_verdicts(before)
                ]
            new = [verdict for task in judging for verdict in task.result()]
            settling = JudgedCheck(panel, {episode.episode_id for episode in episodes})
            await commit_verdicts(lake, unit_id, new, again=again, settling=settling)
        except (StepmillError, OSError, ExceptionGroup) as error:
            return self._context.fail(unit_id, error)
        stopped = self._context.stopping.asked
        state = UnitState.INTERRUPTED if stopped else UnitState.DONE
        return UnitReport(unit_id=unit_id, state=state)

    async def _unless_stopped(
        self, task: Task, episode: Episode, known: KnownVerdicts, *, again: bool
    ) -> tuple[Verdict, ...]:
        """Judge an episode in a slot for attempts; return nothing if the job is stopping."""
        async with self._context.attempts:
            if self._context.stopping.asked:
                return ()
            return await self.judge_episode(task, episode, known, again=again)
