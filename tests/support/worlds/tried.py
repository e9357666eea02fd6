"""The tasks of worlds that tests try: each kind in a few families, so that each family has several.

At the large size it is each kind in all families that have it, with more seeds.
"""

from effort import THOROUGH
from support.worlds import drawn

from generators.tasks.worlds.draw import KINDS, kinds_of
from generators.worlds.draw import FAMILIES
from schemas.task import Task

SEEDS = 3
"""The worlds of a family here."""

IN_FAMILIES = len(FAMILIES) if THOROUGH else 2
"""Families in which a kind is tried."""

STEP = 5
"""How far apart the first families of two kinds are, so that the kinds spread over all families."""


def families_of(kind: str) -> list[str]:
    """Return the families in which a kind is tried."""
    having = [family for family in FAMILIES if kind in kinds_of(family)]
    first = STEP * sorted(KINDS).index(kind) % len(having)
    return [*having[first:], *having[:first]][:: max(1, len(having) // IN_FAMILIES)][:IN_FAMILIES]


def tasks_of(family: str, kind: str) -> list[Task]:
    """Return the tasks of a kind that are tried in a family: of one seed, which the kind says, or of all."""
    one = (sorted(KINDS).index(kind) + 1) % SEEDS
    seeds = range(SEEDS) if THOROUGH else range(one, one + 1)
    return [task for seed in seeds if (task := drawn.task(family, kind, seed)) is not None]
