"""Confidence intervals of a share from few trials (Wilson) and of the difference of two shares (Newcombe).

One success of five and two hundred of a thousand are both 20 %, and do not say the same. The interval
holds the shares under which such a count is no surprise. It stays between 0 and 1 and has a width where
nothing, or everything, succeeded, which the normal approximation's has not.

Attempts at one task are not independent: the unit that is counted is the task, and each gives a number
between 0 and 1, its share of successes or its pass@k. No such number varies more than a coin of the same
mean, so the interval for as many trials as there are tasks is never too narrow on that account.

Sources: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
the American Statistical Association 22 (1927), 209-212; R. G. Newcombe, Statistics in Medicine 17 (1998),
873-890 (two samples, method 10) and 2635-2650 (pairs, method 10); M. Chen et al., "Evaluating large
language models trained on code", arXiv:2107.03374 (pass@k).
"""

from collections.abc import Sequence
from math import comb, fsum, sqrt

from schemas.base import Record

Z95 = 1.959963984540054
"""The quantile of the standard normal distribution that leaves 2.5 % above it."""


class Estimate(Record):
    """A figure with its 95 % interval."""

    value: float
    """The figure: a share, or a difference of two."""
    low: float
    """The lower end of its interval."""
    high: float
    """The upper end of its interval."""


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the ends of the 95 % interval of Wilson for `successes` of `trials`.

    Both are shares between 0 and 1; of no trial nothing is known, so they are 0 and 1.

    Raises:
        ValueError: there are more successes than trials, or fewer than none.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"expected 0 to {trials} successes of {trials} trials, got {successes}")
    return _wilson(successes / trials, trials) if trials else (0.0, 1.0)


def _wilson(share: float, trials: int) -> tuple[float, float]:
    square = Z95 * Z95
    centre = share + square / (2 * trials)
    half = Z95 * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    scale = 1 + square / trials
    low = 0.0 if share == 0 else (centre - half) / scale
    high = 1.0 if share == 1 else (centre + half) / scale
    return low, high


def pass_at(k: int, *, attempts: int, passed: int) -> float:
    """Return the unbiased estimate that at least one of `k` attempts at a task passes.

    It is the share of all choices of `k` of the `attempts` that have one of the `passed` ones among them.

    Raises:
        ValueError: `k` is not from 1 to `attempts`, or `passed` not from 0 to `attempts`.
    """
    if not 1 <= k <= attempts or not 0 <= passed <= attempts:
        raise ValueError(f"no pass@{k} of {passed} passed of {attempts} attempts")
    return 1 - comb(attempts - passed, k) / comb(attempts, k)


def mean_of_tasks(shares: Sequence[float]) -> Estimate:
    """Return the mean over tasks of a number between 0 and 1, with its interval.

    Raises:
        ValueError: there is no task.
    """
    if not shares:
        raise ValueError("expected the share of at least one task")
    mean = fsum(shares) / len(shares)
    low, high = _wilson(mean, len(shares))
    return Estimate(value=mean, low=low, high=high)


def difference(one: Sequence[float], other: Sequence[float], *, paired: bool) -> Estimate:
    """Return the mean of `other` minus that of `one`, with Newcombe's interval.

    Both hold a number between 0 and 1 for each task; if they are `paired`, for the same tasks in the same
    order.

    Raises:
        ValueError: there is no task, or pairs are of different number.
    """
    first, second = mean_of_tasks(one), mean_of_tasks(other)
    phi = _correlation(one, other) if paired else 0.0
    value = second.value - first.value
    below = _distance(second.value - second.low, first.high - first.value, phi=phi)
    above = _distance(second.high - second.value, first.value - first.low, phi=phi)
    return Estimate(value=value, low=value - below, high=value + above)


def _distance(one: float, other: float, *, phi: float) -> float:
    return sqrt(max(one**2 - 2 * phi * one * other + other**2, 0.0))


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the correlation of pairs, a positive one lessened by method 10's continuity correction."""
    n = len(one)
    pairs = list(zip(one, other, strict=True))
    mean1, mean2 = fsum(one) / n, fsum(other) / n
    moment = n * fsum((x - mean1) * (y - mean2) for x, y in pairs)
    scale = n * sqrt(fsum((x - mean1) ** 2 for x in one) * fsum((y - mean2) ** 2 for y in other))
    if scale == 0:
        return 0.0
    return (max(moment - n / 2, 0.0) if moment > 0 else moment) / scale
