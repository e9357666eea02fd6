"""One unit from nothing, or from wherever it was left, to committed episodes and verdicts.

When every episode of a unit is in the spool, its rows are made from what **lies there** and not
from anybody's memory, and committed; the spool's objects go, and the verdicts follow. A unit that
is committed and owes verdicts is judged from the tables. What cannot be read fails the unit and
no other; where nothing can be written or looked at any more, no further unit is begun. The same
command again goes on from there.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from enum import StrEnum

from flows.job.attempt_runner import Attempts, Finished, Stopping
from flows.job.judging import Said, Settling, commit, told
from flows.job.plan import PlannedUnit
from flows.job.progress import Tally
from flows.resources.resources import Workshop
from schemas.base import Record
from schemas.errors import Conflict, NoBrowser, StepmillError, Unwritable
from schemas.verdict import Verdict
from storage.objects.protocol import Missing

COMMIT_TRIES = 5
"""How often a unit is read from the spool again because another worker changed it."""

LOG = logging.getLogger(__name__)

Results = dict[str, Finished]
"""What is known of a unit's finished attempts, by episode."""


class UnitState(StrEnum):
    """How a unit ended."""

    DONE = "done"
    """Committed and judged."""
    INTERRUPTED = "interrupted"
    """Stopped on the way; what is finished is durable."""
    FAILED = "failed"
    """Something could not be read or written."""


class UnitReport(Record):
    """What became of a unit."""

    unit_id: str
    """The unit."""
    state: UnitState
    """How it ended."""
    reason: str = ""
    """Why it failed; empty if it did not."""


