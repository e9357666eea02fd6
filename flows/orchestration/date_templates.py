"""Dates in the parameters of a flow that is scheduled again and again with the same ones.

The day is that of the time a flow run was scheduled for, by UTC, and never that of when it really
began: one that is late, or started again the next day, goes on with the same run. A run by hand is
scheduled for the moment it is asked for.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from prefect.runtime import flow_run

DATE = "{date}"
"""Stands for the day, as 2026-11-21."""

DAY = "{day}"
"""Stands for the day's number: it grows by one every day and is never used twice."""


def fill_date(text: str, day: datetime) -> str:
    """Return `text` with the day in place of `{date}` and its number in place of `{day}`."""
    return text.replace(DATE, f"{day:%Y-%m-%d}").replace(DAY, str(day.toordinal()))


def fill_dates(texts: Iterable[str] | None, day: datetime) -> tuple[str, ...]:
    """Return every text with the day in its places."""
    return tuple(fill_date(text, day) for text in texts or ())


def scheduled_day() -> datetime:
    """Return the day the flow run at work was scheduled for; outside of one, today."""
    scheduled: datetime | None = flow_run.scheduled_start_time
    return (scheduled or datetime.now(UTC)).astimezone(UTC)
