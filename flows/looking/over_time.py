"""What a run did over the time in which it was worked on, in equal parts of that time.

Pauses between commands count as nothing: a run that was resumed a day later has no empty day. What an attempt used is
spread evenly over its own time, because rows say when an attempt began and ended and not when it used what.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime
from math import ceil
from typing import NamedTuple

PARTS = 40
"""The maximum number of parts."""


class Used(NamedTuple):
    """An attempt's time, and what it used in it."""

    began_at: datetime
    """UTC."""
    ended_at: datetime
    """UTC."""
    amounts: tuple[float, ...]
    """What it used of each thing, spread evenly over its time."""


class OverTime(NamedTuple):
    """What was used, by part of the time."""

    seconds: float
    """The length of a part, s."""
    ended: tuple[int, ...]
    """Attempts that ended in each part."""
    amounts: tuple[tuple[float, ...], ...]
    """Of each thing what was used in each part."""


def over_time(
    used: Sequence[Used], worked: Iterable[tuple[datetime, datetime]] = (), *, parts: int = PARTS
) -> OverTime | None:
    """Return what attempts used over time; None without an attempt.

    Args:
        used: the attempts.
        worked: when commands worked on the run, beside the attempts' own times.
        parts: the number of parts.
    """
    if not used:
        return None
    clock = _Clock([*worked, *((one.began_at, one.ended_at) for one in used)])
    part = max(clock.seconds / parts, 1e-9)
    ended = [0] * parts
    amounts = [[0.0] * parts for _ in used[0].amounts]
    for one in used:
        first, last = clock.at(one.began_at), clock.at(one.ended_at)
        ended[min(max(ceil(last / part) - 1, 0), parts - 1)] += 1
        for number, share in _shares(first, last, part=part, parts=parts):
            for row, amount in zip(amounts, one.amounts, strict=True):
                row[number] += amount * share
    return OverTime(part, tuple(ended), tuple(map(tuple, amounts)))


def _shares(first: float, last: float, *, part: float, parts: int) -> Iterable[tuple[int, float]]:
    """Yield the parts that a stretch of time touches, each with the share of the stretch in it."""
    begin, end = (min(int(moment / part), parts - 1) for moment in (first, last))
    if last <= first:
        yield end, 1.0
        return
    for number in range(begin, end + 1):
        low = max(first, number * part)
        high = last if number == end else min(last, (number + 1) * part)
        yield number, (high - low) / (last - first)


class _Clock:
    """The time that was worked, in which pauses are left out."""

    def __init__(self, spans: Iterable[tuple[datetime, datetime]]) -> None:
        self._begins: list[datetime] = []
        self._ends: list[datetime] = []
        for begin, end in sorted(spans):
            if self._ends and begin <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._begins.append(begin)
                self._ends.append(end)
        self._before = [0.0]
        for begin, end in zip(self._begins, self._ends, strict=True):
            self._before.append(self._before[-1] + (end - begin).total_seconds())

    @property
    def seconds(self) -> float:
        """All of it, s."""
        return self._before[-1]

    def at(self, moment: datetime) -> float:
        """Return how much had been worked at a moment, s."""
        place = bisect_right(self._begins, moment) - 1
        return self._before[place] + (moment - self._begins[place]).total_seconds()
