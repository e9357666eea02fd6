"""Reviews for tests: who said what of an episode, a second after the other."""

from datetime import UTC, datetime, timedelta

from schemas.verdicts.review import Decision, Review

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
