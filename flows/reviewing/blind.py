"""Two reviewers who do not see each other's reviews: what one of them may be shown.

A reviewer sees what others say of an episode only once they have said a word of their own on it that stands. What they
then change, they change knowing; the first review of each stays in the table, whatever follows.
"""

from collections.abc import Mapping, Sequence

from flows.reviewing.queue import has_spoken
from schemas.verdicts.review import Review


def visible_to(reviewer: str, standing: Mapping[str, Sequence[Review]]) -> dict[str, list[Review]]:
    """Return the reviews that `reviewer` may see by episode, of those that count."""
    out: dict[str, list[Review]] = {}
    for episode_id, reviews in standing.items():
        spoken = has_spoken(reviewer, reviews)
        seen = [one for one in reviews if spoken or one.reviewer == reviewer]
        if seen:
            out[episode_id] = seen
    return out
