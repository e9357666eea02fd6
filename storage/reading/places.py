"""Where the rows of each episode lie, so that one of a hundred thousand is read without looking through the others.

A shard that one unit wrote is known by its name. Of any other file, merged or published, the column of ids is read
once, row group by row group. Places are kept as a table of Arrow, and read from there afterwards.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from schemas.errors import Damaged, NotFound
from schemas.tables.tables import Row, from_row
from schemas.tasks.task import Task
from schemas.verdicts.acceptance import latest_verdicts
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.step_label import StepLabel, step_labels
from schemas.verdicts.verdict import Acceptance, Verdict
from storage.lake.readers import build_episode
from storage.lake.shard_upload import COMPACT, ShardName
from storage.reading.opened import Opened
from storage.reading.row_files import RowFile, read_errors

KEYS = {
    "episodes": "episode_id",
    "tasks": "task_id",
    "prompts": "prompt_sha256",
    "steps": "episode_id",
    "observations": "episode_id",
    "calls": "episode_id",
    "verdicts": "episode_id",
    "attempts": "episode_id",
}
"""The tables whose rows are looked up, and the column that says whose they are."""

_COLUMNS: Mapping[str, pa.DataType] = {
    "key": pa.string(),
    "table": pa.string(),
    "file": pa.int32(),
    "group": pa.int32(),
}

PLACES = pa.schema(_COLUMNS)
"""The columns of places. `key`: an episode, a task, a prompt or a unit; `file`: its number among those of the table; `group`: the
row group; -1: any of the file's."""

_OWNED = ("steps", "observations", "calls")


JUDGING = ("verdicts",)
"""The tables of `KEYS` that grow while episodes are judged."""


def places_of(opened: Opened, *, judging: bool) -> Iterator[pa.RecordBatch]:
    """Yield the places of all rows file by file, of the tables that are judged by or of all others; this blocks.

    Raises:
        Damaged: a file cannot be read.
    """
    for table, key in KEYS.items():
        if (table in JUDGING) != judging:
            continue
        for number, file in enumerate(opened.files.get(table, ())):
            unit = _unit_of(file) if opened.is_run else None
            if unit is not None:
                found = [(unit, -1)]
            else:
                with read_errors(opened.address):
                    found = [*_keys(file, key)]
            yield pa.RecordBatch.from_pylist(
                [
                    {"key": one, "table": table, "file": number, "group": group}
                    for one, group in found
                ],
                schema=PLACES,
            )


def _unit_of(file: RowFile) -> str | None:
    """Return the unit that wrote a shard alone; None for one that was merged, and of other names."""
    path = file.identity.rpartition("/")[2]
    name = ShardName.parse(path)
    return None if name.number is None or name.unit_id == COMPACT else name.unit_id


def _keys(file: RowFile, key: str) -> Iterator[tuple[str, int]]:
    """Yield the ids in a file with the row group that has them."""
    fragment = file.fragment
    if not isinstance(fragment, ds.ParquetFileFragment):
        raise TypeError("expected a Parquet file")
    for number, group in enumerate(fragment.split_by_row_group()):
        for one in group.to_table(columns=[key])[key].unique().to_pylist():
            yield str(one), number


