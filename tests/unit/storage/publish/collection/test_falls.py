"""A night that does worse than those before it is told, and no other."""

import pytest
from support.stores.memory_store import MemoryStore
from support.stores.nights import add, night

from storage.publish.collection.falls import falls
from storage.publish.plan.manifest import Night, PublishedFile, Tally


def _night(number: int, *, accepted: int, of: int = 100, hours: float = 1.0) -> Night:
    index = PublishedFile(
        path="index/a", config=None, split=None, rows=0, bytes=0, sha256="0" * 64, recipe=None
    )
    return Night(
        number=number,
        run=f"{number:032x}",
        version=1,
        name="nightly",
        begun="2026-01-02",
        added=number,
        license=None,
        rule={},
        include_rejected=False,
        published=accepted,
        copies=0,
        near_copies=0,
        held_back=0,
        templates={"click-test": Tally(accepted=accepted, rejected=of - accepted)},
        policies={},
        sites={},
        splits={},
        index=index,
        hours=hours,
    )


BEFORE = [_night(n, accepted=accepted) for n, accepted in enumerate((80, 82, 78, 80), start=1)]


def test_a_yield_that_falls_is_told() -> None:
    [yields, pace] = falls(BEFORE, _night(5, accepted=60), 10.0)

    assert yields == (
        "night 5 accepted 60 % of its judged episodes, 20 points less than the median of the 4 nights before it (80 %)"
    )
    assert pace == (
        "night 5 accepted 60 episodes an hour, 25 % less than the median of the 4 nights before it (80)"
    )


def test_a_slower_night_is_told_by_its_pace_alone() -> None:
    [pace] = falls(BEFORE, _night(5, accepted=80, hours=2.0), 10.0)

    assert "40 episodes an hour, 50 % less" in pace


@pytest.mark.parametrize("accepted", [71, 80, 100])
def test_a_night_as_others_is_not_told(accepted: int) -> None:
    assert [*falls(BEFORE, _night(5, accepted=accepted), 12.0)] == []


def test_there_is_nothing_to_compare_with_before_three_nights() -> None:
    assert [*falls(BEFORE[:2], _night(3, accepted=0), 10.0)] == []


def test_only_the_seven_nights_before_count() -> None:
    before = [_night(n, accepted=90) for n in range(1, 6)]
    before += [_night(n, accepted=20) for n in range(6, 13)]

    assert [*falls(before, _night(13, accepted=19), 10.0)] == []


def test_a_night_without_a_judged_episode_is_compared_with_none() -> None:
    assert [*falls(BEFORE, _night(5, accepted=0, of=0, hours=0.0), 10.0)] == []


def test_an_append_warns_of_a_night_that_fell() -> None:
    place = MemoryStore()
    for number in (1, 2, 3):
        assert add(night(number, rejects=()), place, number).warnings == ()

    report = add(night(4, rejects=(0, 1, 2, 3)), place, 4)

    assert any("night 4 accepted 50 % of its judged episodes" in one for one in report.warnings)
