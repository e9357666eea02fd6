"""The reviews of an existing run: counted, taken from a file, written to one."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO

from flows.job.config_loader import Sources, load
from flows.job.judging import by_episode
from flows.job.publish_job import holds_dataset
from flows.job.stored_run import StoredRun, open_stored_run
from flows.reviewing.label_studio import LABEL_CONFIG, label_task, read_label_studio
from flows.reviewing.queue import QueueOrder, review_queue
from flows.reviewing.review_file import read_review_file, review_lines
from schemas.base import Record
from schemas.errors import BadReview, Unwritable
from schemas.verdicts.acceptance import JudgedEpisode, accept_all
from schemas.verdicts.agreement import agreements
from schemas.verdicts.review import Review, ReviewResult, review_result, standing_reviews
from schemas.verdicts.verdict import Verdict
from storage.lake import readers
from storage.lake.reviews import add_reviews, read_reviews


class ReviewFormat(StrEnum):
    """The formats of files of reviews."""

    JSONL = "jsonl"
    """A review a line."""
    LABEL_STUDIO = "label-studio"
    """Label Studio's tasks."""


class Imported(Record):
    """The result of adding a file's reviews to a run."""

    run: str
    """The run's URL."""
    read: int
    """Reviews in the file."""
    added: int
    """The number of these that were new."""


class Exported(Record):
    """The result of writing a run's reviews to a file."""

    run: str
    """The run's URL."""
    files: tuple[str, ...]
    """The files written: the reviews or tasks, and Label Studio's configuration."""
    episodes: int
    """Episodes in the file; of a file of reviews, those reviewed."""
    reviews: int
    """Reviews in the file."""


class AgreementCount(Record):
    """How far two reviewers agree."""

    first: str
    """One."""
    second: str
    """The other."""
    episodes: int
    """Episodes that both decided."""
    agreed: int
    """The number of these on which both say the same."""
    kappa: float | None
    """Cohen's kappa; None where it is undefined."""


class ReviewCounts(Record):
    """What people say of a run's episodes."""

    run: str
    """The run's URL."""
    reviews: int
    """Every review that was given."""
    episodes: int
    """Episodes of which a review stands that is more than a mark."""
    results: dict[str, int]
    """The number of these by what their reviewers say together."""
    reviewers: dict[str, int]
    """The number of standing reviews of each reviewer."""
    agreement: tuple[AgreementCount, ...]
    """Of each two reviewers that decided episodes in common."""


@asynccontextmanager
async def _open(url: str, sources: Sources) -> AsyncIterator[StoredRun]:
    """Open a run.

    Raises:
        BadReview: a published dataset is there.
    """
    if await holds_dataset(url, load(sources, os.environ)):
        raise BadReview(
            f"{url}: is a published dataset, and reviews are kept by the run it was made from: "
            "`stepmill review RUN --import FILE`, then `stepmill publish RUN --to DEST`"
        )
    stored = await open_stored_run(url, sources, os.environ)
    try:
        yield stored
    finally:
        await stored.lake.close()


async def import_reviews(
    url: str, path: Path, sources: Sources, format_: ReviewFormat = ReviewFormat.JSONL
) -> Imported:
    """Add the reviews of a file to a run, which may be under way.

    Raises:
        BadReview: the file holds something else, or a review that the run cannot have; nothing was added.
        NotFound: there is no such run, or no such episode in it; nothing was added.
        Unwritable, Conflict, Damaged: as `storage.lake.reviews.add_reviews`.
    """
    async with _open(url, sources) as stored:
        read = read_label_studio if format_ is ReviewFormat.LABEL_STUDIO else read_review_file
        reviews = await asyncio.to_thread(read, path)
        added = await add_reviews(stored.lake, reviews)
    return Imported(run=url, read=len(reviews), added=added)


