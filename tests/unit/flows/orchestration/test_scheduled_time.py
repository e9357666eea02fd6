"""What becomes of the times in a scheduled flow's parameters."""

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from flows.orchestration.scheduled_time import due_time, fill, fill_all, later_due

CHANGES = {
    "Europe/Berlin": (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)),
    "America/New_York": (datetime(2026, 3, 8, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)),
    "Australia/Lord_Howe": (datetime(2026, 4, 4, tzinfo=UTC), datetime(2026, 10, 3, tzinfo=UTC)),
}
"""Days on which clocks are changed: by an hour, and by half of one."""


def test_a_time_stands_for_its_braces() -> None:
    due = datetime(2026, 11, 21, 23, 30, tzinfo=UTC).astimezone(ZoneInfo("UTC"))

    assert fill("runs/{date}", due) == "runs/2026-11-21"
    assert fill("runs/{hour}", due) == "runs/2026-11-21T23"
    assert fill("runs/{time}", due) == "runs/2026-11-21T23-30-00"
    assert fill("tasks.seeds=[{day}0, {day}4]", due) == "tasks.seeds=[7399410, 7399414]"
    assert fill("{other}", due) == "{other}"


def test_the_day_is_that_of_the_schedule_s_zone() -> None:
    due = datetime(2026, 11, 21, 23, 30, tzinfo=UTC).astimezone(ZoneInfo("Asia/Tokyo"))

    assert fill("{date} {hour} {day}", due) == "2026-11-22 2026-11-22T08 739942"


@pytest.mark.parametrize("zone", CHANGES)
def test_no_two_minutes_have_one_text_where_clocks_are_changed(zone: str) -> None:
    for change in CHANGES[zone]:
        minutes = [change + timedelta(minutes=n) for n in range(-24 * 60, 48 * 60)]
        local = [minute.astimezone(ZoneInfo(zone)) for minute in minutes]

        assert len({fill("{time}", one) for one in local}) == len(minutes)
        assert any(one.fold for one in local) or change == CHANGES[zone][0] or "Lord" in zone
        hours = [fill("{hour}", one) for one in local]
        assert len({*hours}) >= len(minutes) // 60


def test_an_hour_that_comes_twice_has_two_texts() -> None:
    first, second = (
        datetime(2026, 10, 25, hour, 30, tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin"))
        for hour in (0, 1)
    )

    assert (fill("{hour}", first), fill("{hour}", second)) == ("2026-10-25T02", "2026-10-25T02b")
    assert fill("{time}", second) == "2026-10-25T02-30-00b"


def test_outside_of_a_flow_run_it_is_now() -> None:
    due = asyncio.run(due_time())

    assert fill_all(["{date}"], due) == (f"{datetime.now(UTC):%Y-%m-%d}",)
    assert fill_all(None, due) == ()
    assert due.utcoffset() == timedelta(0)
    assert asyncio.run(later_due()) == 0
