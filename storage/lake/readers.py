"""Reads records from the tables; every function blocks.

An episode is put together from its rows in five tables. `unit_id` narrows every read to the files
of one unit, by the statistics in the log, before any file is opened.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.dataset import Dataset

from schemas.episodes.episode import Episode
from schemas.errors import Damaged
from schemas.tables.tables import Row, episode_from_rows, from_row
from schemas.tasks.task import Task
from schemas.verdicts.review import Review
from schemas.verdicts.verdict import Verdict
from storage.objects.error_messages import read_error

_MAX_FILTER_UNITS = 100
"""The maximum of units in a filter, each of which is compared with every file."""

Datasets = Mapping[str, Dataset | None]
"""Tables by name; None for one that does not exist yet."""

R = TypeVar("R", Task, Verdict, Review)


@dataclass(frozen=True, slots=True)
class EpisodeRows:
    """The rows that episodes are put together from, all but their prompts."""

    heads: Sequence[Row]
    """Rows of `episodes`."""
    owned: Mapping[str, Mapping[str, Sequence[Row]]]
    """Rows of `steps`, `observations` and `calls`, by table and episode."""

    @property
    def prompts(self) -> frozenset[str]:
        """Hashes of the prompts that the rows refer to."""
        calls = (row for rows_ in self.owned["calls"].values() for row in rows_)
        return frozenset(row["prompt_sha256"] for row in (*self.heads, *calls)) - {None}


def read_parts(datasets: Datasets, *, unit_id: str, episode_id: str | None = None) -> EpisodeRows:
    """Return the rows of a unit's episodes, or of one of them.

    Raises:
        Damaged: they cannot be read.
    """
    where = pc.field("unit_id") == unit_id
    if episode_id is not None:
        where &= pc.field("episode_id") == episode_id
    return EpisodeRows(
        heads=rows(datasets["episodes"], where=where),
        owned={
            table: rows_by_episode(rows(datasets[table], where=where))
            for table in ("steps", "observations", "calls")
        },
    )


def rows_by_episode(rows_: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each episode, by its id."""
    by_episode: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows_:
        by_episode[row["episode_id"]].append(row)
    return by_episode


def read_prompts(prompts: Dataset | None, wanted: AbstractSet[str]) -> dict[str, Row]:
    """Return the rows of the prompts of these hashes that exist, one row per hash.

    Raises:
        Damaged: they cannot be read.
    """
    where = pc.field("prompt_sha256").isin(sorted(wanted))
    return {row["prompt_sha256"]: row for row in rows(prompts, where=where)} if wanted else {}


def read_episodes(parts: EpisodeRows, prompts: Mapping[str, Row]) -> list[Episode]:
    """Return the episodes of these rows, by task and attempt.

    Raises:
        Damaged: the rows of an episode do not fit together.
    """
    episodes: list[Episode] = []
    for head in parts.heads:
        own = {table: rows_.get(head["episode_id"], []) for table, rows_ in parts.owned.items()}
        episodes.append(build_episode(head, own, prompts))
    return sorted(episodes, key=lambda episode: (episode.task_id, episode.attempt))


def build_episode(
    head: Row, own: Mapping[str, Sequence[Row]], prompts: Mapping[str, Row]
) -> Episode:
    """Return the episode of a row of `episodes`; `own` are its rows in the other tables.

    Raises:
        Damaged: the rows do not fit together.
    """
    used = {row["prompt_sha256"] for row in (head, *own["calls"])}
    try:
        return episode_from_rows(
            head,
            own["steps"],
            observations=own["observations"],
            calls=own["calls"],
            prompts=[prompts[key] for key in sorted(used & prompts.keys())],
        )
    except ValueError as error:
        raise Damaged(
            f"episode {head['episode_id']}: its rows are not a valid episode: {error}"
        ) from error


def unit_of(episodes: Dataset | None, episode_id: str) -> str | None:
    """Return the unit an episode was committed with; None if it is not committed."""
    heads = rows(episodes, where=pc.field("episode_id") == episode_id, columns=["unit_id"])
    return heads[0]["unit_id"] if heads else None


def read_tasks(tasks: Dataset | None, task_ids: AbstractSet[str]) -> list[Task]:
    """Return the tasks of these ids that exist, by id.

    Raises:
        Damaged: the rows cannot be read or are not tasks.
    """
    where = pc.field("task_id").isin(sorted(task_ids))
    unique = {row["task_id"]: row for row in rows(tasks, where=where)}
    return [_record(Task, unique[key]) for key in sorted(unique)]


def read_verdicts(
    verdicts: Dataset | None, *, units: Collection[str] | None = None
) -> list[Verdict]:
    """Return every verdict, or every one of some units, all rounds.

    Raises:
        Damaged: the rows cannot be read or are not verdicts.
    """
    if units is None or verdicts is None:
        return [_record(Verdict, row) for row in rows(verdicts)]
    wanted = pa.array(sorted(units), pa.string())
    few = pc.field("unit_id").isin(wanted) if len(wanted) <= _MAX_FILTER_UNITS else None
    table = read_table(verdicts, where=few)
    of_units = table.filter(pc.is_in(table["unit_id"], value_set=wanted))
    return [_record(Verdict, row) for row in of_units.to_pylist()]


def read_reviews(reviews: Dataset | None) -> list[Review]:
    """Return every review, those too that were withdrawn.

    Raises:
        Damaged: the rows cannot be read or are not reviews.
    """
    return [_record(Review, row) for row in rows(reviews)]


def rows(
    dataset: Dataset | None,
    *,
    where: pc.Expression | None = None,
    columns: Sequence[str] | None = None,
) -> list[Row]:
    """Return the rows of a table that match `where`; none if there is no table.

    Raises:
        Damaged: a file of it cannot be read.
    """
    return [] if dataset is None else read_table(dataset, where=where, columns=columns).to_pylist()


def read_table(
    dataset: Dataset,
    *,
    where: pc.Expression | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Return the rows of a table that match `where`, as Arrow.

    Raises:
        Damaged: a file of it cannot be read.
    """
    try:
        # Without it the footers of ten thousand files stay in memory: a gigabyte and more.
        return dataset.to_table(
            columns=None if columns is None else list(columns), filter=where, cache_metadata=False
        )
    except (pa.ArrowException, OSError) as error:
        raise read_error(error, "a committed file cannot be read") from None


def _record(kind: type[R], row: Row) -> R:
    try:
        return from_row(kind, row)
    except ValueError as error:
        raise Damaged(f"a row is not a {kind.__name__}: {error}") from error
