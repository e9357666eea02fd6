"""What a run came to but for its ids and times, so that two runs can be held against each other.

Two runs of one configuration have ids of their own and take their own time. An episode is told
here by its task and attempt, and what a clock or a commit says is left out; all else is to be the
same, to the last bit of the last picture, in the tables and in the dataset.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import pyarrow.dataset as ds
from support.runs.small_runs import Trial

from schemas.tables.tables import TABLES, Row

OF_ONE_RUN = {
    "at",
    "code_version",
    "content_sha256",
    "ended_at",
    "group_id",
    "judged_at",
    "run_id",
    "seconds",
    "started_at",
    "think_ms",
    "unit_id",
    "wall_seconds",
}
"""Columns that no two runs share."""

Likeness = Mapping[str, Counter[str]]
"""How often each row is there, by table and by config of the dataset."""


def likeness(trial: Trial) -> Likeness:
    """Return all that a finished run came to."""
    heads = trial.rows("episodes", "episode_id", "task_id", "attempt")
    names = {episode_id: f"{task_id}, {attempt}" for episode_id, task_id, attempt in heads}
    found = {name: _rows(trial.table(name)) for name in TABLES}
    for config in (trial.published() / "data").iterdir():
        found[f"published {config.name}"] = _rows(ds.dataset(config))
    return {place: Counter(_told(row, names) for row in rows) for place, rows in found.items()}


def difference(found: Likeness, wanted: Likeness) -> dict[str, tuple[int, int]]:
    """Return how many rows were lost and how many are there too often, where any are."""
    places = {*found, *wanted}
    told = {place: (wanted.get(place, Counter()), found.get(place, Counter())) for place in places}
    return {
        place: ((there - here).total(), (here - there).total())
        for place, (there, here) in told.items()
        if there != here
    }


def _rows(dataset: ds.Dataset | None) -> Iterable[Row]:
    return [] if dataset is None else dataset.to_table().to_pylist()


def _told(row: Row, names: Mapping[str, str]) -> str:
    told = repr({column: value for column, value in row.items() if column not in OF_ONE_RUN})
    for episode_id, name in names.items():  # training rows and their pictures are named by it
        told = told.replace(episode_id, name)
    return told
