"""The reviews of a place: those that a reviewer may see, and where new ones go.

A run takes its reviews itself. A dataset is not changed, and some runs may only be read: their reviews go to a file of
the user's, which `stepmill review RUN --import FILE` puts into the run.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored_run
from flows.reviewing.blind import visible_to
from flows.reviewing.review_file import read_review_file, review_lines
from flows.viewing.shown import Shown
from generators.data_folder import data_folder
from schemas.errors import Unwritable
from schemas.verdicts.review import Review, identify, standing_reviews
from storage.lake.reviews import add_reviews, read_reviews


def review_file(run_id: str, environ: Mapping[str, str]) -> Path:
    """Return the file of the reviews of a run's published episodes."""
    return data_folder(environ).parent / "reviews" / f"{run_id}.jsonl"


async def all_reviews(place: Shown) -> list[Review]:
    """Return every review of a place, undone ones too, by time.

    Raises:
        Damaged: they cannot be read.
        BadReview: the file holds what is no review.
    """
    opened = place.lookup.opened
    path = review_file(opened.run_id, os.environ)
    found = await asyncio.to_thread(read_review_file, path) if path.exists() else []
    if opened.is_run:
        stored = await open_stored_run(place.address, Sources(), os.environ)
        try:
            found += await read_reviews(stored.lake)
        finally:
            await stored.lake.close()
    unique = {one.review_id: one for one in map(identify, found)}
    return sorted(unique.values(), key=lambda one: one.at)


async def visible_reviews(place: Shown, reviewer: str) -> dict[str, list[Review]]:
    """Return the reviews that count by episode, but of others only where `reviewer` has said a word.

    Raises:
        Damaged, BadReview: as `all_reviews`.
    """
    return visible_to(reviewer, standing_reviews(await all_reviews(place)))


async def save_reviews(place: Shown, reviews: Sequence[Review]) -> None:
    """Give reviews to the place, or to its file where it may only be read.

    Raises:
        NotFound: the episode is not there.
        BadReview: it was withdrawn, has no such step, or the review undoes another one's.
        Unwritable: neither can be written.
    """
    opened = place.lookup.opened
    if opened.is_run:
        stored = await open_stored_run(place.address, Sources(), os.environ)
        try:
            await add_reviews(stored.lake, list(reviews))
        except Unwritable:
            await asyncio.to_thread(_append, review_file(opened.run_id, os.environ), reviews)
        finally:
            await stored.lake.close()
        place.look_again()
        return
    await asyncio.to_thread(_append, review_file(opened.run_id, os.environ), reviews)


def _append(path: Path, reviews: Sequence[Review]) -> None:
    """Add reviews to a file; each is on the disk when this returns."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in review_lines(reviews))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise Unwritable(f"{path}: {error.strerror or error}: the review was not kept") from None
