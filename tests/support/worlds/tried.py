"""The tasks of worlds that tests try: each kind in a few families, so that each family has several.

At the large size it is each kind in all families that have it, with more seeds.
"""

from itertools import islice

from effort import THOROUGH
from support.worlds import drawn

from generators.tasks.worlds.draw import kinds_of
from generators.tasks.worlds.kinds import KINDS
from generators.worlds.drawing.draw import FAMILIES
from schemas.tasks.task import Task

SEEDS = 3
"""The worlds of a family here."""

FIRST = 15
"""Where the first kind begins; from here each family has three kinds at least."""

IN_FAMILIES = (len(FAMILIES),) if THOROUGH else (1, 2)
"""Families in which a kind is tried, for one kind after the other."""


def families_of(kind: str) -> list[str]:
    """Return the families in which a kind is tried: those that follow where the kind before has ended."""
    number = sorted(KINDS).index(kind)
    counts = [IN_FAMILIES[one % len(IN_FAMILIES)] for one in range(number + 1)]
    first = (sum(counts[:-1]) + FIRST) % len(FAMILIES)
    having = (one for one in (*FAMILIES[first:], *FAMILIES[:first]) if kind in kinds_of(one))
    return list(islice(having, counts[-1]))


def tasks_of(family: str, kind: str) -> list[Task]:
    """Return the tasks of a kind that are tried in a family: of one seed, which the kind says, or of all."""
    one = (sorted(KINDS).index(kind) + 1) % SEEDS
    seeds = range(SEEDS) if THOROUGH else range(one, one + 1)
    return [task for seed in seeds if (task := drawn.task(family, kind, seed)) is not None]
