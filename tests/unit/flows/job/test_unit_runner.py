"""Units from wherever they were left; nothing here needs a browser, because all is rolled out."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.episodes.factories import commit_whole_unit
from support.runs.rolled_out import (
    context_of,
    episodes_of,
    judge_of,
    plan_of,
    runner_of,
    spool,
    state_of,
    units_of,
)
from support.servers.engine_servers import until

from flows.job.config_loader import Sources, load
from flows.job.context import StopSignal, UnitState
from flows.job.job import GenerateJob
from flows.job.judging import UnitJudge
from flows.job.plan import PlannedUnit
from flows.job.publish_job import Publisher
from flows.job.resume_state import ResumeState
from flows.resources.memory_room import MemoryRoom
from flows.resources.resources import RunResources
from schemas.configuration.config import RunConfig
from schemas.verdicts.verdict import Verdict
from storage.run_file import create_run


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    settings = (
        "verify.verifiers=['structure', 'outcome']",
        "accept.passed=['structure', 'outcome']",
        "tasks.unit_size=2",
    )
    return load(Sources(settings=settings, run=str(tmp_path / "run")), {})


async def _verdicts(shop: RunResources, unit: PlannedUnit) -> list[Verdict]:
    return await shop.lake.verdicts(units={unit.unit_id})


async def test_finished_episodes_are_committed_and_judged_without_a_rollout(
    config: RunConfig,
) -> None:
    unit, *_ = plan_of(config)
    async with RunResources(config) as shop:
        episodes = episodes_of(unit)
        spooled = await spool(shop, episodes)

        report = await units_of(shop, config).make(unit, spooled)

        assert report.state is UnitState.DONE, report.reason
        assert await shop.lake.episodes(unit.unit_id) == episodes
        assert {one.round for one in await _verdicts(shop, unit)} == {0}
        assert await shop.spool.listing() == {}
        tasks = await shop.lake.tasks(unit.unit_id)
        assert {task.instruction for task in tasks} == {"Click the button."}


async def test_a_run_that_is_stopping_begins_nothing(config: RunConfig) -> None:
    unit, *_ = plan_of(config)
    stopping = StopSignal()
    stopping.ask()
    async with RunResources(config) as shop:
        first, second = episodes_of(unit)
        spooled = await spool(shop, [first])

        report = await units_of(shop, config, stopping).make(unit, spooled)

        assert report.state is UnitState.INTERRUPTED
        assert await shop.lake.committed_units() == set()
        assert await shop.spool.listing() == {unit.unit_id: {first.episode_id}}
        assert second.episode_id not in spooled


async def test_no_attempt_begins_while_memory_is_short_and_what_is_rolled_out_is_stored(
    config: RunConfig,
) -> None:
    unit, *_ = plan_of(config)
    stopping, memory = StopSignal(), MemoryRoom(lambda: 0, look_seconds=0.001)
    async with asyncio.timeout(60), RunResources(config) as shop:
        first, second = episodes_of(unit)
        spooled = await spool(shop, [first])
        context = context_of(shop, config, stopping)
        runner = runner_of(shop, config, context, memory)
        with memory.episode():  # another unit's, which goes on
            making = asyncio.create_task(runner.make(unit, spooled))

            async def is_so_far() -> bool:
                return runner.waiting_for_memory == 1 and context.progress.in_spool == 1

            await until(is_so_far)
            assert (shop.slots.in_use, making.done()) == (0, False)
            stopping.ask()
            report = await making

        assert report.state is UnitState.INTERRUPTED
        assert await shop.spool.listing() == {unit.unit_id: {first.episode_id}}
        assert second.episode_id not in spooled


async def test_a_run_that_is_stopping_commits_what_is_whole_and_leaves_it_unjudged(
    config: RunConfig,
) -> None:
    unit, *_ = plan = plan_of(config)
    stopping = StopSignal()
    stopping.ask()
    async with RunResources(config) as shop:
        spooled = await spool(shop, episodes_of(unit))

        report = await units_of(shop, config, stopping).make(unit, spooled)

        found = await state_of(shop, plan)
        assert report.state is UnitState.INTERRUPTED
        assert found.to_judge == (unit.unit_id,)
        assert unit.unit_id not in {one.unit_id for one in found.missing}


async def test_what_owes_verdicts_is_judged_from_the_tables(config: RunConfig) -> None:
    unit, *_ = plan = plan_of(config)
    async with RunResources(config) as shop:
        await commit_whole_unit(
            shop.lake, unit.unit_id, tasks=unit.tasks, episodes=episodes_of(unit)
        )
        found = await state_of(shop, plan)

        report = await judge_of(shop, config).judge_owed(unit.unit_id, found.known)

        after = await state_of(shop, plan)
        assert (found.to_judge, after.to_judge) == ((unit.unit_id,), ())
        assert report.state is UnitState.DONE


async def test_nothing_is_judged_that_owes_nothing(config: RunConfig) -> None:
    unit, *_ = plan = plan_of(config)
    async with RunResources(config) as shop:
        await units_of(shop, config).make(unit, await spool(shop, episodes_of(unit)))
        before = await _verdicts(shop, unit)

        found = await state_of(shop, plan)
        await judge_of(shop, config).judge_owed(unit.unit_id, found.known)

        assert await _verdicts(shop, unit) == before


async def test_judging_again_is_a_round_of_its_own(config: RunConfig) -> None:
    unit, *_ = plan = plan_of(config)
    async with RunResources(config) as shop:
        await units_of(shop, config).make(unit, await spool(shop, episodes_of(unit)))
        found = await state_of(shop, plan)

        await judge_of(shop, config).judge_again(unit.unit_id, found.known)

        verdicts = await _verdicts(shop, unit)
        rounds = {(one.verifier, one.round) for one in verdicts}
        assert ("structure", 0) in rounds
        assert ("structure", 1) in rounds


async def test_a_unit_that_another_worker_committed_is_not_committed_again(
    config: RunConfig,
) -> None:
    """The other one's rollouts count; verdicts on ours are forgotten."""
    unit, *_ = plan = plan_of(config)
    async with RunResources(config) as shop:
        theirs, ours = episodes_of(unit, salt=1), episodes_of(unit, salt=2)
        spooled = await spool(shop, ours)
        await commit_whole_unit(shop.lake, unit.unit_id, tasks=unit.tasks, episodes=theirs)

        report = await units_of(shop, config).make(unit, spooled)

        assert report.state is not UnitState.FAILED
        assert await shop.lake.episodes(unit.unit_id) == theirs
        assert await _verdicts(shop, unit) == []
        assert (await state_of(shop, plan)).to_judge == (unit.unit_id,)
        assert await shop.spool.listing() == {}


