"""The order in which episodes are reviewed, and what a blind reviewer sees."""

import pytest
from support.episodes.factories import make_episode, make_task, make_verdict
from support.episodes.reviewed import make_review

from flows.reviewing.blind import visible_to
from flows.reviewing.queue import QueueOrder, review_queue
from schemas.configuration.sections import AcceptSection
from schemas.verdicts.review import standing_reviews
from schemas.verdicts.verdict import Status, Verdict

BASE = make_verdict(make_episode(make_task(1)))
RULE = AcceptSection(passed=("outcome",), min_scores={"judge": 0.8})
IDS = [f"{number:032x}" for number in range(40)]


def _verdict(verifier: str, status: Status = Status.PASSED, score: float | None = None) -> Verdict:
    return BASE.model_copy(update={"verifier": verifier, "status": status, "score": score})


PASSED, FAILED = Status.PASSED, Status.FAILED


def test_those_come_first_on_which_most_pairs_disagree() -> None:
    verdicts = {
        "agreed": [_verdict("outcome"), _verdict("replay")],
        "one pair": [_verdict("outcome"), _verdict("replay", FAILED)],
        "two pairs": [_verdict("outcome"), _verdict("replay"), _verdict("seen", FAILED)],
        "nothing": [],
        "only well formed": [_verdict("structure"), _verdict("outcome", FAILED)],
    }

    order = review_queue(verdicts, QueueOrder.DISAGREEMENT, rule=RULE, standing={})

    assert order[:2] == ["two pairs", "one pair"]
    assert {*order[2:]} == {"agreed", "nothing", "only well formed"}


def test_a_review_disagrees_with_a_verdict_and_with_another_review() -> None:
    first, second, third = IDS[:3]
    verdicts = {id_: [_verdict("outcome")] for id_ in (first, second, third)}
    standing = standing_reviews(
        [
            make_review(first, "reject"),
            make_review(second),
            make_review(third, "reject"),
            make_review(third, reviewer="ben"),
        ]
    )

    order = review_queue(verdicts, QueueOrder.DISAGREEMENT, rule=RULE, standing=standing)

    assert order == [third, first, second]


def test_those_come_first_whose_score_is_nearest_to_its_threshold() -> None:
    verdicts = {
        "sure": [_verdict("judge", score=1.0)],
        "near": [_verdict("judge", FAILED, score=0.75)],
        "middle": [_verdict("panel", score=0.6)],
        "none": [_verdict("outcome")],
        "of the record": [_verdict("novelty", score=0.5)],
    }

    order = review_queue(verdicts, QueueOrder.CONFIDENCE, rule=RULE, standing={})

    assert order[:3] == ["near", "middle", "sure"]
    assert {*order[3:]} == {"none", "of the record"}


def test_a_sample_is_the_seeds_and_stays_as_a_run_grows() -> None:
    def drawn(ids: list[str], seed: int) -> list[str]:
        verdicts: dict[str, list[Verdict]] = {id_: [] for id_ in ids}
        return review_queue(verdicts, QueueOrder.RANDOM, rule=RULE, standing={}, seed=seed)

    some, every = drawn(IDS[:20], 1), drawn(IDS, 1)

    assert sorted(every) == IDS
    assert every not in (IDS, drawn(IDS, 2))
    assert [id_ for id_ in every if id_ in some] == some
    assert drawn(IDS[::-1], 1) == every


@pytest.mark.parametrize("order", QueueOrder)
def test_who_has_said_a_word_on_an_episode_is_not_asked_again(order: QueueOrder) -> None:
    verdicts: dict[str, list[Verdict]] = {id_: [] for id_ in IDS[:4]}
    standing = standing_reviews(
        [
            make_review(IDS[0]),
            make_review(IDS[1], "unsure"),
            make_review(IDS[2], "mark", step=0),
            make_review(IDS[3], reviewer="ben"),
        ]
    )

    left = review_queue(verdicts, order, rule=RULE, standing=standing, reviewer="ana")

    assert {*left} == {IDS[2], IDS[3]}


def test_a_blind_reviewer_sees_others_only_where_they_have_said_a_word() -> None:
    ben_first, ben_second = make_review(IDS[0], reviewer="ben"), make_review(IDS[1], reviewer="ben")
    mine, mark = make_review(IDS[0], "unsure", after=1), make_review(IDS[1], "mark", step=0)
    standing = standing_reviews([ben_first, ben_second, mine, mark])

    assert visible_to("ana", standing) == {IDS[0]: [ben_first, mine], IDS[1]: [mark]}
    assert visible_to("cleo", standing) == {}
