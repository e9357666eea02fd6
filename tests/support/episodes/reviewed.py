"""Reviews for tests: who said what of an episode, a second after the other."""

from datetime import UTC, datetime, timedelta

from support.episodes.factories import MadeRun

from schemas.verdicts.review import Decision, Review
from storage.lake.withdrawals import RunWithdrawal, Withdrawals, add_withdrawals

FIRST = datetime(2026, 2, 3, 4, 5, 6, 789, UTC)
"""When the first review was given."""


def make_review(
    episode_id: str = "e" * 32,
    decision: str = "accept",
    *,
    reviewer: str = "ana",
    reason: str | None = None,
    after: int = 0,
    step: int | None = None,
    instruction: str | None = None,
    undoes: str | None = None,
) -> Review:
    """Return a review that is not stored yet, given `after` seconds after the first."""
    return Review(
        episode_id=episode_id,
        reviewer=reviewer,
        decision=Decision(decision),
        reason=("not what was asked" if decision == "reject" else "") if reason is None else reason,
        step=step,
        instruction=instruction,
        at=FIRST + timedelta(seconds=after),
        undoes=undoes,
    )


async def withdraw_first(run: MadeRun) -> str:
    """Withdraw the first episode of a run, and return its id."""
    unit = run.units[0]
    first = unit.episodes[0]
    gone = RunWithdrawal(
        episode=first.episode_id,
        reason="shows a name",
        day="2026-02-03",
        task_id=first.task_id,
        attempt=first.attempt,
        unit_id=unit.unit_id,
    )
    tasks = tuple(task.task_id for task in unit.tasks)
    await add_withdrawals(run.store, Withdrawals(episodes=(gone,), units={unit.unit_id: tasks}))
    return first.episode_id
