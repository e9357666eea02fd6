"""Each attempt that was not accepted is lost at one stage, and the losses add up."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from flows.looking.funnel import funnel
from flows.looking.places import Head
from schemas.configuration.sections import AcceptSection
from schemas.verdicts.acceptance import AcceptanceStatus

RULE = AcceptSection(passed=("structure", "outcome", "seen", "replay"))


def _head(status: AcceptanceStatus, reason: str | None = None, *, broke: bool = False) -> Head:
    return Head("0" * 32, "click-test", "miniwob", "teacher", 3, status, None, reason, broke)


ACCEPTED = _head(AcceptanceStatus.ACCEPTED)
REJECTED = AcceptanceStatus.REJECTED


def test_an_attempt_is_lost_at_the_stage_of_the_reason_that_decided() -> None:
    heads = [
        ACCEPTED,
        ACCEPTED,
        _head(REJECTED, "outcome: failed: not done"),
        _head(REJECTED, "outcome: below the threshold: reward 0 is below 1"),
        _head(REJECTED, "replay: failed: step 3 parts"),
        _head(REJECTED, "seen: failed: step 1: the text 'x'"),
        _head(REJECTED, "structure: failed: a column"),
        _head(REJECTED, "outcome: failed: the attempt failed (page)", broke=True),
        _head(AcceptanceStatus.UNJUDGED, "replay: not judged"),
    ]

    stages = funnel(heads, RULE)

    assert [(one.name, one.attempts, one.lost) for one in stages] == [
        ("attempted", 9, 0),
        ("finished", 8, 1),
        ("rewarded", 6, 2),
        ("replayed", 5, 1),
        ("seen", 4, 1),
        ("novel", 4, 0),
        ("accepted", 2, 2),
    ]
    assert stages[2].why == (("outcome: below the threshold", 1), ("outcome: failed", 1))
    assert [one.name for one in stages if not one.asked] == ["novel"]


REASONS = st.sampled_from(["outcome", "replay", "seen", "novelty", "structure", "mine"])
HEADS = st.one_of(
    st.just(ACCEPTED),
    st.builds(
        _head,
        st.sampled_from([REJECTED, AcceptanceStatus.UNJUDGED]),
        REASONS.map(lambda name: f"{name}: failed: why"),
        broke=st.booleans(),
    ),
)


@given(st.lists(HEADS))
def test_the_last_stage_has_the_accepted_ones_and_no_stage_grows(heads: list[Head]) -> None:
    stages = funnel(heads, RULE)

    assert stages[-1].attempts == sum(one is ACCEPTED for one in heads)
    for before, after in pairwise(stages):
        assert after.attempts == before.attempts - after.lost
        assert sum(count for _, count in after.why) == after.lost
