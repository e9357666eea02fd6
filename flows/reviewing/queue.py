"""Which episode a reviewer looks at next: those first from which most is learnt, or a fair sample.

The functions are pure, and the order of equals is drawn from a seed, so that two reviewers who name the same seed see
the same order, and a run that grows does not shuffle what was there.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from schemas.base import content_hash
from schemas.configuration.sections import AcceptSection
from schemas.verdicts.acceptance import latest_verdicts
from schemas.verdicts.review import Decision, Review, decisions
from schemas.verdicts.verdict import Status, Verdict

_OF_THE_RECORD = frozenset({"structure", "steps", "faults", "novelty"})
"""Verifiers that say something of the record, and nothing of whether the task was done."""

_MIDDLE = 0.5
"""The threshold of a score for which the rule has none."""


class QueueOrder(StrEnum):
    """By what episodes are ordered for review."""

    DISAGREEMENT = "disagreement"
    """Those first on which the most pairs of verdicts and reviews disagree."""
    CONFIDENCE = "confidence"
    """Those first of which a score is nearest to its threshold; those without a score last."""
    RANDOM = "random"
    """A random sample, by the seed."""


def review_queue(
    verdicts: Mapping[str, Sequence[Verdict]],
    order: QueueOrder,
    *,
    rule: AcceptSection,
    standing: Mapping[str, Sequence[Review]],
    reviewer: str | None = None,
    seed: int = 0,
) -> list[str]:
    """Return the episodes of `verdicts` in the order in which they are to be reviewed.

    `verdicts` has every verdict of each episode that may be reviewed, none where it has none, and `standing` the
    reviews that count. Episodes on which `reviewer` has said a word are left out; None: none is. With a blind reviewer
    `standing` must hold what they may see alone (`flows.reviewing.blind`), or its order tells them of the others.
    """

    def rank(episode_id: str) -> tuple[float, str]:
        drawn = content_hash(["review", seed, episode_id])
        latest = latest_verdicts(verdicts[episode_id])
        match order:
            case QueueOrder.DISAGREEMENT:
                return -disagreements(latest, standing.get(episode_id, ())), drawn
            case QueueOrder.CONFIDENCE:
                return _distance(latest, rule), drawn
            case QueueOrder.RANDOM:
                return 0.0, drawn

    left = [
        id_
        for id_ in verdicts
        if reviewer is None or not has_spoken(reviewer, standing.get(id_, ()))
    ]
    return sorted(left, key=rank)


def has_spoken(reviewer: str, reviews: Sequence[Review]) -> bool:
    """Return whether a reviewer has said a word on an episode, given the reviews of it that stand."""
    return any(one.reviewer == reviewer and one.decision is not Decision.MARK for one in reviews)


def disagreements(latest: Mapping[str, Verdict], reviews: Sequence[Review]) -> int:
    """Return on how many pairs of an episode's verdicts and reviews one says good and the other bad."""
    said = [
        verdict.status is Status.PASSED
        for name, verdict in latest.items()
        if name not in _OF_THE_RECORD and verdict.status in (Status.PASSED, Status.FAILED)
    ]
    said += [one.decision is Decision.ACCEPT for one in decisions(reviews)]
    return said.count(True) * said.count(False)


def _distance(latest: Mapping[str, Verdict], rule: AcceptSection) -> float:
    """Return how far the nearest score is from its threshold; infinity without a score."""
    distances = (
        abs(verdict.score - rule.min_scores.get(name, _MIDDLE))
        for name, verdict in latest.items()
        if verdict.score is not None and name not in _OF_THE_RECORD
    )
    return min(distances, default=float("inf"))
