"""A run's tables in memory, for tests of publication that need no lake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.dataset as ds
from factories import RUN_ID

from schemas.episode import Episode
from schemas.tables import Row, arrow_schema, row, unit_rows
from schemas.task import Task
from schemas.verdict import Verdict
from storage.runs import RunFile

TRAIN, VALIDATION, TEST = "click-test", "click-color", "enter-text"
"""Templates, one of each split; a test holds them to that."""


@dataclass(frozen=True)
class MemorySnapshot:
    """A sealed version whose tables lie in memory, one fragment a unit."""

    version: int
    rows: Mapping[str, Sequence[pa.Table]]

    async def dataset(self, table: str) -> ds.Dataset | None:
        tables = self.rows.get(table, ())
        if not any(part.num_rows for part in tables):
            return None
        return ds.dataset([ds.dataset(part) for part in tables])


@dataclass
class MemoryRun:
    """Units as they are committed, and the snapshots in between."""

    rows: dict[str, list[pa.Table]] = field(default_factory=dict)
    version: int = 0

    def commit(self, tasks: Sequence[Task], episodes: Sequence[Episode]) -> None:
        for table, rows in unit_rows(tasks, episodes).items():
            self._append(table, rows)

    def judge(self, verdicts: Sequence[Verdict]) -> None:
        self._append("verdicts", [row(verdict) for verdict in verdicts])

    def seal(self) -> MemorySnapshot:
        self.version += 1
        return MemorySnapshot(self.version, {name: list(rows) for name, rows in self.rows.items()})

    def _append(self, table: str, rows: Sequence[Row]) -> None:
        made = pa.Table.from_pylist(list(rows), schema=arrow_schema(table))
        self.rows.setdefault(table, []).append(made)


def make_run_file(run_id: str = RUN_ID, *, name: str = "a run") -> RunFile:
    return RunFile(
        run_id=run_id,
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
        identity={},
        config={"run": {"name": name}},
        provenance={"commit": "abc123", "stepmill": "0.1.0"},
    )


def later(episode: Episode, minutes: int) -> Episode:
    """Return `episode` as if it had been attempted some minutes later."""
    return episode.model_copy(
        update={
            name: getattr(episode, name) + timedelta(minutes=minutes)
            for name in ("started_at", "ended_at")
        }
    )
