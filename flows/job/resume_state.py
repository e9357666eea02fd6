"""What a run has and what it still owes, read from its tables and its spool alone.

There are no locks: a unit is committed if its rows are, an episode is finished if it is in the spool
or committed, and a verdict is owed if the panel says so. That a unit owes none may be noted in the
log, and holds as long as the unit has the verdicts that it was found from. Surveying changes nothing.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from flows.job.judging import Said, by_episode, panel_id
from flows.job.plan import PlannedUnit
from flows.job.progress import Tally
from flows.resources.resources import Workshop


@dataclass(frozen=True, slots=True)
class Survey:
    """What is there and what is missing."""

    missing: tuple[PlannedUnit, ...]
    """Units that are not committed, in the plan's order."""
    owing: tuple[str, ...]
    """Committed units in which some episode owes a verdict."""
    leftovers: tuple[str, ...]
    """Committed units of which the spool still holds objects."""
    spooled: Mapping[str, set[str]]
    """Finished episodes that are not committed, by unit."""
    committed: Mapping[str, set[str]]
    """Committed episodes, by unit."""
    settled: AbstractSet[str]
    """Committed units that are known to owe nothing; of their verdicts none was read."""
    said: Mapping[str, Said]
    """Verdicts that count, by episode, of the other committed units."""

    @property
    def pending(self) -> tuple[str, ...]:
        """Every unit that needs work."""
        return (*self.owing, *(unit.unit_id for unit in self.missing))


async def survey(workshop: Workshop, plan: Sequence[PlannedUnit]) -> Survey:
    """Return what the run of `plan` has and owes.

    Raises:
        Damaged: its tables cannot be read.
    """
    committed = await _committed(workshop, plan)
    settled = await workshop.lake.settled_units(panel_id(workshop.panel)) if plan else set()
    open_ = {unit: episodes for unit, episodes in committed.items() if unit not in settled}
    said = by_episode(await workshop.lake.verdicts(units=open_)) if open_ else {}
    spooled = await workshop.spool.listing()
    return Survey(
        missing=tuple(unit for unit in plan if unit.unit_id not in committed),
        owing=tuple(
            unit_id
            for unit_id, episodes in open_.items()
            if any(workshop.panel.owes(said.get(episode_id, {})) for episode_id in episodes)
        ),
        leftovers=tuple(unit_id for unit_id in spooled if unit_id in committed),
        spooled={unit_id: found for unit_id, found in spooled.items() if unit_id not in committed},
        committed=committed,
        settled=settled & committed.keys(),
        said=said,
    )


async def _committed(workshop: Workshop, plan: Sequence[PlannedUnit]) -> Mapping[str, set[str]]:
    """Return the committed episodes by unit; which those of a planned unit are, the plan knows."""
    planned = {unit.unit_id: {one.episode_id for one in unit.attempts} for unit in plan}
    units = await workshop.lake.committed_units() if plan else None
    if units is None or not units <= planned.keys():
        return await workshop.lake.committed_episodes()
    return {unit_id: planned[unit_id] for unit_id in units}


def everything(found: Survey) -> Survey:
    """Return `found` with every committed unit to be judged and nothing to be made."""
    return replace(found, missing=(), owing=tuple(found.committed), leftovers=(), spooled={})


def count(tally: Tally, found: Survey, plan: Sequence[PlannedUnit], *, again: bool = False) -> None:
    """Tell `tally` what there is to do and what was there before; nothing is judged `again` yet."""
    units = {unit.unit_id: {one.episode_id for one in unit.attempts} for unit in plan}
    units = units or dict(found.committed)
    tally.units_total = len(units)
    tally.episodes_total = sum(len(episodes) for episodes in units.values())
    tally.units = sum(unit_id in found.committed for unit_id in units)
    for unit_id, episodes in units.items():
        there = found.committed.get(unit_id) or found.spooled.get(unit_id) or set()
        for episode_id in episodes & there:
            tally.found(episode_id)
            if unit_id in found.settled and not again:
                tally.judged_before(episode_id, None)
    for episode_id, said in found.said.items():
        if not again:
            tally.judged_before(episode_id, said)
