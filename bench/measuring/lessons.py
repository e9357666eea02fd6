"""Recorded episodes as a scorer learns from them or is measured against them, and how they are cut alike."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.dataset as ds

from bench.measuring.arms import OLD, Rates, cut
from schemas.tables.tables import from_row
from schemas.tasks.task import Task

WORLDS = "worlds"
"""The arm that learns from the rows of worlds."""


@dataclass(frozen=True)
class Lesson:
    """A recorded episode, to be learnt from or to be measured against."""

    task: Task
    """What was attempted."""
    recorded: Mapping[str, Any]
    """The goal and the steps, as the scorer's script reads them."""
    viewport: tuple[int, int, float]
    """Width and height, CSS px, and picture px per CSS px."""
    examples: tuple[tuple[np.ndarray, int], ...]
    """Of each step that the scorer can express: its candidates, and which of them was taken."""

    @property
    def world(self) -> tuple[object, ...]:
        """The world that it is set in, in an order in which families take turns."""
        return self.task.parameters.get("world"), self.task.parameters.get("family")

    def count(self) -> int:
        """Return how many steps the scorer can express."""
        return len(self.examples)


def read_lessons(dataset: Path, script: ModuleType, *splits: str) -> list[Lesson]:
    """Return the accepted episodes of some splits of a dataset."""
    out: list[Lesson] = []
    for split in splits:
        tasks = {row["task_id"]: from_row(Task, row) for row in _rows(dataset, "tasks", split)}
        rows = {row["episode_id"]: row for row in _rows(dataset, "trajectories", split)}
        for key, recorded in script.read(str(dataset), split=split).items():
            found = (
                script.example(recorded["goal"], recorded["steps"], at)
                for at in range(len(recorded["steps"]))
            )
            row = rows[key]
            size = (row["viewport_width"], row["viewport_height"], row["device_scale_factor"])
            examples = tuple(one for one in found if one is not None)
            out.append(Lesson(tasks[row["task_id"]], recorded, size, examples))
    return out


def _rows(dataset: Path, table: str, split: str) -> list[dict[str, Any]]:
    files = sorted(map(str, (dataset / "data" / table).glob(f"{split}-*.parquet")))
    found: list[dict[str, Any]] = ds.dataset(files).to_table().to_pylist() if files else []
    return found


def next_actions(
    script: ModuleType, weights: Mapping[str, Any] | None, lessons: Sequence[Lesson]
) -> dict[str, float]:
    """Return by template the share of steps at which the first choice is what was done; None takes any."""
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for lesson in lessons:
        for features, taken in lesson.examples:
            if weights is None:
                shares[lesson.task.template_id].append(1 / len(features))
            else:
                first = int(np.argmax(script.scores(weights, features)[1]))
                shares[lesson.task.template_id].append(float(first == taken))
    return {template: fmean(each) for template, each in shares.items()}


def as_rates(trainings: Sequence[Mapping[str, float]]) -> Rates:
    """Return the figures of each training by template."""
    return {name: [one[name] for one in trainings] for name in sorted(trainings[0])}


def draw_curve(
    lessons: Sequence[Lesson], counts: Sequence[int], seed: int
) -> dict[int, list[Lesson]]:
    """Return for each number of worlds as many steps' episodes as the fewest worlds give.

    Raises:
        SystemExit: there are not so many worlds.
    """
    worlds = sorted({lesson.world for lesson in lessons}, key=str)
    Random(f"worlds {seed}").shuffle(worlds)
    if max(counts) > len(worlds):
        raise SystemExit(
            f"--curve: {max(counts)} worlds; the rows have {len(worlds)} that are in train"
        )
    drawn: dict[int, list[Lesson]] = {}
    least: int | None = None
    for count in sorted(counts):
        among = set(worlds[:count])
        rest = [lesson for lesson in lessons if lesson.world in among]
        least = count_steps(rest) if least is None else least
        drawn[count] = cut(rest, least, Lesson.count, Random(f"lessons {seed} {count}"))
    return drawn


def count_steps(lessons: Sequence[Lesson]) -> int:
    """Return how many steps of some episodes the scorer can express."""
    return sum(map(Lesson.count, lessons))


def refuse_shared(
    learnt: Mapping[str, Sequence[Lesson]], targets: Mapping[str, Sequence[Lesson]]
) -> None:
    """Refuse rows that are learnt from and measured against.

    Raises:
        SystemExit: a task or a world is on both sides.
    """
    tasks = {one.task.task_id for lessons in learnt.values() for one in lessons}
    hosts = {one.task.start_url for arm in (WORLDS, OLD) for one in learnt.get(arm, ())}
    for name, lessons in targets.items():
        for one in lessons:
            if one.task.task_id in tasks or one.task.start_url in hosts:
                raise SystemExit(f"{name}: the task {one.task.task_id} is among what is learnt")
