"""How far two reviewers agree, beyond what chance alone would give: Cohen's kappa.

The formula is Cohen's, J. (1960), "A coefficient of agreement for nominal scales", Educational and Psychological
Measurement 20(1), 37-46: (p_o - p_e) / (1 - p_e), where p_o is the share of episodes on which both say the same, and
p_e the share that two people with the same habits would reach by chance. It is taken over the episodes that both
decided, accept or reject; who is unsure has not decided.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from schemas.verdicts.review import Decision, Review, decisions


class Agreement(NamedTuple):
    """How far two reviewers agree."""

    reviewers: tuple[str, str]
    """Their names, in order."""
    episodes: int
    """Episodes that both decided, one at least."""
    agreed: int
    """The number of these on which both say the same."""
    kappa: float | None
    """Cohen's kappa, -1 to 1; None where it is undefined: both say one and the same of every episode."""


def cohen_kappa(pairs: Iterable[tuple[Decision, Decision]]) -> float | None:
    """Return Cohen's kappa of what two reviewers said of each episode that both decided.

    None where it is undefined: without an episode, and where both say one and the same of all, so that chance alone
    would have them agree.
    """
    said = list(pairs)
    total = len(said)
    if not total:
        return None
    observed = sum(one is other for one, other in said) / total
    expected = sum(
        sum(one is decision for one, _ in said) * sum(other is decision for _, other in said)
        for decision in Decision
    ) / (total * total)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def agreements(standing: Mapping[str, Sequence[Review]]) -> list[Agreement]:
    """Return how far each two reviewers agree that decided an episode in common, those with the most first.

    `standing` are the reviews that count, by episode.
    """
    said: dict[tuple[str, str], list[tuple[Decision, Decision]]] = {}
    for reviews in standing.values():
        own = sorted((one.reviewer, one.decision) for one in decisions(reviews))
        for (one, first), (other, second) in combinations(own, 2):
            said.setdefault((one, other), []).append((first, second))
    found = [
        Agreement(names, len(pairs), sum(one is other for one, other in pairs), cohen_kappa(pairs))
        for names, pairs in said.items()
    ]
    return sorted(found, key=lambda one: (-one.episodes, one.reviewers))
