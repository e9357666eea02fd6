"""Records read back from the tables: the way out of the lake, blocking.

An episode is put together from its rows in five tables. `unit_id` narrows every read to the files
of one unit, by the statistics in the log, before any file is opened.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.dataset import Dataset

from schemas.episode import Episode
from schemas.errors import Damaged
from schemas.tables import Row, episode_from_rows, record
from schemas.task import Task
from schemas.verdict import Verdict

Datasets = Mapping[str, Dataset | None]
"""Tables by name; None where nobody wrote to one."""

R = TypeVar("R", Task, Verdict)

EPISODE_TABLES = ("episodes", "steps", "observations", "calls", "prompts")
"""The tables an episode's rows lie in; `episodes` is opened first."""


def read_episodes(
    datasets: Datasets, *, unit_id: str, episode_id: str | None = None
) -> list[Episode]:
    """Return a unit's episodes, or one of them, whole; by task and attempt.

    Raises:
        Damaged: the rows cannot be read or are no episodes.
    """
    where = pc.field("unit_id") == unit_id
    if episode_id is not None:
        where &= pc.field("episode_id") == episode_id
    heads = rows(datasets["episodes"], where=where)
    parts = {
        table: _by_episode(rows(datasets[table], where=where))
        for table in ("steps", "observations", "calls")
    }
    prompts = _prompts(datasets["prompts"], heads, parts["calls"])
    episodes = [_episode(head, parts, prompts) for head in heads]
    return sorted(episodes, key=lambda episode: (episode.task_id, episode.attempt))


def unit_of(episodes: Dataset | None, episode_id: str) -> str | None:
    """Return the unit an episode was committed with; None if it was not."""
    found = rows(episodes, where=pc.field("episode_id") == episode_id, columns=["unit_id"])
    return found[0]["unit_id"] if found else None


def read_tasks(tasks: Dataset | None, task_ids: Iterable[str]) -> list[Task]:
    """Return the tasks of these ids that there are, by id.

    Raises:
        Damaged: the rows cannot be read or are no tasks.
    """
    where = pc.field("task_id").isin(sorted(set(task_ids)))
    found = {row["task_id"]: row for row in rows(tasks, where=where)}
    return [_record(Task, found[key]) for key in sorted(found)]


def read_verdicts(verdicts: Dataset | None, *, unit_id: str | None = None) -> list[Verdict]:
    """Return every verdict, or every one of a unit, all rounds.

    Raises:
        Damaged: the rows cannot be read or are no verdicts.
    """
    where = None if unit_id is None else pc.field("unit_id") == unit_id
    return [_record(Verdict, row) for row in rows(verdicts, where=where)]


def rows(
    dataset: Dataset | None,
    *,
    where: pc.Expression | None = None,
    columns: Sequence[str] | None = None,
) -> list[Row]:
    """Return the rows of a table that are as asked; none where there is no table.

    Raises:
        Damaged: a file of it cannot be read.
    """
    return [] if dataset is None else read(dataset, where=where, columns=columns).to_pylist()


def read(
    dataset: Dataset,
    *,
    where: pc.Expression | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Return the rows of a table that are as asked, as Arrow.

    Raises:
        Damaged: a file of it cannot be read.
    """
    try:
        return dataset.to_table(columns=None if columns is None else list(columns), filter=where)
    except (pa.ArrowException, OSError) as error:
        raise Damaged(f"a committed file cannot be read: {error}") from error


def _by_episode(found: Iterable[Row]) -> Mapping[str, list[Row]]:
    out: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        out[row["episode_id"]].append(row)
    return out


def _prompts(
    prompts: Dataset | None, heads: Sequence[Row], calls: Mapping[str, Sequence[Row]]
) -> Mapping[str, Row]:
    """Return the prompts that these rows refer to; of several of one hash, one."""
    used = {row["prompt_sha256"] for row in [*heads, *(row for of in calls.values() for row in of)]}
    used.discard(None)
    if not used:
        return {}
    found = rows(prompts, where=pc.field("prompt_sha256").isin(sorted(used)))
    return {row["prompt_sha256"]: row for row in found}


def _episode(
    head: Row, parts: Mapping[str, Mapping[str, list[Row]]], prompts: Mapping[str, Row]
) -> Episode:
    own = {table: found.get(head["episode_id"], []) for table, found in parts.items()}
    used = {row["prompt_sha256"] for row in [head, *own["calls"]]}
    try:
        return episode_from_rows(
            head,
            own["steps"],
            observations=own["observations"],
            calls=own["calls"],
            prompts=[prompts[key] for key in sorted(used & prompts.keys())],
        )
    except ValueError as error:
        raise Damaged(f"episode {head['episode_id']}: its rows are no episode: {error}") from error


def _record(kind: type[R], row: Row) -> R:
    try:
        return record(kind, row)
    except ValueError as error:
        raise Damaged(f"a row is no {kind.__name__}: {error}") from error
