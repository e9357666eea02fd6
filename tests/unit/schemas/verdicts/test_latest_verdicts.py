"""Which verdict of a verifier counts, and that its score is told."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.configuration.sections import AcceptSection
from schemas.verdicts.acceptance import acceptance, latest_verdicts
from schemas.verdicts.verdict import Status, Verdict

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def verdict(
    verifier: str, *, round_: int = 0, minute: int = 0, version: str = "1", score: float = 1.0
) -> Verdict:
    return Verdict(
        episode_id="e",
        unit_id="u",
        verifier=verifier,
        verifier_version=version,
        round=round_,
        status=Status.PASSED,
        score=score,
        reason="so",
        seconds=0.0,
        judged_at=NOON + timedelta(minutes=minute),
    )


def test_a_lower_round_that_was_judged_later_does_not_count() -> None:
    higher, lower = verdict("a", round_=2, minute=0), verdict("a", round_=1, minute=5)
    other = verdict("b", round_=0, minute=9)

    for given in ([higher, lower, other], [other, lower, higher]):
        assert latest_verdicts(given) == {"a": higher, "b": other}


def test_of_one_round_the_later_verdict_counts() -> None:
    first, second = verdict("a", minute=0), verdict("a", minute=5, score=0.5)

    assert latest_verdicts([second, first]) == {"a": second}


@pytest.mark.parametrize("judge", ["judge", "panel"])
def test_scores_are_told_of_the_verifier_that_gave_them(judge: str) -> None:
    told = acceptance(
        AcceptSection(passed=()), [verdict("replay", score=0.25), verdict(judge, score=0.75)]
    )

    assert (told.replay_score, told.judge_score) == (0.25, 0.75)
