"""What reviews do to the result of the rule, and what they cannot do."""

import math

import pytest
from support.episodes.factories import make_episode, make_task, make_verdict
from support.episodes.reviewed import make_review

from schemas.configuration.sections import AcceptSection, ReviewRule
from schemas.verdicts.acceptance import (
    AcceptanceStatus,
    JudgedEpisode,
    RunJudgement,
    accept_all,
    deciding_reason,
)
from schemas.verdicts.agreement import agreements, cohen_kappa
from schemas.verdicts.review import Decision, Review, review_id, standing_reviews
from schemas.verdicts.verdict import Status, Verdict

EPISODE = make_episode(make_task(1))
ID = EPISODE.episode_id
RULE = AcceptSection(passed=("structure", "outcome", "replay"), min_reward=0.5)


def _verdicts(**failed: Status) -> tuple[Verdict, ...]:
    base = make_verdict(EPISODE)
    return tuple(
        base.model_copy(update={"verifier": name, "status": failed.get(name, Status.PASSED)})
        for name in RULE.passed
    )


def _judged(
    *reviews: Review,
    rule: ReviewRule = ReviewRule.OBEY,
    verdicts: tuple[Verdict, ...] | None = None,
) -> RunJudgement:
    found = _verdicts() if verdicts is None else verdicts
    accepted = RULE.model_copy(update={"reviews": rule})
    standing = standing_reviews(reviews)
    return accept_all(accepted, [JudgedEpisode(ID, EPISODE.task_id, found)], standing)[ID]


ACCEPT = make_review(ID)
REJECT = make_review(ID, "reject", reviewer="ben", reason="the wrong row", after=1)
UNSURE = make_review(ID, "unsure", reviewer="cleo")
MARK = make_review(ID, "mark", reviewer="dan", step=1)


@pytest.mark.parametrize(
    ("reviews", "obey", "require", "label"),
    [
        ((), "accepted", "unjudged", None),
        ((ACCEPT,), "accepted", "accepted", "accepted"),
        ((REJECT,), "rejected", "rejected", "rejected"),
        ((ACCEPT, REJECT), "unjudged", "unjudged", "disagreed"),
        ((UNSURE,), "accepted", "unjudged", "unsure"),
        ((UNSURE, ACCEPT), "accepted", "accepted", "accepted"),
        ((UNSURE, REJECT), "rejected", "rejected", "rejected"),
        ((MARK,), "accepted", "unjudged", None),
    ],
)
def test_what_each_rule_makes_of_reviews(
    reviews: tuple[Review, ...], obey: str, require: str, label: str | None
) -> None:
    found = {rule: _judged(*reviews, rule=rule) for rule in ReviewRule}

    assert {rule.value: one.status.value for rule, one in found.items()} == {
        "obey": obey,
        "ignore": "accepted",
        "require": require,
    }
    assert {one.acceptance.review for one in found.values()} == {label}


def test_a_rejection_names_the_reviewer_and_their_words() -> None:
    [why] = _judged(REJECT).acceptance.rejected_because

    assert why == "review: rejected: ben: the wrong row"
    assert not _judged(REJECT).acceptance.accepted


def test_a_disagreement_names_who_says_what() -> None:
    [why] = _judged(ACCEPT, REJECT).acceptance.rejected_because

    assert why == "review: disagreed: ana accepts it, ben rejects it"


@pytest.mark.parametrize("failed", RULE.passed)
@pytest.mark.parametrize("rule", ReviewRule)
def test_an_accept_makes_good_nothing_that_a_verifier_failed(failed: str, rule: ReviewRule) -> None:
    judged = _judged(ACCEPT, rule=rule, verdicts=_verdicts(**{failed: Status.FAILED}))

    assert judged.status is AcceptanceStatus.REJECTED
    assert judged.acceptance.review == "accepted"


def test_an_accept_stands_for_no_verdict_that_is_missing() -> None:
    judged = _judged(ACCEPT, verdicts=())

    assert judged.status is AcceptanceStatus.UNJUDGED


def test_a_rejection_decides_before_verdicts_that_are_missing() -> None:
    judged = _judged(REJECT, verdicts=())

    assert judged.status is AcceptanceStatus.REJECTED
    assert deciding_reason(judged.acceptance.rejected_because).startswith("review: rejected: ben")


def test_a_withdrawn_rejection_rejects_nothing() -> None:
    undo = make_review(ID, "mark", reviewer="ben", undoes=review_id(REJECT), after=2)

    assert _judged(REJECT, undo).status is AcceptanceStatus.ACCEPTED


def test_a_better_goal_is_a_column_and_decides_nothing() -> None:
    worded = make_review(ID, "mark", instruction="Sort the list by name")

    judged = _judged(worded)

    assert judged.status is AcceptanceStatus.ACCEPTED
    assert judged.acceptance.reviewed_instruction == "Sort the list by name"


def test_of_copies_the_one_that_no_reviewer_rejects_counts() -> None:
    base = make_verdict(EPISODE)
    alike = base.model_copy(
        update={
            "verifier": "novelty",
            "evidence": {"trajectory": "t", "course": "c", "pictures": ["0"], "task": "t"},
        }
    )
    rule = AcceptSection(passed=("novelty",))
    episodes = [JudgedEpisode(id_, "t", (alike,)) for id_ in ("a" * 32, "b" * 32)]

    alone = accept_all(rule, episodes)
    reviewed = accept_all(
        rule, episodes, standing_reviews([make_review("a" * 32, "reject", reason="no")])
    )

    assert [alone[id_].acceptance.accepted for id_ in ("a" * 32, "b" * 32)] == [True, False]
    assert [reviewed[id_].acceptance.accepted for id_ in ("a" * 32, "b" * 32)] == [False, True]


A, R = Decision.ACCEPT, Decision.REJECT


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], None),
        ([(A, A)], None),
        ([(A, A), (A, A), (A, A)], None),
        ([(A, A), (R, R)], 1.0),
        ([(A, R), (R, A)], -1.0),
        ([(A, A), (A, R)], 0.0),
        # The example that textbooks work out: 20 and 15 in agreement of 50, p_e = 0.5.
        ([(A, A)] * 20 + [(A, R)] * 5 + [(R, A)] * 10 + [(R, R)] * 15, 0.4),
    ],
)
def test_kappa_is_cohens(pairs: list[tuple[Decision, Decision]], kappa: float | None) -> None:
    found = cohen_kappa(pairs)

    assert (found is None) is (kappa is None)
    assert kappa is None or math.isclose(found or 0.0, kappa, abs_tol=1e-12)


def test_two_agree_over_the_episodes_that_both_decided() -> None:
    def said(name: str, *decisions: str) -> list[Review]:
        return [
            make_review(f"{n:032x}", decision, reviewer=name)
            for n, decision in enumerate(decisions)
            if decision
        ]

    standing = standing_reviews(
        [
            *said("ben", "accept", "reject", "accept", "unsure", ""),
            *said("ana", "accept", "reject", "reject", "accept", "accept"),
            *said("cleo", "", "", "", "", "reject"),
        ]
    )

    found = agreements(standing)

    assert [one[:3] for one in found] == [(("ana", "ben"), 3, 2), (("ana", "cleo"), 1, 0)]
    assert [one.kappa for one in found] == pytest.approx([0.4, 0.0])
