"""Sentences that are said whatever the picture shows claim no more than is always true."""

from random import Random

import pytest

from generators.policy.sentences.vary import sentence, vary


def told(key: str) -> set[str]:
    """Return what may be said by a key."""
    slots = ("on", "name", "other", "more", "way", "fact", "value", "met", "field", "after", "how")
    said = sentence(key, **dict.fromkeys((*slots, "text", "next", "within"), "Price"))
    return {vary(said, Random(seed)) for seed in range(200)}


@pytest.mark.parametrize(
    ("key", "claim"),
    [
        ("policy.unfolds", "not in sight"),  # a part of it may be, at the edge
        ("policy.reads_on", "All rows count"),  # all are read, and some of them count
        ("steps.sort", "comes first"),  # the second one may be asked for
        ("steps.sort", "begins with"),
        ("steps.fill", "gives"),  # a form may want a date in another way than the task writes it
        ("remarks.changed", "before"),  # it may have had a third value since
        ("remarks.gone", "any more"),  # these rows may never have had it
        ("kinds.condition", "As I have read"),  # it may stand on this page
        ("slips.saves_again", "It is right"),  # whatever that is
        ("steps.confirm", 'step: "Price" does'),
        ("plan.find", "there"),  # no place may have been named
    ],
)
def test_no_sentence_claims_what_may_be_otherwise(key: str, claim: str) -> None:
    assert not any(claim in one for one in told(key))


def test_a_look_for_changes_of_which_one_is_in_sight_asks_for_all_of_them() -> None:
    for one in told("policy.checks"):
        assert "all" in one
        assert "It is not in sight" not in one
