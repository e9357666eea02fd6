"""What a review may say, its id, and which reviews stand."""

import re
from itertools import permutations

import pytest
from pydantic import ValidationError
from support.episodes.reviewed import make_review

from schemas.base import first_mistake
from schemas.tables.tables import from_row, to_row
from schemas.verdicts.review import (
    MAX_NAME,
    MAX_TEXT,
    Decision,
    Review,
    ReviewResult,
    identify,
    review_id,
    review_result,
    reviewed_instruction,
    standing_reviews,
)

EPISODE = "e" * 32
HOSTILE = "\x1b[31mred\x07 \u202eright to left\u2066 <script>alert(1)</script>\x00"


def _said(*reviews: Review) -> list[str]:
    return [
        f"{one.reviewer} {one.decision.value}" for one in standing_reviews(reviews).get(EPISODE, [])
    ]


def test_the_id_is_of_all_that_is_said_and_of_nothing_else() -> None:
    one = make_review()

    assert review_id(one) == review_id(identify(one)) == review_id(make_review())
    others = (
        make_review("f" * 32),
        make_review(decision="unsure"),
        make_review(reviewer="ben"),
        make_review(reason="good"),
        make_review(after=1),
        make_review(step=0),
        make_review(instruction="Say more"),
        make_review(undoes="a" * 32),
    )
    assert len({review_id(other) for other in (one, *others)}) == 1 + len(others)


def test_a_row_reads_back_and_one_without_an_id_too() -> None:
    review = identify(make_review(decision="reject", reason=HOSTILE, step=3))

    row = to_row(review)

    assert from_row(Review, row) == review
    assert row.pop("review_id") == review_id(review)
    assert identify(from_row(Review, row)) == review


def test_a_row_that_was_altered_is_refused() -> None:
    row = to_row(identify(make_review())) | {"decision": "unsure"}

    with pytest.raises(ValidationError, match="is not the hash of what the review says"):
        from_row(Review, row)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"reviewer": ""}, "reviewer: expected words, got none"),
        ({"reviewer": " \n"}, "reviewer: expected words, got none"),
        ({"reviewer": "a" * (MAX_NAME + 1)}, "reviewer: .* at most 200 characters"),
        ({"reason": "a" * 1_000_000}, f"reason: .* at most {MAX_TEXT} characters"),
        ({"instruction": "a" * 1_000_000}, f"instruction: .* at most {MAX_TEXT} characters"),
        ({"instruction": " "}, "instruction: expected words, got none"),
        ({"decision": "reject"}, "reason: expected why it is rejected"),
        ({"decision": "mark"}, "decision: a mark expects a step"),
        ({"decision": "maybe"}, "decision: .*'accept', 'reject', 'unsure' or 'mark'"),
        ({"step": -1}, "step: .* greater than or equal to 0"),
        ({"step": 2**31}, "step: .* less than 2147483648"),
        ({"undoes": "x"}, "undoes: "),
        ({"episode_id": "../../x"}, "episode_id: "),
        ({"at": "2026-01-01T00:00:00"}, "at: expected a time with its zone"),
        ({"stars": 5}, "stars: Extra inputs are not permitted"),
        ({"reason": "half \ud800"}, "reason: "),
    ],
)
def test_what_no_review_says_is_refused_by_name(wrong: dict[str, object], told: str) -> None:
    row = make_review().model_dump() | wrong

    with pytest.raises(ValidationError) as refused:
        Review.model_validate(row)

    assert re.match(told, first_mistake(refused.value))


def test_control_and_direction_characters_stay_as_they_are() -> None:
    review = make_review(decision="reject", reason=HOSTILE, reviewer=HOSTILE)

    assert (review.reason, review.reviewer) == (HOSTILE, HOSTILE)


def test_the_last_word_of_each_reviewer_counts_in_whatever_order_they_come() -> None:
    reviews = (
        make_review(decision="accept"),
        make_review(decision="reject", reviewer="ben", after=1),
        make_review(decision="reject", after=2, step=4),
    )

    assert {tuple(_said(*some)) for some in permutations(reviews)} == {("ben reject", "ana reject")}


def test_a_mark_decides_nothing_and_replaces_only_the_mark_of_its_step() -> None:
    reviews = (
        make_review(decision="accept"),
        make_review(decision="mark", step=1, after=1),
        make_review(decision="mark", step=2, after=2),
        make_review(decision="mark", step=1, reason="better said", after=3),
        make_review(decision="mark", instruction="Sort the list", after=4),
    )

    stands = standing_reviews(reviews)[EPISODE]

    assert [(one.decision.value, one.step) for one in stands] == [
        ("accept", None),
        ("mark", 2),
        ("mark", 1),
        ("mark", None),
    ]
    assert review_result(stands) is ReviewResult.ACCEPTED
    assert reviewed_instruction(stands) == "Sort the list"


def test_what_its_reviewer_withdrew_is_out_and_their_word_before_it_counts_again() -> None:
    first = make_review(decision="reject")
    second = make_review(decision="accept", after=1)
    undo = make_review(decision="mark", undoes=review_id(second), after=2)
    redo = make_review(decision="mark", undoes=review_id(undo), after=3)

    assert _said(first, second) == ["ana accept"]
    assert _said(first, second, undo) == ["ana reject"]
    assert _said(first, second, undo, redo) == ["ana accept"]


@pytest.mark.parametrize(
    "change",
    [{"reviewer": "ben"}, {"episode_id": "f" * 32}, {"after": -1}],
    ids=["somebody else", "another episode", "before"],
)
def test_nobody_withdraws_what_is_not_theirs(change: dict[str, object]) -> None:
    one = make_review(decision="reject")
    foreign = make_review(
        **{"decision": "mark", "undoes": review_id(one), "after": 1, **change}  # type: ignore[arg-type]
    )

    assert _said(one, foreign) == ["ana reject"]


def test_the_same_review_twice_is_one() -> None:
    assert _said(make_review(), make_review(), identify(make_review())) == ["ana accept"]


@pytest.mark.parametrize(
    ("said", "result"),
    [
        ((), None),
        (("accept",), "accepted"),
        (("accept", "accept"), "accepted"),
        (("accept", "unsure"), "accepted"),
        (("reject", "unsure"), "rejected"),
        (("accept", "reject"), "disagreed"),
        (("unsure",), "unsure"),
    ],
)
def test_what_reviewers_say_together(said: tuple[str, ...], result: str | None) -> None:
    reviews = [make_review(decision=one, reviewer=f"r{n}") for n, one in enumerate(said)]

    assert review_result(standing_reviews(reviews).get(EPISODE, [])) == result


def test_a_mark_alone_is_no_review_of_the_episode() -> None:
    marks = [make_review(decision=Decision.MARK, step=0)]

    assert review_result(standing_reviews(marks)[EPISODE]) is None
