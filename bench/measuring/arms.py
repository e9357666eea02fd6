"""The arms of a comparison: which published episodes each learns from, and how well a difference is known.

Two arms differ in one thing: one has the episodes that were accepted, the other as many of each
template, drawn whatever became of them. Neither has an episode of what is played afterwards. Two more compare
two teachers, each with accepted episodes of the same number of steps.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

LEFT_OUT = (
    "click-dialog-2",
    "click-option",
    "click-tab-2",
    "enter-password",
    "login-user",
    "navigate-tree",
)
"""Templates whose skill no template of the rows has."""

TODAY, OLD = "today", "old"
"""The arms that compare the teacher of the rows with that of older ones."""

HELD_OUT_SEEDS = 1_000
"""The first seed that is played; the rows have lower ones."""

RESAMPLES = 10_000

T = TypeVar("T")

Rates = Mapping[str, Sequence[float]]
"""The share of tasks solved, by template, one figure for each training."""


class Recorded(NamedTuple):
    """A published episode."""

    template: str
    seed: int
    accepted: bool
    learnt: int
    """Steps whose action the scorer can express."""
    wrong: int
    """Of these, mistakes that the policy made on purpose."""


class Estimate(NamedTuple):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


def refuse_leaks(recorded: Iterable[Recorded]) -> None:
    """Refuse rows of what is played.

    Raises:
        SystemExit: a row has a skill that is left out, or a seed that is held out.
    """
    for one in recorded:
        if one.template in LEFT_OUT:
            raise SystemExit(f"the rows have '{one.template}', a skill that the bench leaves out")
        if one.seed >= HELD_OUT_SEEDS:
            raise SystemExit(
                f"the rows have seed {one.seed} of '{one.template}'; "
                f"the bench plays seeds from {HELD_OUT_SEEDS}"
            )


def draw_arms(recorded: Mapping[str, Recorded], seed: int) -> dict[str, list[str]]:
    """Return the episodes of each arm, drawn by a seed: `verified`, `unverified` and `equal_steps`.

    The last has verified episodes that come to no more steps than the unverified ones.

    Raises:
        SystemExit: no episode was rejected, so there is nothing to compare.
    """
    by_template: dict[str, list[str]] = defaultdict(list)
    for key, one in sorted(recorded.items()):
        by_template[one.template].append(key)
    if all(one.accepted for one in recorded.values()):
        raise SystemExit("no episode was rejected: publish with publish.include_rejected = true")
    random = Random(seed)
    verified, drawn = [], []
    for keys in by_template.values():
        good = [key for key in keys if recorded[key].accepted]
        verified += good
        drawn += random.sample(keys, len(good))
    most = sum(recorded[key].learnt for key in drawn)
    fewer = cut(verified, most, lambda key: recorded[key].learnt, random)
    return {"verified": verified, "unverified": drawn, "equal_steps": fewer}


def draw_teachers(
    recorded: Mapping[str, Recorded], old: Mapping[str, Recorded], seed: int
) -> dict[str, list[str]]:
    """Return accepted episodes of both teachers' rows, cut to the same number of steps by a seed."""
    everything = {**recorded, **old}
    arms = {
        arm: [key for key, one in sorted(each.items()) if one.accepted]
        for arm, each in ((TODAY, recorded), (OLD, old))
    }
    return cut_alike(arms, lambda key: everything[key].learnt, seed)


def cut_alike(
    arms: Mapping[str, Sequence[T]], count: Callable[[T], int], seed: int
) -> dict[str, list[T]]:
    """Return of each arm what comes to no more steps than the arm with the fewest has, drawn by a seed."""
    least = min(sum(map(count, each)) for each in arms.values())
    return {arm: cut(each, least, count, Random(seed)) for arm, each in arms.items()}


def cut(episodes: Sequence[T], most: int, count: Callable[[T], int], random: Random) -> list[T]:
    """Return whole episodes, drawn at random, that come to at most so many steps."""
    rest = random.sample(episodes, len(episodes))
    total = sum(map(count, rest))
    while total > most:
        total -= count(rest.pop())
    return rest


def interval(rates: Rates) -> Estimate:
    """Return the mean over templates, with an interval by resampling templates and trainings."""
    grid = np.array([rates[template] for template in sorted(rates)])
    random = np.random.default_rng(0)
    templates = random.integers(len(grid), size=(RESAMPLES, len(grid), 1))
    trainings = random.integers(grid.shape[1], size=(RESAMPLES, 1, grid.shape[1]))
    means = grid[templates, trainings].mean(axis=(1, 2))
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(*(round(float(each), 4) for each in (grid.mean(), low, high)))


def subtract(one: Rates, other: Rates) -> Rates:
    """Return one arm's rates less another's, template by template and training by training."""
    return {
        template: [a - b for a, b in zip(one[template], other[template], strict=True)]
        for template in one
    }


def only(rates: Rates, *, left_out: bool) -> Rates:
    """Return the rates of the skills that were left out, or of the others."""
    return {name: found for name, found in rates.items() if (name in LEFT_OUT) is left_out}
