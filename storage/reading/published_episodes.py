"""Whole episodes of a published dataset, put together from the rows of its configs.

All configs have their episodes in one order, so each is read once, from front to back: a row group of it is in memory
at a time. An episode that failed early has no rows in some of them.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from schemas.episodes.episode import StopReason
from schemas.errors import Damaged
from schemas.tables.tables import Row, from_row
from schemas.tasks.task import Task
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.step_label import StepLabel
from schemas.verdicts.verdict import Acceptance
from storage.lake.readers import build_episode
from storage.publish.plan.episode_reader import check_episode

ReadConfig = Callable[[str], Iterator[ds.ParquetFileFragment]]
"""Returns the files of a config, in the order of their rows."""

_OWNED = ("steps", "observations", "calls")


def read_episodes(
    read: ReadConfig, *, accepted: bool | None, ids: Collection[str] | None
) -> Iterator[FullEpisode]:
    """Yield the episodes of the files that `read` opens; see `Rows.episodes`.

    Raises:
        Damaged: rows of one are missing, or differ from the record.
    """
    heads = _choose(_whole(read("trajectories")), accepted=accepted, ids=ids)
    if heads is None:
        return
    chosen = heads["episode_id"].combine_chunks()
    owned = {config: _Owned(_rows_of(read(config), chosen)) for config in _OWNED}
    prompts = {row["prompt_sha256"]: row for row in _dicts(_whole(read("prompts")))}
    tasks = _Tasks(_whole(read("tasks")))
    for head in _dicts(heads):
        rows = {config: one.take(head["episode_id"]) for config, one in owned.items()}
        yield _full(head, rows, tasks.of(head), prompts)


def _full(
    head: Row, rows: Mapping[str, Sequence[Row]], task: Task, prompts: Mapping[str, Row]
) -> FullEpisode:
    episode = build_episode(head, rows, prompts)
    check_episode(episode, whole=episode.stop_reason is not StopReason.FAILED)
    steps = sorted(rows["steps"], key=lambda row: int(row["step"]))
    labels = tuple(from_row(StepLabel, row) for row in steps[: episode.n_steps])
    judged = any(one != StepLabel() for one in labels)
    return FullEpisode(episode, task, from_row(Acceptance, head), labels if judged else None)


def _choose(
    heads: pa.Table | None, *, accepted: bool | None, ids: Collection[str] | None
) -> pa.Table | None:
    """Return the rows of the episodes that are wanted; None if there is none."""
    if heads is not None and accepted is not None:
        heads = heads.filter(pc.equal(heads["accepted"], pa.scalar(accepted)))
    if heads is not None and ids is not None:
        listed = pa.array(sorted(ids), pa.string())
        heads = heads.filter(pc.is_in(heads["episode_id"], value_set=listed))
    return heads if heads is not None and heads.num_rows else None


def _whole(files: Iterator[ds.ParquetFileFragment]) -> pa.Table | None:
    """Return all rows of files; None without any."""
    tables = [file.to_table() for file in files]
    return pa.concat_tables(tables, promote_options="default") if tables else None


def _dicts(table: pa.Table | None) -> Iterator[Row]:
    for batch in () if table is None else table.to_batches(max_chunksize=256):
        yield from batch.to_pylist()


def _rows_of(files: Iterator[ds.ParquetFileFragment], ids: "pa.Array[Any]") -> Iterator[Row]:
    """Yield the rows of episodes, a row group of them in memory; groups without any are not read."""
    for file in files:
        for group in file.split_by_row_group():
            mask = pc.is_in(group.to_table(columns=["episode_id"])["episode_id"], value_set=ids)
            if pc.any(mask).as_py():
                yield from _dicts(group.to_table().filter(mask))


class _Owned:
    """The rows of a config, those of an episode together."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._groups = groupby(rows, key=lambda row: str(row["episode_id"]))
        self._next: tuple[str, list[Row]] | None = None
        self._advance()

    def take(self, episode_id: str) -> list[Row]:
        """Return the rows of the next episode; none if it has none here."""
        if self._next is None or self._next[0] != episode_id:
            return []
        rows = self._next[1]
        self._advance()
        return rows

    def _advance(self) -> None:
        found = next(self._groups, None)
        self._next = None if found is None else (found[0], list(found[1]))


class _Tasks:
    """The tasks of a dataset, as rows of Arrow until one is asked for."""

    def __init__(self, rows: pa.Table | None) -> None:
        self._rows = rows
        ids = [] if rows is None else rows["task_id"].to_pylist()
        self._places = {id_: place for place, id_ in enumerate(ids)}

    def of(self, head: Row) -> Task:
        """Return the task of an episode.

        Raises:
            Damaged: it has no row.
        """
        place = self._places.get(head["task_id"])
        if self._rows is None or place is None:
            raise Damaged(f"episode {head['episode_id']}: its task {head['task_id']} has no row")
        return from_row(Task, self._rows.slice(place, 1).to_pylist()[0])
