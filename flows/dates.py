"""Dates in the parameters of a flow that is scheduled again and again with the same ones."""

from datetime import datetime

DATE = "{date}"
"""Stands for the day, as 2026-11-21."""

DAY = "{day}"
"""Stands for the day's number: it grows by one every day and is never used twice."""


def dated(text: str, day: datetime) -> str:
    """Return `text` with the day in place of `{date}` and its number in place of `{day}`."""
    return text.replace(DATE, f"{day:%Y-%m-%d}").replace(DAY, str(day.toordinal()))
