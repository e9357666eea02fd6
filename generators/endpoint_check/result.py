"""The results of an endpoint check: one for each thing that a run needs."""

from collections.abc import Iterable
from enum import StrEnum

from schemas.base import Record


class Fitness(StrEnum):
    """Whether an endpoint has what a run needs."""

    FIT = "fit"
    """As a run needs it."""
    POOR = "poor"
    """A run works, but worse, dearer or with less on record; or it could not be measured."""
    UNFIT = "unfit"
    """A run would fail."""


class CheckResult(Record):
    """The result of one check."""

    name: str
    """The name of the check."""
    fitness: Fitness
    """Whether a run can use it."""
    found: str
    """The finding, for the user."""
    remedy: str = ""
    """The remedy for the user; empty: nothing is needed."""


def is_fit(results: Iterable[CheckResult]) -> bool:
    """Return whether no result is unfit."""
    return all(result.fitness is not Fitness.UNFIT for result in results)
