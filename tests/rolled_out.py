"""Units whose episodes are all rolled out, and what commits and judges them without a browser."""

from collections.abc import Sequence

from factories import RUN_ID, make_episode, make_task

from flows.job.attempt_runner import Attempts, Stopping
from flows.job.plan import PlannedUnit, make_plan
from flows.job.progress import Tally
from flows.job.unit_runner import Units
from flows.resources.resources import Workshop
from schemas.config import RunConfig
from schemas.episode import Episode

TASKS = [make_task(seed=seed, instruction="") for seed in range(4)]


def units_of(shop: Workshop, config: RunConfig, stopping: Stopping | None = None) -> Units:
    tally, stopping = Tally(rule=config.accept), stopping or Stopping()
    attempts = Attempts(
        shop, config, run_id=RUN_ID, code_version="0", tally=tally, stopping=stopping
    )
    return Units(shop, attempts, tally=tally, stopping=stopping)


def episodes_of(unit: PlannedUnit, *, salt: int = 0) -> list[Episode]:
    """Return an episode for each attempt of a unit, as its page would have stated the goal."""
    return [
        make_episode(one.task, unit_id=unit.unit_id, salt=salt).model_copy(
            update={"instruction": "Click the button."}
        )
        for one in unit.attempts
    ]


async def spool(shop: Workshop, episodes: Sequence[Episode]) -> set[str]:
    for episode in episodes:
        await shop.spool.put(episode)
    return {episode.episode_id for episode in episodes}


def plan_of(config: RunConfig) -> tuple[PlannedUnit, ...]:
    return make_plan(config, TASKS, run_id=RUN_ID)
