"""What a resumed run reads and what it knows without reading: units that are marked as judged."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.episodes.factories import commit_whole_unit
from support.runs.rolled_out import episodes_of, judge_of, plan_of, spool, state_of, units_of

from flows.job.config_loader import Sources, load
from flows.job.judging import JudgedCheck, commit_verdicts, panel_id
from flows.job.plan import PlannedUnit
from flows.job.progress import ProgressCounter
from flows.job.resume_state import count_work
from flows.resources.resources import RunResources
from generators.verify.panel import Panel
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import TasksSection
from schemas.verdicts.verdict import Status, Verdict
from storage.audit import audit
from storage.lake.delta_table import CommitEntry, DeltaHandle
from storage.lake.judged_units import JudgedMark
from storage.maintenance.compact import compact

VERIFIERS = ["structure", "outcome"]


def configured(folder: Path, verifiers: Sequence[str] = VERIFIERS) -> RunConfig:
    settings = (f"verify.verifiers={verifiers}", "tasks.unit_size=2")
    return load(Sources(settings=settings, run=str(folder)), {})


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    return configured(tmp_path / "run")


async def _finish(shop: RunResources, config: RunConfig) -> set[str]:
    """Commit and judge every unit of the plan; return them."""
    units = units_of(shop, config)
    for unit in plan_of(config):
        await units.make(unit, await spool(shop, episodes_of(unit)))
    return {unit.unit_id for unit in plan_of(config)}


async def _broken(shop: RunResources, unit: PlannedUnit) -> list[Verdict]:
    """Return verdicts on a unit of a verifier that broke, this time."""
    said = await shop.lake.verdicts(units={unit.unit_id})
    update = {"status": Status.ERROR, "score": None}
    return [one.model_copy(update=update) for one in said if one.verifier == "outcome"]


def _judged_check(shop: RunResources, unit: PlannedUnit) -> JudgedCheck:
    return JudgedCheck(shop.panel, {one.episode_id for one in unit.attempts})


async def test_the_verdicts_of_a_judged_unit_are_not_read(config: RunConfig) -> None:
    async with RunResources(config) as shop:
        units = await _finish(shop, config)
    for shard in (Path(config.run.url) / "tables" / "verdicts").glob("*.parquet"):
        shard.write_bytes(b"nobody looks here")

    async with RunResources(config) as shop:
        found = await state_of(shop, plan_of(config))

    assert (found.pending, found.judged, dict(found.known)) == ((), units, {})


async def test_a_marked_unit_counts_as_judged_before_its_verdicts_are_read(
    config: RunConfig,
) -> None:
    async with RunResources(config) as shop:
        await _finish(shop, config)
        found = await state_of(shop, plan_of(config))
        said = await shop.lake.verdicts()
    progress = ProgressCounter(rule=config.accept)

    count_work(progress, found, plan_of(config))

    before = progress.progress(busy=0, sessions=1)
    assert (before.judged, before.unknown, before.accepted) == (4, 4, 0)
    assert before.percent == 100.0
    assert "accepted" not in before.sentence, "nothing is known of it yet"
    for one in said:
        progress.count_judged_before(one.episode_id, [one])
    assert progress.progress(busy=0, sessions=1).unknown == 0


async def test_a_unit_that_was_judged_again_is_no_longer_judged_by_its_old_mark(
    config: RunConfig,
) -> None:
    unit, other = plan = plan_of(config)
    async with RunResources(config) as shop:
        await _finish(shop, config)
        broken = await _broken(shop, unit)
        await commit_verdicts(
            shop.lake, unit.unit_id, broken, again=True, check=_judged_check(shop, unit)
        )

        found = await state_of(shop, plan)
        await judge_of(shop, config).judge_owed(unit.unit_id, found.known)
        after = await state_of(shop, plan)
        audited = await audit(shop.store, deep=True)

    assert audited.findings == ("run.json: is missing",)  # nobody made one; marks are well-known
    assert (found.to_judge, found.judged) == ((unit.unit_id,), {other.unit_id})
    assert (after.to_judge, after.judged) == ((), {unit.unit_id, other.unit_id})


async def test_what_one_panel_judged_another_asks_for_itself(config: RunConfig) -> None:
    async with RunResources(config) as shop:
        units = await _finish(shop, config)
    more = configured(Path(config.run.url), [*VERIFIERS, "replay"])
    fewer = configured(Path(config.run.url), VERIFIERS[:1])

    async with RunResources(more) as shop:
        found = await state_of(shop, plan_of(config))
    async with RunResources(fewer) as shop:
        owing = (await state_of(shop, plan_of(config))).to_judge

    assert (set(found.to_judge), found.judged) == (units, set())
    assert owing == ()


async def test_units_are_judged_after_a_compaction_as_before(config: RunConfig) -> None:
    async with RunResources(config) as shop:
        units = await _finish(shop, config)
        report = await compact(config.run.url, shop.store, config.storage)

        found = await state_of(shop, plan_of(config))

    assert report.tables["verdicts"].into == 1
    assert (found.pending, found.judged) == ((), units)


async def test_only_files_of_several_units_are_opened_to_know_what_is_committed(
    tmp_path: Path,
) -> None:
    config = configured(tmp_path / "run").model_copy(update={"tasks": TasksSection(unit_size=1)})
    *early, late, missing = plan = plan_of(config)
    async with RunResources(config) as shop:
        units = units_of(shop, config)
        for unit in early:
            await units.make(unit, await spool(shop, episodes_of(unit)))
        await compact(config.run.url, shop.store, config.storage)
        await units.make(late, await spool(shop, episodes_of(late)))
        for shard in (tmp_path / "run" / "tables").glob(f"*/{late.unit_id}-*.parquet"):
            shard.write_bytes(b"nobody looks here")

        found = await state_of(shop, plan)

    assert (found.pending, found.judged) == (
        (missing.unit_id,),
        {unit.unit_id for unit in (*early, late)},
    )


async def test_a_mark_of_fewer_verdicts_than_there_are_marks_nothing(config: RunConfig) -> None:
    """Somebody else's went in between its reading and its commit."""
    unit, other = plan = plan_of(config)
    async with RunResources(config) as shop:
        await _finish(shop, config)
        broken = [one.model_copy(update={"round": 5}) for one in await _broken(shop, unit)]
        await shop.lake.commit_verdicts(
            unit.unit_id,
            verifier="outcome",
            version=broken[0].verifier_version,
            round_=5,
            verdicts=broken,
            mark=JudgedMark(panel_id(shop.panel), rows=4),
        )

        assert (await state_of(shop, plan)).judged == {other.unit_id}