class Places:
    """The places of an opened run or dataset, and what lies there."""

    def __init__(self, opened: Opened, places: pa.Table) -> None:
        self._opened = opened
        self._places = places

    @cached_property
    def _by_key(self) -> Mapping[str, tuple[int, int]]:
        """Return the first and the last row of each key, of the places sorted by it."""
        self._places = self._places.sort_by([("key", "ascending")])
        numbered = self._places.append_column("at", pa.array(range(self._places.num_rows)))
        spans = numbered.group_by("key").aggregate([("at", "min"), ("at", "max")])
        ends = zip(spans["at_min"].to_pylist(), spans["at_max"].to_pylist(), strict=True)
        return {
            str(key): (int(first or 0), int(last or 0) + 1)
            for key, (first, last) in zip(spans["key"].to_pylist(), ends, strict=True)
        }

    def rows(
        self,
        table: str,
        key: str,
        unit: str | None,
        columns: Sequence[str] | None = None,
        where: pc.Expression | None = None,
    ) -> list[Row]:
        """Return the rows of a table that belong to an episode, a task or a prompt; `unit` wrote them, if a run's did.

        `columns` are those to read, None: all; `where` narrows the rows further.

        Raises:
            Damaged: a file cannot be read.
        """
        condition = pc.field(KEYS[table]) == key
        condition = condition if where is None else condition & where
        found: list[Row] = []
        with read_errors(self._opened.address):
            for fragment in self._fragments(table, (key, *([unit] if unit else []))):
                known = fragment.physical_schema.names
                wanted = [name for name in columns or known if name in known]
                found += fragment.to_table(columns=wanted, filter=condition).to_pylist()
        return found

    def _fragments(self, table: str, keys: Collection[str]) -> Iterator[Any]:
        files = self._opened.files.get(table, ())
        spots = {
            (row["file"], row["group"])
            for key in keys
            if key in self._by_key
            for row in self._places.slice(
                self._by_key[key][0], self._by_key[key][1] - self._by_key[key][0]
            ).to_pylist()
            if row["table"] == table
        }
        for number, group in sorted(spots):
            fragment = files[number].fragment
            yield fragment if group < 0 else fragment.subset(row_group_ids=[group])

    def full(self, id_: str, unit: str | None, acceptance: Acceptance) -> FullEpisode:
        """Return an episode whole, with its pictures, its task and the labels of its actions.

        Raises:
            NotFound: its steps are not here, as those of an attempt that was not published.
            Damaged: its rows cannot be read, or do not fit together.
        """
        heads = self.rows("episodes", id_, unit)
        if not heads:
            raise NotFound(f"{self._opened.address}: has no steps of episode {id_}")
        head = heads[0]
        owned = {table: self.rows(table, id_, unit) for table in _OWNED}
        used = {row["prompt_sha256"] for row in (head, *owned["calls"])} - {None}
        episode = build_episode(head, owned, self._prompts(used, unit))
        return FullEpisode(
            episode,
            self.task(head["task_id"], unit),
            acceptance,
            self._labels(owned["steps"], id_, unit, episode.n_steps),
        )

    def task(self, task_id: str, unit: str | None) -> Task:
        """Return a task.

        Raises:
            Damaged: it has no row, or one that is no task.
        """
        for row in self.rows("tasks", task_id, unit):
            try:
                return from_row(Task, row)
            except ValueError as error:
                raise Damaged(f"task {task_id}: its row is no task: {error}") from None
        raise Damaged(f"{self._opened.address}: task {task_id} has no row")

    def verdicts(self, id_: str, unit: str | None) -> list[Verdict]:
        """Return the verdict of each verifier that counts, in the order in which they were given.

        Raises:
            Damaged: a row is no verdict.
        """
        try:
            found = [from_row(Verdict, row) for row in self.rows("verdicts", id_, unit)]
        except ValueError as error:
            raise Damaged(f"episode {id_}: a row of verdicts is none: {error}") from None
        return sorted(latest_verdicts(found).values(), key=lambda one: one.judged_at)

    def _labels(
        self, steps: Sequence[Row], id_: str, unit: str | None, actions: int
    ) -> tuple[StepLabel, ...] | None:
        if self._opened.is_run:
            return step_labels({one.verifier: one for one in self.verdicts(id_, unit)})
        ordered = sorted(steps, key=lambda row: int(row["step"]))
        labels = tuple(from_row(StepLabel, row) for row in ordered[:actions])
        return labels if any(one != StepLabel() for one in labels) else None

    def _prompts(self, used: Collection[str], unit: str | None) -> Mapping[str, Row]:
        """Return the prompts of these hashes that are here."""
        return {key: row for key in used for row in self.rows("prompts", key, unit)}