async def export_reviews(
    url: str, path: Path, sources: Sources, format_: ReviewFormat = ReviewFormat.JSONL
) -> Exported:
    """Write the reviews of a run to a file, withdrawn ones too, or its episodes as tasks of Label Studio.

    Raises:
        NotFound: there is no such run.
        Unwritable: the file cannot be written.
        Damaged: the run cannot be read.
    """
    async with _open(url, sources) as stored:
        if format_ is ReviewFormat.LABEL_STUDIO:
            return await _export_tasks(stored, url, path)
        reviews = await read_reviews(stored.lake)
    with _new_file(path) as file:
        file.writelines(f"{line}\n" for line in review_lines(reviews))
    episodes = {one.episode_id for one in reviews}
    return Exported(run=url, files=(str(path),), episodes=len(episodes), reviews=len(reviews))


async def count_reviews(url: str, sources: Sources) -> ReviewCounts:
    """Return what people say of a run's episodes, as it is now.

    Raises:
        NotFound: there is no such run.
        Damaged: the run cannot be read.
    """
    async with _open(url, sources) as stored:
        reviews = await read_reviews(stored.lake)
        withdrawn = await stored.lake.withdrawn()
    standing = {
        id_: found for id_, found in standing_reviews(reviews).items() if id_ not in withdrawn
    }
    said = [review_result(found) for found in standing.values()]
    names = [one.reviewer for found in standing.values() for one in found]
    return ReviewCounts(
        run=url,
        reviews=len(reviews),
        episodes=len(said) - said.count(None),
        results={one.value: said.count(one) for one in ReviewResult},
        reviewers={name: names.count(name) for name in sorted({*names})},
        agreement=tuple(
            AgreementCount(
                first=one.reviewers[0],
                second=one.reviewers[1],
                episodes=one.episodes,
                agreed=one.agreed,
                kappa=one.kappa,
            )
            for one in agreements(standing)
        ),
    )


async def _export_tasks(stored: StoredRun, url: str, path: Path) -> Exported:
    """Write every episode that was not withdrawn as a task, those first on which verdicts disagree."""
    lake = stored.lake
    units = {id_: unit for unit, ids in (await lake.committed_episodes()).items() for id_ in ids}
    withdrawn = await lake.withdrawn()
    verdicts = await asyncio.to_thread(readers.read_verdicts, await lake.dataset("verdicts"))
    given = by_episode(verdicts)
    known: Mapping[str, Sequence[Verdict]] = {
        id_: given.get(id_, ()) for id_ in units if id_ not in withdrawn
    }
    standing = standing_reviews(await read_reviews(lake))
    rule = stored.config.accept
    order = review_queue(known, QueueOrder.DISAGREEMENT, rule=rule, standing=standing)
    judged = accept_all(
        rule, (JudgedEpisode(id_, id_, tuple(found)) for id_, found in known.items()), standing
    )
    numbers = _numbers(standing)
    written = 0
    with _new_file(path) as file:
        for place, id_ in enumerate(order):
            task, episode = await lake.episode_of(units[id_], id_)
            reviews = standing.get(id_, [])
            made = label_task(task, episode, reviews, status=judged[id_].status, numbers=numbers)
            file.write(f"{',' if place else '['}\n{json.dumps(made)}")
            written += len(reviews)
        file.write("\n]\n" if order else "[]\n")
    beside = path.with_name(f"{path.name}.xml")
    with _new_file(beside) as file:
        file.write(LABEL_CONFIG)
    return Exported(run=url, files=(str(path), str(beside)), episodes=len(order), reviews=written)


def _numbers(standing: Mapping[str, Sequence[Review]]) -> dict[str, int]:
    """Return a number for each reviewer, from 1, by name."""
    names = {one.reviewer for found in standing.values() for one in found}
    return {name: number for number, name in enumerate(sorted(names), 1)}


@contextmanager
def _new_file(path: Path) -> Iterator[IO[str]]:
    """Yield a file that stands at `path` once all of it is written.

    Raises:
        Unwritable: it cannot be written.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("w", encoding="utf-8") as file:
            yield file
        new.replace(path)
    except OSError as error:
        raise Unwritable(f"{path}: cannot be written: {error.strerror}") from None
