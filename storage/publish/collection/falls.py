"""Tells a night that did worse than those before it."""

from collections.abc import Iterator, Sequence
from statistics import median

from storage.publish.plan.manifest import Night

NIGHTS = 7
"""The nights before it with whose median a night is compared."""

MIN_NIGHTS = 3
"""With fewer nights before it there is nothing to compare with."""


def falls(nights: Sequence[Night], night: Night, points: float) -> Iterator[str]:
    """Yield in which a night fell by more than `points` against the median of the nights before it, in sentences.

    The yield falls by percentage points, accepted episodes an hour by percent.
    """
    earlier = sorted((one for one in nights if one.number < night.number), key=lambda n: n.number)
    last = earlier[-NIGHTS:]
    if len(last) < MIN_NIGHTS:
        return
    yields = [share for one in last if (share := _yield(one)) is not None]
    now = _yield(night)
    if now is not None and len(yields) >= MIN_NIGHTS and median(yields) - now > points:
        yield (
            f"night {night.number} accepted {now:.0f} % of its judged episodes, {median(yields) - now:.0f} points less "
            f"than the median of the {len(yields)} nights before it ({median(yields):.0f} %)"
        )
    paces = [pace for one in last if (pace := _pace(one)) is not None]
    pace = _pace(night)
    if pace is None or len(paces) < MIN_NIGHTS:
        return
    usual = median(paces)
    if usual and 100 * (usual - pace) / usual > points:
        yield (
            f"night {night.number} accepted {pace:.0f} episodes an hour, {100 * (usual - pace) / usual:.0f} % less than "
            f"the median of the {len(paces)} nights before it ({usual:.0f})"
        )


def _yield(night: Night) -> float | None:
    tally = night.tally
    judged = tally.accepted + tally.rejected
    return 100 * tally.accepted / judged if judged else None


def _pace(night: Night) -> float | None:
    return night.tally.accepted / night.hours if night.hours else None
