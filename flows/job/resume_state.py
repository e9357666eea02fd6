"""The finished and the missing work of a run, read from its tables and its spool alone.

There are no locks: a unit is committed if its rows are, an episode is finished if it is in the
spool or committed, and a verdict is owed if the panel says so. A unit that owes none may be marked
as judged in the log; the mark is valid as long as the unit has exactly the verdicts it was set for.
Reading changes nothing.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from flows.job.judging import KnownVerdicts, by_episode, panel_id
from flows.job.plan import PlannedUnit
from flows.job.progress import ProgressCounter
from generators.verify.panel import Panel
from storage.lake.lake import Lake
from storage.spool import Spool

RECALL_UNITS = 1_000
"""Units whose verdicts of earlier commands are read together."""


@dataclass(frozen=True, slots=True)
class ResumeState:
    """The finished and the missing work of a run."""

    missing: tuple[PlannedUnit, ...]
    """Units that are not committed, in the plan's order."""
    to_judge: tuple[str, ...]
    """Committed units in which some episode owes a verdict."""
    stale_spool: tuple[str, ...]
    """Committed units of which the spool still holds objects."""
    spooled: Mapping[str, set[str]]
    """Finished episodes that are not committed, by unit."""
    committed: Mapping[str, set[str]]
    """Committed episodes, by unit."""
    judged: AbstractSet[str]
    """Committed units that are known to owe nothing; their verdicts were not read."""
    known: Mapping[str, KnownVerdicts]
    """Every verdict, by episode, of the other committed units."""

    @property
    def pending(self) -> tuple[str, ...]:
        """Every unit that needs work."""
        return (*self.to_judge, *(unit.unit_id for unit in self.missing))


async def read_resume_state(
    lake: Lake,
    spool: Spool,
    panel: Panel,
    plan: Sequence[PlannedUnit],
    *,
    waiting: Sequence[PlannedUnit] = (),
) -> ResumeState:
    """Return the finished and the missing work of the run of `plan`; an empty plan misses nothing.

    Units `waiting` for an application are neither missing nor judged here, even if another machine has
    committed them.

    Raises:
        Damaged: the tables cannot be read.
    """
    elsewhere = {unit.unit_id for unit in waiting}
    found = await committed_by_unit(lake, (*plan, *waiting))
    committed = {unit: episodes for unit, episodes in found.items() if unit not in elsewhere}
    judged = await lake.judged_units(panel_id(panel)) if plan else set()
    not_judged = {unit: episodes for unit, episodes in committed.items() if unit not in judged}
    known = by_episode(await lake.verdicts(units=not_judged)) if not_judged else {}
    spooled = await spool.listing()
    withdrawn = await lake.withdrawn() if not_judged else frozenset[str]()
    return ResumeState(
        missing=tuple(unit for unit in plan if unit.unit_id not in committed),
        to_judge=tuple(
            unit_id
            for unit_id, episodes in not_judged.items()
            if any(panel.needs_verdicts(known.get(id_, ())) for id_ in episodes - withdrawn)
        ),
        stale_spool=tuple(unit_id for unit_id in spooled if unit_id in committed),
        spooled={unit_id: ids for unit_id, ids in spooled.items() if unit_id not in committed},
        committed=committed,
        judged=judged & committed.keys(),
        known=known,
    )


async def committed_by_unit(lake: Lake, plan: Sequence[PlannedUnit]) -> Mapping[str, set[str]]:
    """Return the committed episodes by unit; the plan knows those of a planned unit."""
    planned = _episode_ids(plan)
    units = await lake.committed_units() if plan else None
    if units is None or not units <= planned.keys():
        return await lake.committed_episodes()
    return {unit_id: planned[unit_id] for unit_id in units}


async def count_judged(lake: Lake, progress: ProgressCounter, state: ResumeState) -> None:
    """Count the verdicts of judged units, which need no work.

    Raises:
        Damaged: the tables cannot be read.
    """
    judged = sorted(state.judged)
    for first in range(0, len(judged), RECALL_UNITS):
        verdicts = await lake.verdicts(units=judged[first : first + RECALL_UNITS])
        for episode_id, known in by_episode(verdicts).items():
            progress.count_judged_before(episode_id, known)


def _episode_ids(plan: Sequence[PlannedUnit]) -> dict[str, set[str]]:
    return {unit.unit_id: {attempt.episode_id for attempt in unit.attempts} for unit in plan}


def count_work(
    progress: ProgressCounter,
    state: ResumeState,
    plan: Sequence[PlannedUnit],
    *,
    again: bool = False,
) -> None:
    """Count the planned and the finished work; with `again`, no episode counts as judged."""
    units = _episode_ids(plan) or dict(state.committed)
    progress.units_total = len(units)
    progress.episodes_total = sum(len(episodes) for episodes in units.values())
    progress.units = sum(unit_id in state.committed for unit_id in units)
    for unit_id, episodes in units.items():
        finished = state.committed.get(unit_id) or state.spooled.get(unit_id) or set()
        for episode_id in episodes & finished:
            progress.count_existing(episode_id)
            if unit_id not in state.committed:
                progress.count_spooled(episode_id)
            if unit_id in state.judged and not again:
                progress.count_judged_before(episode_id, None)
    for episode_id, known in state.known.items():
        if not again:
            progress.count_judged_before(episode_id, known)