async def test_what_another_worker_committed_and_left_unjudged_is_judged_in_the_end(
    config: RunConfig,
) -> None:
    """It was killed between the two; a command that ends well leaves nothing for the next one."""
    plan = plan_of(config)
    async with RunResources(config) as shop:
        await create_run(shop.store, config, provenance={})
        for unit in plan:
            await spool(shop, episodes_of(unit, salt=2))
        found = await state_of(shop, plan)
        first, *_ = plan
        theirs = episodes_of(first, salt=1)
        await commit_whole_unit(shop.lake, first.unit_id, tasks=first.tasks, episodes=theirs)
        context = context_of(shop, config)
        runner, judge = runner_of(shop, config, context), UnitJudge(context)
        job = GenerateJob(
            context,
            found,
            judge,
            runner=runner,
            runtime=None,
            publisher=Publisher(shop.lake, context.run, config),
            destinations=(),
            workers=2,
        )
        async with asyncio.TaskGroup() as group:
            job.pool.begin(group)
            job.begin(group)
            report = await job.report()

        assert report.problems == ()
        assert report.summary.episodes == sum(len(unit.attempts) for unit in plan)
        assert (report.summary.unjudged, report.summary.accepted) == (0, report.summary.episodes)
        assert await shop.lake.episodes(first.unit_id) == theirs
        assert {one.round for one in await _verdicts(shop, first)} == {0}


async def test_two_workers_on_one_unit_commit_it_once(config: RunConfig) -> None:
    unit, *_ = plan_of(config)
    async with RunResources(config) as one, RunResources(config) as other:
        spooled = await spool(one, episodes_of(unit))

        async with asyncio.TaskGroup() as group:
            for shop in (one, other):
                group.create_task(units_of(shop, config).make(unit, spooled))

        assert await one.lake.committed_episodes() == {unit.unit_id: spooled}
        verdicts = await _verdicts(one, unit)
        assert len(verdicts) == len({(v.episode_id, v.verifier, v.round) for v in verdicts})


async def test_a_torn_spool_object_fails_its_unit_and_no_other(config: RunConfig) -> None:
    torn, whole = plan_of(config)
    async with RunResources(config) as shop:
        spooled = await spool(shop, [*episodes_of(torn), *episodes_of(whole)])
        key = f"spool/{torn.unit_id}/{torn.attempts[0].episode_id}"
        await shop.store.put(key, b"{")
        units = units_of(shop, config)

        reports = [await units.make(unit, spooled) for unit in (torn, whole)]

        assert [report.state for report in reports] == [UnitState.FAILED, UnitState.DONE]
        assert key in reports[0].reason


async def _surveyed(
    config: RunConfig, spooled: Sequence[int], committed: Sequence[int]
) -> ResumeState:
    plan = plan_of(config)
    async with RunResources(config) as shop:
        for number in committed:
            unit = plan[number]
            await commit_whole_unit(
                shop.lake, unit.unit_id, tasks=unit.tasks, episodes=episodes_of(unit)
            )
        for number in spooled:
            await spool(shop, episodes_of(plan[number]))
        return await state_of(shop, plan)


async def test_a_survey_of_an_empty_run_misses_everything(config: RunConfig) -> None:
    found = await _surveyed(config, [], [])

    assert found.pending == tuple(unit.unit_id for unit in plan_of(config))
    assert (found.stale_spool, dict(found.spooled)) == ((), {})


async def test_a_survey_tells_leftovers_from_finished_episodes(config: RunConfig) -> None:
    first, second = plan_of(config)

    found = await _surveyed(config, [0, 1], [0])

    assert found.stale_spool == (first.unit_id,)
    assert set(found.spooled) == {second.unit_id}
    assert found.to_judge == (first.unit_id,)
    assert found.missing == (second,)
