"""What a check of an endpoint says: a line for each thing that a run needs of it."""

from collections.abc import Iterable
from enum import StrEnum

from schemas.base import Record


class Fitness(StrEnum):
    """How it stands with one thing."""

    FIT = "fit"
    """As a run needs it."""
    POOR = "poor"
    """A run works, but worse, dearer or with less on record; or it could not be measured."""
    UNFIT = "unfit"
    """A run would fail."""


class Line(Record):
    """One thing that was looked at."""

    name: str
    """What."""
    fitness: Fitness
    """How it stands."""
    found: str
    """What was found."""
    remedy: str = ""
    """What to do; empty where nothing need be done."""


def fit(lines: Iterable[Line]) -> bool:
    """Say whether nothing is unfit."""
    return all(line.fitness is not Fitness.UNFIT for line in lines)
