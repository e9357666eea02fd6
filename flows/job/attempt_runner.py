"""One attempt, from nothing to an episode that is durable and judged.

An episode is put to the spool the moment it ends, and judged at once, in slots of its own. How
many attempts are on their way at the same time is limited here, over all units: a few more than
there are sessions, because some are being judged or written. That bounds what is held in memory
and lets a replay wait for a session or two only, never for all rollouts that were planned first.

Being asked to stop lets rollouts under way end; nothing new begins.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from flows.job.judging import Said, told
from flows.job.plan import PlannedAttempt
from flows.job.progress import Tally
from flows.resources.resources import Workshop
from generators.rollout.attempt import Attempt
from generators.rollout.limits import limits_for
from generators.rollout.rollout import rollout
from schemas.acceptance import latest
from schemas.config import RunConfig
from schemas.episode import Episode
from schemas.task import Task
from schemas.verdict import Verdict
from storage.objects.protocol import Missing


class Stopping:
    """Whether a command was asked to stop."""

    def __init__(self) -> None:
        self.asked = False
        """Begin nothing new."""
        self.reason = ""
        """What forces it to stop; empty if somebody asked it to."""

    def ask(self, reason: str = "") -> None:
        """Ask to begin nothing new."""
        self.asked = True
        self.reason = self.reason or reason


@dataclass(frozen=True, slots=True)
class Finished:
    """An attempt that ended."""

    content_sha256: str
    """Of the episode that is in the spool."""
    verdicts: tuple[Verdict, ...] | None
    """What was said of it; None if nobody was asked."""


_ELSEWHERE = Finished("", ())
"""An episode that left the spool meanwhile: another worker has committed its unit."""


class Attempts:
    """Makes and judges episodes, many at once."""

    def __init__(
        self,
        workshop: Workshop,
        config: RunConfig,
        *,
        run_id: str,
        code_version: str,
        tally: Tally,
        stopping: Stopping,
    ) -> None:
        self._shop = workshop
        self._config = config
        self._run_id = run_id
        self._code_version = code_version
        self._tally = tally
        self._stopping = stopping
        most = workshop.slots.most
        self._live = asyncio.Semaphore(most + (most + 1) // 2)

    async def finish(
        self, unit_id: str, planned: PlannedAttempt, *, spooled: bool
    ) -> Finished | None:
        """Bring an attempt to its end; None if the command was asked to stop before it began.

        Raises:
            Unwritable: the episode cannot be stored.
            Damaged: what the spool holds of it cannot be read.
            NoBrowser: the browser is gone and does not start again.
        """
        async with self._live:
            try:
                episode = await self._spooled(unit_id, planned, there=spooled)
            except Missing:
                return _ELSEWHERE
            if episode is None:
                return None
            if self._stopping.asked:
                return Finished(episode.content_sha256, None)
            [task] = told([planned.task], {episode.task_id: episode.instruction})
            verdicts = await self._judge(task, episode, {})
            return Finished(episode.content_sha256, verdicts)

    async def judge(
        self, task: Task, episode: Episode, said: Said, *, again: bool
    ) -> tuple[Verdict, ...]:
        """Judge a stored episode, given what was said, or `again`; nothing if asked to stop."""
        async with self._live:
            if self._stopping.asked:
                return ()
            return await self._judge(task, episode, said, again=again)

    async def _judge(
        self, task: Task, episode: Episode, said: Said, *, again: bool = False
    ) -> tuple[Verdict, ...]:
        found = await self._shop.panel.judge(task, episode, {} if again else said)
        now: Mapping[str, Verdict] = {**said, **latest(found)}
        self._tally.judged(episode.episode_id, now)
        return tuple(found)

    async def _spooled(
        self, unit_id: str, planned: PlannedAttempt, *, there: bool
    ) -> Episode | None:
        """Return the episode from the spool, made if it was not `there` when the run was opened.

        Raises:
            Missing: it was, or another worker made it, and it is no longer.
        """
        if there:
            return await self._shop.spool.get(unit_id, planned.episode_id)
        return await self._make(unit_id, planned)

    async def _make(self, unit_id: str, planned: PlannedAttempt) -> Episode | None:
        """Roll out and store; return what is stored, which may be another worker's."""
        async with self._shop.live.one(), self._shop.slots.one():
            if self._stopping.asked:
                return None
            episode = await self._roll_out(unit_id, planned)
        if not await self._shop.spool.put(episode):
            episode = await self._shop.spool.get(unit_id, planned.episode_id)
        self._tally.made(episode)
        return episode

    async def _roll_out(self, unit_id: str, planned: PlannedAttempt) -> Episode:
        browser, task = self._config.browser, planned.task
        attempt = Attempt(
            run_id=self._run_id,
            unit_id=unit_id,
            task=task,
            attempt=planned.attempt,
            viewport_width=self._config.viewport[0],
            viewport_height=self._config.viewport[1],
            device_scale_factor=browser.device_scale_factor,
            code_version=self._code_version,
        )
        return await rollout(
            attempt,
            site=self._shop.sites[task.site],
            sessions=self._shop.rollouts,
            make_policy=lambda account: self._shop.acting.policies.make(
                planned.policy, seed=planned.seed, task=task, account=account
            ),
            limits=limits_for(task, self._config.limits),
        )
