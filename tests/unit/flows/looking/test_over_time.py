"""What a run used is spread over the time in which it was worked on, and none of it is lost."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.looking.over_time import Used, over_time

START = datetime(2026, 1, 2, tzinfo=UTC)


def _used(begin: float, end: float, *amounts: float) -> Used:
    return Used(START + timedelta(seconds=begin), START + timedelta(seconds=end), amounts)


def test_what_was_used_lies_where_the_attempt_was() -> None:
    found = over_time([_used(0, 10, 20.0), _used(5, 10, 10.0)], parts=10)

    assert found is not None
    assert found.seconds == 1.0
    assert found.amounts[0] == pytest.approx([2.0] * 5 + [4.0] * 5)
    assert found.ended == (0,) * 9 + (2,)


def test_a_pause_between_commands_takes_no_room() -> None:
    day = 86_400.0

    found = over_time([_used(0, 10, 1.0), _used(day, day + 10, 1.0)], parts=2)

    assert found is not None
    assert (found.seconds, found.ended) == (10.0, (1, 1))
    assert found.amounts[0] == pytest.approx([1.0, 1.0])


def test_time_in_which_a_command_worked_and_no_attempt_ended_counts() -> None:
    worked = [(START - timedelta(seconds=10), START + timedelta(seconds=10))]

    found = over_time([_used(0, 10, 4.0)], worked, parts=2)

    assert found is not None
    assert found.amounts[0] == pytest.approx([0.0, 4.0])


def test_without_an_attempt_there_is_nothing() -> None:
    assert over_time([]) is None


def test_an_attempt_of_no_length_is_there_once() -> None:
    found = over_time([_used(3, 3, 7.0)], parts=3)

    assert found is not None
    assert (sum(found.ended), sum(found.amounts[0])) == (1, 7.0)


TIMES = st.floats(0, 1e6)


@given(
    st.lists(st.tuples(TIMES, st.floats(0, 1e4), st.floats(0, 1e6)), min_size=1, max_size=20),
    st.integers(1, 50),
)
def test_nothing_is_lost(spans: list[tuple[float, float, float]], parts: int) -> None:
    used = [_used(begin, begin + length, amount) for begin, length, amount in spans]

    found = over_time(used, parts=parts)

    assert found is not None
    assert sum(found.ended) == len(used)
    assert sum(found.amounts[0]) == pytest.approx(sum(amount for *_, amount in spans), abs=1e-3)
    assert min(found.amounts[0]) >= 0
