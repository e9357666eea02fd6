"""Units whose episodes are all rolled out, and what commits and judges them without a browser."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from support.episodes.factories import RUN_ID, make_episode, make_task

from flows.job.context import JobContext, StopSignal
from flows.job.judging import UnitJudge
from flows.job.open_job import make_context
from flows.job.plan import PlannedUnit, plan_units
from flows.job.resume_state import ResumeState, read_resume_state
from flows.job.unit_runner import RolloutSetup, UnitRunner
from flows.resources.engines import PolicyRuntime
from flows.resources.memory_room import MemoryRoom
from flows.resources.resources import RunResources
from generators.policy.factory import PolicyFactory
from schemas.configuration.config import RunConfig
from schemas.episodes.episode import Episode
from storage.run_file import RunFile

TASKS = [make_task(seed=seed, instruction="") for seed in range(4)]


def context_of(
    shop: RunResources, config: RunConfig, stopping: StopSignal | None = None
) -> JobContext:
    run = RunFile(
        run_id=RUN_ID,
        created_at=datetime.now(UTC),
        identity={},
        config=config.model_dump(mode="json"),
        provenance={},
    )
    context = make_context(shop, config, run)
    return replace(context, stopping=stopping or StopSignal())


def units_of(
    shop: RunResources, config: RunConfig, stopping: StopSignal | None = None
) -> UnitRunner:
    """Return what makes units; nothing is started, so only a scripted policy can act."""
    return runner_of(shop, config, context_of(shop, config, stopping))


def judge_of(shop: RunResources, config: RunConfig) -> UnitJudge:
    return UnitJudge(context_of(shop, config))


def runner_of(
    shop: RunResources,
    config: RunConfig,
    context: JobContext,
    memory: MemoryRoom | None = None,
) -> UnitRunner:
    setup = RolloutSetup.of(
        config, RUN_ID, (), sites=shop.sites, sessions=shop.rollouts, policies=PolicyFactory(config)
    )
    live = PolicyRuntime(setup.policies).live
    return UnitRunner(
        context,
        UnitJudge(context),
        setup,
        slots=shop.live_episodes,
        live=live,
        memory=memory or shop.memory,
    )


async def state_of(shop: RunResources, plan: Sequence[PlannedUnit]) -> ResumeState:
    return await read_resume_state(shop.lake, shop.spool, shop.panel, plan)


def episodes_of(unit: PlannedUnit, *, salt: int = 0) -> list[Episode]:
    """Return an episode for each attempt of a unit, as its page would have stated the goal."""
    return [
        make_episode(one.task, unit_id=unit.unit_id, salt=salt).model_copy(
            update={"instruction": "Click the button."}
        )
        for one in unit.attempts
    ]


async def spool(shop: RunResources, episodes: Sequence[Episode]) -> set[str]:
    for episode in episodes:
        await shop.spool.put(episode)
    return {episode.episode_id for episode in episodes}


def plan_of(config: RunConfig) -> tuple[PlannedUnit, ...]:
    return plan_units(config, TASKS, run_id=RUN_ID)
