"""The rule by which an episode becomes a trajectory."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.acceptance import AcceptanceStatus, acceptance, acceptance_status, latest_verdicts
from schemas.base import JsonObject
from schemas.sections import AcceptSection
from schemas.verdict import Status, Verdict

START = datetime(2026, 1, 2, tzinfo=UTC)
RULE = AcceptSection(passed=("structure", "outcome"))


def _verdict(
    verifier: str,
    status: Status = Status.PASSED,
    *,
    version: str = "1",
    round_: int = 0,
    score: float | None = None,
    evidence: JsonObject | None = None,
    hours: int = 0,
) -> Verdict:
    return Verdict(
        episode_id="e",
        unit_id="u",
        verifier=verifier,
        verifier_version=version,
        round=round_,
        status=status,
        score=score,
        reason=f"{verifier} says {status}.",
        evidence=evidence or {},
        seconds=0.0,
        judged_at=START + timedelta(hours=hours),
    )


def _status(*verdicts: Verdict, rule: AcceptSection = RULE) -> AcceptanceStatus:
    return acceptance_status(rule, latest_verdicts(verdicts))


def test_what_every_required_verifier_passed_is_accepted() -> None:
    assert _status(_verdict("structure"), _verdict("outcome")) is AcceptanceStatus.ACCEPTED


def test_not_judged_is_not_rejected() -> None:
    assert _status(_verdict("structure")) is AcceptanceStatus.UNJUDGED
    assert _status() is AcceptanceStatus.UNJUDGED


@pytest.mark.parametrize("status", [Status.ABSTAINED, Status.ERROR])
def test_a_verifier_that_could_not_tell_leaves_the_episode_unjudged(status: Status) -> None:
    assert _status(_verdict("structure"), _verdict("outcome", status)) is AcceptanceStatus.UNJUDGED


@pytest.mark.parametrize("status", [Status.FAILED, Status.UNSUPPORTED])
def test_a_required_verifier_that_does_not_pass_it_rejects_it(status: Status) -> None:
    assert _status(_verdict("structure"), _verdict("outcome", status)) is AcceptanceStatus.REJECTED


def test_one_failure_decides_where_others_did_not_look() -> None:
    assert _status(_verdict("structure", Status.FAILED)) is AcceptanceStatus.REJECTED


def test_a_verifier_that_is_not_required_decides_nothing() -> None:
    judged = (_verdict("structure"), _verdict("outcome"), _verdict("replay", Status.FAILED))

    assert _status(*judged) is AcceptanceStatus.ACCEPTED


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (0.7, AcceptanceStatus.ACCEPTED),
        (0.69, AcceptanceStatus.REJECTED),
        (None, AcceptanceStatus.UNJUDGED),
    ],
)
def test_a_least_score_is_part_of_the_rule(score: float | None, expected: AcceptanceStatus) -> None:
    rule = AcceptSection(passed=(), min_scores={"judge": 0.7})

    assert _status(_verdict("judge", score=score), rule=rule) is expected


def test_the_highest_round_counts_whatever_the_order() -> None:
    early = _verdict("outcome", Status.ERROR, round_=0)
    late = _verdict("outcome", Status.PASSED, round_=1, hours=1)

    assert latest_verdicts([late, early]) == latest_verdicts([early, late]) == {"outcome": late}


def test_the_version_judged_last_counts() -> None:
    old = _verdict("outcome", Status.PASSED, version="1", round_=3)
    new = _verdict("outcome", Status.FAILED, version="2", round_=0, hours=1)

    assert latest_verdicts([new, old]) == {"outcome": new}


def test_trajectories_say_why_they_were_rejected() -> None:
    columns = acceptance(
        RULE, latest_verdicts([_verdict("structure", Status.FAILED)]), template_id="click-test"
    )

    assert not columns.accepted
    assert columns.rejected_because == (
        "structure: failed: structure says failed.",
        "outcome: not judged",
    )


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (Status.PASSED, "reproduced"),
        (Status.FAILED, "diverged"),
        (Status.UNSUPPORTED, "unsupported"),
        (Status.ERROR, None),
    ],
)
def test_a_replay_is_told_in_its_own_words(status: Status, word: str | None) -> None:
    columns = acceptance(
        RULE, latest_verdicts([_verdict("replay", status, score=0.5)]), template_id="click-test"
    )

    assert columns.replay == word


def test_assurance_is_the_strongest_there_is() -> None:
    replayed, judged = _verdict("replay"), _verdict("judge", score=0.9)

    def assurance(*verdicts: Verdict) -> str:
        return acceptance(RULE, latest_verdicts(verdicts), template_id="t").assurance

    assert assurance(replayed, judged) == "replayed"
    assert assurance(judged) == "judged"
    assert assurance(_verdict("replay", Status.FAILED)) == "none"


def test_a_duplicate_names_its_original() -> None:
    found = _verdict("duplicates", Status.FAILED, evidence={"duplicate_of": "first"})

    assert acceptance(RULE, latest_verdicts([found]), template_id="t").duplicate_of == "first"
