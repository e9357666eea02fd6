"""The tasks of worlds that tests try: each kind in a few families, so that each family has several.

At the large size it is each kind in all families that have it, with more seeds.
"""

from collections import Counter
from functools import cache

from effort import THOROUGH
from support.worlds import drawn

from generators.tasks.worlds.draw import kinds_of
from generators.tasks.worlds.kinds import KINDS
from generators.worlds.drawing.draw import FAMILIES
from schemas.tasks.task import Task

SEEDS = 3
"""The worlds of a family here."""

IN_FAMILIES = (len(FAMILIES),) if THOROUGH else (1, 2)
"""Families in which a kind is tried, for one kind after the other."""


@cache
def _tried() -> dict[str, list[str]]:
    """Return the families in which each kind is tried: of those that have it, the ones tried least so far."""
    counts, tried = Counter[str](), dict[str, list[str]]()
    for number, kind in enumerate(sorted(KINDS)):
        having = sorted((one for one in FAMILIES if kind in kinds_of(one)), key=counts.__getitem__)
        tried[kind] = having[: IN_FAMILIES[number % len(IN_FAMILIES)]]
        counts.update(tried[kind])
    return tried


def families_of(kind: str) -> list[str]:
    """Return the families in which a kind is tried."""
    return _tried()[kind]


def tasks_of(family: str, kind: str) -> list[Task]:
    """Return the tasks of a kind that are tried in a family: of one seed, which the kind says, or of all."""
    one = (sorted(KINDS).index(kind) + 1) % SEEDS
    seeds = range(SEEDS) if THOROUGH else range(one, one + 1)
    return [task for seed in seeds if (task := drawn.task(family, kind, seed)) is not None]
