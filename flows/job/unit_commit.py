"""The commit of a unit whose episodes are all in the spool.

The rows of a unit are made from what **the spool holds** and not from memory: another
worker may have made some of its episodes, or committed all of them. The spool's objects are
removed once the unit is committed.
"""

import logging
from collections.abc import Mapping

from flows.job.plan import PlannedUnit
from schemas.errors import Conflict
from schemas.task import Task
from storage.lake.lake import Lake
from storage.objects.protocol import Missing
from storage.spool import Spool

COMMIT_TRIES = 5
"""How often a unit is read from the spool because another worker changed it meanwhile."""

LOG = logging.getLogger(__name__)


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
    """Return the hashes of what was committed; None if another worker committed the unit.

    Episodes are read one at a time.

    Raises:
        Conflict: the caller is to look again.
    """
    contents, goals = dict[str, str](), dict[str, str]()
    async with lake.unit(unit.unit_id) as writer:
        for planned in unit.attempts:
            try:
                episode = await spool.get(unit.unit_id, planned.episode_id)
            except Missing:
                if await lake.has(unit.unit_id):
                    return None
                raise Conflict("an episode left the spool, and the unit is not committed") from None
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