class Units:
    """Brings units to their end."""

    def __init__(
        self, workshop: Workshop, attempts: Attempts, *, tally: Tally, stopping: Stopping
    ) -> None:
        self._shop = workshop
        self._attempts = attempts
        self._tally = tally
        self._stopping = stopping
        self.foreign: list[str] = []
        """Units that hold another worker's rollouts, which that worker may not live to judge."""

    async def make(self, unit: PlannedUnit, spooled: set[str]) -> UnitReport:
        """Bring a unit that is not committed to its end; `spooled` of its episodes are finished."""
        try:
            results = await self._finish(unit, spooled)
            whole = len(results) == len(unit.attempts)
            if whole:
                await self._commit(unit, results)
        except (StepmillError, OSError) as error:
            return self._failed(unit.unit_id, [error])
        except ExceptionGroup as group:
            return self._failed(unit.unit_id, _expected(group))
        self._tally.units += whole
        judged = whole and all(result.verdicts is not None for result in results.values())
        return _ended(unit.unit_id, UnitState.DONE if judged else UnitState.INTERRUPTED)

    async def judge(self, unit_id: str, said: Mapping[str, Said], *, again: bool) -> UnitReport:
        """Judge a committed unit's episodes: those that owe verdicts, or all of them `again`."""
        try:
            new, episodes = await self._judge(unit_id, said, again=again)
            settling = Settling(self._shop.panel, episodes)
            await commit(self._shop.lake, unit_id, new, again=again, settling=settling)
        except (StepmillError, OSError) as error:
            return self._failed(unit_id, [error])
        except ExceptionGroup as group:
            return self._failed(unit_id, _expected(group))
        stopped = self._stopping.asked
        return _ended(unit_id, UnitState.INTERRUPTED if stopped else UnitState.DONE)

    async def _finish(self, unit: PlannedUnit, spooled: set[str]) -> Results:
        async with asyncio.TaskGroup() as group:
            running = {
                planned.episode_id: group.create_task(
                    self._attempts.finish(
                        unit.unit_id, planned, spooled=planned.episode_id in spooled
                    )
                )
                for planned in unit.attempts
            }
        ended = ((episode_id, task.result()) for episode_id, task in running.items())
        return {episode_id: finished for episode_id, finished in ended if finished}

    async def _judge(
        self, unit_id: str, said: Mapping[str, Said], *, again: bool
    ) -> tuple[list[Verdict], set[str]]:
        """Return what is newly said of a committed unit's episodes, and all of those."""
        lake, panel = self._shop.lake, self._shop.panel
        tasks = {task.task_id: task for task in await lake.tasks(unit_id)}
        episodes = await lake.episodes(unit_id)
        async with asyncio.TaskGroup() as group:
            running = [
                group.create_task(
                    self._attempts.judge(tasks[episode.task_id], episode, before, again=again)
                )
                for episode in episodes
                for before in [said.get(episode.episode_id, {})]
                if again or panel.owes(before)
            ]
        new = [verdict for task in running for verdict in task.result()]
        return new, {episode.episode_id for episode in episodes}

    async def _commit(self, unit: PlannedUnit, results: Results) -> None:
        """Commit a unit whose episodes are all finished, and what was said of them.

        Raises:
            Conflict: other workers change the unit again and again.
        """
        for left in reversed(range(COMMIT_TRIES)):
            try:
                contents = await self._commit_episodes(unit)
            except Conflict as conflict:
                if not left:
                    raise
                LOG.info("reading unit %s again: %s", unit.unit_id, conflict)
                continue
            await self._shop.spool.discard(unit.unit_id)
            await self._commit_verdicts(unit.unit_id, contents, results)
            return

    async def _commit_episodes(self, unit: PlannedUnit) -> Mapping[str, str]:
        """Return the hashes of the unit's episodes as they are committed now, by whomever.

        Raises:
            Conflict: the spool is to be asked again.
        """
        lake = self._shop.lake
        if not await lake.has(unit.unit_id):
            contents = await self._commit_spooled(unit)
            if contents is not None:
                return contents
        return await lake.contents(unit.unit_id)

    async def _commit_spooled(self, unit: PlannedUnit) -> Mapping[str, str] | None:
        """Return what was committed from the spool, read one episode at a time; None if nothing.

        Raises:
            Conflict: the spool is to be asked again.
        """
        lake, contents, goals = self._shop.lake, dict[str, str](), dict[str, str]()
        async with lake.unit(unit.unit_id) as writer:
            for planned in unit.attempts:
                try:
                    episode = await self._shop.spool.get(unit.unit_id, planned.episode_id)
                except Missing:
                    if await lake.has(unit.unit_id):
                        return None
                    raise Conflict(
                        "an episode left the spool, and the unit is not committed"
                    ) from None
                if episode.instruction:
                    goals[episode.task_id] = episode.instruction
                contents[episode.episode_id] = episode.content_sha256
                await writer.add(episode)
            return contents if await writer.commit(told(unit.tasks, goals)) else None

    async def _commit_verdicts(
        self, unit_id: str, contents: Mapping[str, str], results: Results
    ) -> None:
        """Commit the verdicts on the episodes that were really committed."""
        new: list[Verdict] = []
        ours = {
            episode_id
            for episode_id, content_sha256 in contents.items()
            if results[episode_id].content_sha256 == content_sha256
        }
        for episode_id in ours:
            new += results[episode_id].verdicts or ()
        if len(ours) < len(contents):
            self.foreign.append(unit_id)
        await commit(
            self._shop.lake, unit_id, new, settling=Settling(self._shop.panel, contents.keys())
        )

    def _failed(self, unit_id: str, errors: Sequence[Exception]) -> UnitReport:
        reason = "; ".join(dict.fromkeys(str(error) for error in errors))
        self._tally.units_failed += 1
        if any(isinstance(error, NoBrowser | Unwritable) for error in errors):
            self._stopping.ask(reason)  # whatever is begun now would fail like this
        LOG.error("unit %s failed: %s", unit_id, reason)
        return UnitReport(unit_id=unit_id, state=UnitState.FAILED, reason=reason)


def _ended(unit_id: str, state: UnitState) -> UnitReport:
    return UnitReport(unit_id=unit_id, state=state)


def _expected(group: ExceptionGroup[Exception]) -> list[Exception]:
    """Return the errors in `group`, or let it through if one of them is a defect."""
    out: list[Exception] = []
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            out += _expected(error)
        elif isinstance(error, StepmillError | OSError):
            out.append(error)
        else:
            raise group
    return out