async def test_a_panel_that_examines_rejected_episodes_too_is_another(config: RunConfig) -> None:
    async with RunResources(config) as shop:
        panel = shop.panel
        too = [
            Panel(panel.verifiers, panel.rule, rejected_too=(one.name,)) for one in panel.verifiers
        ]
        ids = [panel_id(one) for one in (panel, *too)]

    assert len(set(ids)) == len(ids) > 2


class Overtaken(DeltaHandle):
    """Finds, at its first commit, that another worker's verdicts of the round are in."""

    overtaken = False

    def commit_once(self, entry: CommitEntry) -> int:
        if not self.overtaken:
            self.overtaken = True
            super().commit_once(CommitEntry(entry.transaction, entry.token + 1, entry.files))
        return super().commit_once(entry)


async def test_a_unit_is_not_marked_by_whoever_was_overtaken(config: RunConfig) -> None:
    """As many verdicts lie there as it would have had, but they are not its own."""
    unit, *_ = plan = plan_of(config)
    async with RunResources(config) as shop:
        await commit_whole_unit(
            shop.lake, unit.unit_id, tasks=unit.tasks, episodes=episodes_of(unit)
        )
        handle = shop.lake._tables["verdicts"]._handle
        shop.lake._tables["verdicts"]._handle = Overtaken("verdicts", handle.url)

        await judge_of(shop, config).judge_owed(unit.unit_id, {})

        found = await state_of(shop, plan)
        assert len(await shop.lake.verdicts()) == 4
        assert (found.to_judge, found.judged) == ((), set())


async def test_a_run_without_verdicts_has_nothing_judged(config: RunConfig) -> None:
    unit, *_ = plan = plan_of(config)
    async with RunResources(config) as shop:
        await commit_whole_unit(
            shop.lake, unit.unit_id, tasks=unit.tasks, episodes=episodes_of(unit)
        )

        found = await state_of(shop, plan)

    assert (found.to_judge, found.judged) == ((unit.unit_id,), set())
