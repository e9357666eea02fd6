"""What becomes of the dates in a scheduled flow's parameters."""

from datetime import UTC, datetime

from flows.orchestration.served_flow import fill_date, fill_dates, scheduled_day


def test_a_day_stands_for_its_braces() -> None:
    day = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)

    assert fill_date("runs/{date}", day) == "runs/2026-11-21"
    assert fill_date("tasks.seeds=[{day}0, {day}4]", day) == "tasks.seeds=[7399410, 7399414]"
    assert fill_date("{other}", day) == "{other}"


def test_outside_of_a_flow_run_the_day_is_today() -> None:
    day = scheduled_day()

    assert fill_dates(["{date}"], day) == (f"{day:%Y-%m-%d}",)
    assert fill_dates(None, day) == ()
    assert day.utcoffset() is not None
