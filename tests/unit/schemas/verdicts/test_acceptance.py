"""The rule by which an episode becomes a trajectory."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.base import JsonObject
from schemas.configuration.sections import AcceptSection
from schemas.verdicts.acceptance import (
    AcceptanceStatus,
    JudgedEpisode,
    accept_all,
    acceptance,
    acceptance_status,
    deciding_reason,
    latest_verdicts,
    success,
)
from schemas.verdicts.verdict import Status, Verdict

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
        evidence={"reward": 1.0, "done": True} if evidence is None else evidence,
        seconds=0.0,
        judged_at=START + timedelta(hours=hours),
    )


def _status(*verdicts: Verdict, rule: AcceptSection = RULE) -> AcceptanceStatus:
    return acceptance_status(rule, verdicts)


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


@pytest.mark.parametrize(
    ("score", "why"), [(0.69, "judge: score 0.69 is below 0.7"), (None, "judge: no score")]
)
def test_a_score_that_is_not_enough_is_told(score: float | None, why: str) -> None:
    rule = AcceptSection(passed=(), min_scores={"judge": 0.7})

    assert acceptance(rule, [_verdict("judge", score=score)]).rejected_because == (why,)


def test_only_what_is_published_has_a_split() -> None:
    judged = [JudgedEpisode("e", "t", (), split="test"), JudgedEpisode("f", "t", ())]

    assert acceptance(RULE, []).split == ""
    found = accept_all(RULE, judged)
    assert [found[id_].acceptance.split for id_ in ("e", "f")] == ["test", ""]


OWN: JsonObject = {"reward": 0.9, "done": True, "min_reward": 0.8, "min_reward_reason": "Pixels."}
"""What `outcome` says where the template has a threshold of its own."""

NONE: JsonObject = {"reward": 0.9, "done": True, "min_reward": None, "min_reward_reason": None}
"""What it says where the template has none."""


@pytest.mark.parametrize(
    ("evidence", "min_reward", "expected", "column"),
    [
        (NONE, 1.0, "outcome: below the threshold: reward 0.9 is below 1, `accept.min_reward`", 1),
        (NONE, 0.9, None, 0.9),
        (NONE, 0.5, None, 0.5),
        (OWN, 1.0, None, 0.8),
        (OWN, 0.0, None, 0.8),
        (
            OWN | {"reward": 0.7999},
            *(0.5, "outcome: below the threshold: reward 0.7999 is below 0.8, the threshold of "),
            0.8,
        ),
    ],
)
def test_the_reward_is_compared_when_the_verdict_is_read(
    evidence: JsonObject, min_reward: float, expected: str | None, column: float
) -> None:
    rule = AcceptSection(passed=("outcome",), min_reward=min_reward)
    outcome = _verdict("outcome", version="3", evidence=evidence)

    found = acceptance(rule, [outcome], split="train")

    assert found.accepted == (expected is None)
    assert [why[: len(expected or "")] for why in found.rejected_because] == (
        [] if expected is None else [expected]
    )
    assert (found.min_reward, found.min_reward_reason) == (
        column,
        evidence["min_reward_reason"],
    )
    if expected is not None:
        assert _status(outcome, rule=rule) is AcceptanceStatus.REJECTED


def test_a_rule_without_an_outcome_has_no_threshold() -> None:
    rule = AcceptSection(passed=("structure",))
    verdicts = [_verdict("structure"), _verdict("outcome", evidence=NONE)]

    found = acceptance(rule, verdicts, split="train")

    assert (found.accepted, found.min_reward) == (True, None)
    assert acceptance(RULE, verdicts[:1], split="train").min_reward is None


@pytest.mark.parametrize(
    ("status", "evidence", "min_reward", "expected"),
    [
        # Version 2 put the threshold that it used where version 3 has the template's own.
        (Status.PASSED, NONE | {"min_reward": 0.5}, 0.5, AcceptanceStatus.ACCEPTED),
        (Status.PASSED, NONE | {"min_reward": 0.5}, 1.0, AcceptanceStatus.REJECTED),
        (Status.PASSED, OWN, 1.0, AcceptanceStatus.ACCEPTED),
        (Status.FAILED, NONE | {"min_reward": 1.0}, 1.0, AcceptanceStatus.REJECTED),
        (Status.FAILED, NONE | {"min_reward": 1.0}, 0.9, AcceptanceStatus.UNJUDGED),
        (Status.FAILED, NONE | {"min_reward": 1.0}, 0.95, AcceptanceStatus.REJECTED),
        (Status.FAILED, NONE | {"min_reward": 0.9}, 0.9, AcceptanceStatus.REJECTED),
        (
            Status.FAILED,
            NONE | {"min_reward": 1.0, "done": False},
            *(0.5, AcceptanceStatus.REJECTED),
        ),
        (Status.FAILED, OWN | {"reward": 0.7}, 0.5, AcceptanceStatus.REJECTED),
        # Before that it did not say whose threshold it was, and before that no reward.
        (Status.PASSED, {"reward": 0.96, "min_reward": 0.95}, 1.0, AcceptanceStatus.UNJUDGED),
        (Status.PASSED, {"reward": 0.96, "min_reward": 0.95}, 0.96, AcceptanceStatus.ACCEPTED),
        (Status.PASSED, {}, 0.0, AcceptanceStatus.UNJUDGED),
        (Status.PASSED, {"reward": True}, 0.0, AcceptanceStatus.UNJUDGED),
    ],
)
def test_an_old_verdict_is_read_by_todays_rule_as_far_as_it_suffices(
    status: Status, evidence: JsonObject, min_reward: float, expected: AcceptanceStatus
) -> None:
    rule = AcceptSection(passed=("outcome",), min_reward=min_reward)
    outcome = _verdict("outcome", status, version="2", evidence=evidence)

    assert _status(outcome, rule=rule) is expected
    if expected is AcceptanceStatus.UNJUDGED:
        [why] = acceptance(rule, [outcome], split="train").rejected_because
        assert "judged by version 2" in why
        assert "`stepmill verify` judges it again" in why


@pytest.mark.parametrize(
    ("status", "evidence", "expected"),
    [
        (Status.PASSED, {"tries": [{"agreed": False}, {"agreed": True}]}, (2, 1)),
        (Status.FAILED, {"tries": [{"agreed": False}, {"agreed": False}]}, (2, 0)),
        (Status.ABSTAINED, {"tries": [{"agreed": False}, {"agreed": False}]}, (2, 0)),
        (Status.ERROR, {"failure_kind": "browser"}, (1, 0)),
        (Status.UNSUPPORTED, {"tries": []}, (None, None)),
        (Status.PASSED, {"tries": 2}, (2, 1)),  # as earlier versions told it
        (Status.FAILED, {"tries": 2}, (2, 0)),
        (Status.PASSED, {"tries": 1}, (1, 1)),
        (Status.PASSED, {"tries": 0}, (None, None)),
        (Status.PASSED, {}, (None, None)),
    ],
)
def test_every_execution_of_every_round_is_counted(
    status: Status, evidence: JsonObject, expected: tuple[int | None, int | None]
) -> None:
    one = _verdict("replay", status, evidence=evidence)
    agreed = _verdict("replay", version="9", evidence={"tries": [{"agreed": True}]}, hours=1)

    def columns(*verdicts: Verdict) -> tuple[int | None, int | None]:
        found = acceptance(RULE, verdicts, split="train")
        return found.replays, found.replays_agreed

    assert columns(one) == expected
    assert columns(one, agreed) == columns(agreed, one)
    assert columns(one, agreed) == tuple((count or 0) + 1 for count in expected)


def test_the_highest_round_counts_whatever_the_order() -> None:
    early = _verdict("outcome", Status.ERROR, round_=0)
    late = _verdict("outcome", Status.PASSED, round_=1, hours=1)

    assert latest_verdicts([late, early]) == latest_verdicts([early, late]) == {"outcome": late}


def test_the_version_judged_last_counts() -> None:
    old = _verdict("outcome", Status.PASSED, version="1", round_=3)
    new = _verdict("outcome", Status.FAILED, version="2", round_=0, hours=1)

    assert latest_verdicts([new, old]) == {"outcome": new}


def test_trajectories_say_why_they_were_rejected() -> None:
    columns = acceptance(RULE, [_verdict("structure", Status.FAILED)], split="train")

    assert not columns.accepted
    assert columns.rejected_because == (
        "structure: failed: structure says failed.",
        "outcome: not judged",
    )


def test_a_verdict_decides_before_what_was_not_judged_because_of_it() -> None:
    rule = AcceptSection(passed=("seen", "outcome", "replay"))
    failed = _verdict("outcome", Status.FAILED)

    reasons = acceptance(rule, [failed]).rejected_because
    none = acceptance(rule, []).rejected_because

    assert [reason.partition(":")[0] for reason in reasons] == ["seen", "outcome", "replay"]
    assert deciding_reason(reasons) == reasons[1]
    assert deciding_reason(none) == "seen: not judged"


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
    columns = acceptance(RULE, [_verdict("replay", status, score=0.5)], split="train")

    assert columns.replay == word


def test_assurance_is_the_strongest_there_is() -> None:
    replayed, judged = _verdict("replay"), _verdict("judge", score=0.9)

    def assurance(*verdicts: Verdict) -> str:
        return acceptance(RULE, verdicts, split="train").assurance

    assert assurance(replayed, judged) == "replayed"
    assert assurance(judged) == "judged"
    probed = _verdict("outcome", evidence={"reward": 1.0, "done": True, "probed": True})
    assert assurance(probed, judged) == "probed"
    assert assurance(probed, replayed) == "replayed"
    assert assurance(_verdict("outcome", Status.FAILED, evidence={"probed": True})) == "none"
    assert assurance(_verdict("outcome", evidence={"reward": 1.0, "done": True})) == "none"
    assert assurance(_verdict("replay", Status.FAILED)) == "none"


_FAR: JsonObject = {"reward": 0.4, "done": True}
_OWN: JsonObject = {**_FAR, "min_reward": 0.3, "min_reward_reason": "it is continuous"}
_EARLIER: JsonObject = {**_FAR, "min_reward": 0.45}


@pytest.mark.parametrize("passed", [("structure", "outcome"), ("structure",)], ids=len)
@pytest.mark.parametrize(
    ("outcome", "min_reward", "expected"),
    [
        (None, 0.5, None),
        (_verdict("outcome"), 0.5, True),
        (_verdict("outcome", evidence=_FAR), 0.5, False),
        (_verdict("outcome", evidence=_FAR), 0.4, True),
        (_verdict("outcome", evidence=_OWN), 0.5, True),
        (_verdict("outcome", Status.FAILED, evidence={"reward": 1.0, "done": False}), 0.5, False),
        (_verdict("outcome", Status.UNSUPPORTED), 0.5, None),
        (_verdict("outcome", Status.ABSTAINED), 0.5, None),
        (_verdict("outcome", Status.ERROR), 0.5, None),
        (_verdict("outcome", evidence={}), 0.5, None),
        (_verdict("outcome", Status.FAILED, evidence=_EARLIER), 0.5, False),
        (_verdict("outcome", Status.FAILED, evidence=_EARLIER), 0.4, None),
    ],
)
def test_success_is_the_site_s_word_under_the_rule_s_thresholds(
    outcome: Verdict | None,
    min_reward: float,
    expected: bool | None,  # noqa: FBT001
    passed: tuple[str, ...],
) -> None:
    """Whatever others made of it: not judged is not failed, and an outdated threshold is not judged."""
    every = [_verdict("structure", Status.FAILED), *([outcome] if outcome else [])]
    rule = AcceptSection(passed=passed, min_reward=min_reward)

    assert success(rule, latest_verdicts(every)) is expected
