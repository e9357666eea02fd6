"""The reviews of a run: the table `reviews`, which people add to while a run is made, and long after.

Each review is an application transaction of its own, named by its id. So a review is in the table once, however
often it is given, by whomever, and whatever was killed between: a batch that was half committed goes on where it
stopped. A batch is checked as a whole before the first of it is written.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from pyarrow.dataset import Dataset

from schemas.errors import BadReview, NotFound
from schemas.tables.tables import to_row
from schemas.verdicts.review import Review, identify, is_own, review_id
from storage.lake import readers
from storage.lake.lake import Lake

_AT_ONCE = 100
"""Reviews in a commit, of each of which the log is asked."""


class ReviewTables(Protocol):
    """Where reviews are read: a lake as it is now, or a snapshot of it."""

    async def dataset(self, table: str) -> Dataset | None:
        """Return a table; None if it does not exist yet."""
        ...


async def read_reviews(tables: ReviewTables) -> list[Review]:
    """Return every review with its id, in the order in which they were given, withdrawn ones too.

    `schemas.verdicts.review.standing_reviews` returns those that count.

    Raises:
        Damaged: they cannot be read.
    """
    dataset = await tables.dataset("reviews")
    found = await asyncio.to_thread(readers.read_reviews, dataset)
    return sorted(map(identify, found), key=lambda one: (one.at, one.review_id))


async def add_reviews(lake: Lake, reviews: Sequence[Review]) -> int:
    """Add reviews to a run, and return how many were new; nothing is written unless all may be added.

    Raises:
        NotFound: the run has no such committed episode.
        BadReview: a review is of a withdrawn episode or of a step that the episode lacks, or withdraws what is no
            earlier review of the same reviewer and episode.
        Conflict: other writers kept committing first.
        Unwritable: the run cannot be written.
        Damaged: the run's tables cannot be read.
    """
    new = {review_id(one): identify(one) for one in reviews}
    if not new:
        return 0
    episodes = {one.episode_id for one in new.values()}
    n_steps = await lake.n_steps(episodes)
    withdrawn = await lake.withdrawn()
    for one in new.values():
        _check(one, n_steps, withdrawn)
    if any(one.undoes is not None for one in new.values()):
        stored = {review_id(one): one for one in await read_reviews(lake)}
        for one in new.values():
            _check_undoes(one, stored | new)
    added = 0
    ordered = sorted(new.items(), key=lambda entry: (entry[1].at, entry[0]))
    for start in range(0, len(ordered), _AT_ONCE):
        batch = dict(ordered[start : start + _AT_ONCE])
        rows = [to_row(one) for one in batch.values()]
        added += len(await lake.commit_rows("reviews", list(batch), rows))
    return added


def _check(review: Review, n_steps: Mapping[str, int], withdrawn: Collection[str]) -> None:
    """Refuse a review of an episode that the run does not have, or has no more."""
    episode = review.episode_id
    if episode in withdrawn:
        raise BadReview(
            f"review of {episode}: the episode was withdrawn from the run; nothing was added"
        )
    if episode not in n_steps:
        raise NotFound(
            f"review of {episode}: the run has no such episode; it is another run's, or its unit is not "
            "committed yet. Nothing was added"
        )
    if review.step is not None and review.step > n_steps[episode]:
        raise BadReview(
            f"review of {episode}: expected a step from 0 to {n_steps[episode]}, got {review.step}; "
            "nothing was added"
        )


def _check_undoes(review: Review, known: Mapping[str, Review]) -> None:
    """Refuse the withdrawal of what is no earlier review of the same reviewer and episode."""
    if review.undoes is None:
        return
    other = known.get(review.undoes)
    if other is None:
        problem = "there is no such review"
    elif other.reviewer != review.reviewer:
        problem = "it is somebody else's"
    elif not is_own(other, review):
        problem = "it is of another episode, or was not given before"
    else:
        return
    raise BadReview(
        f"review of {review.episode_id}: cannot withdraw {review.undoes}: {problem}; nothing was added"
    )
