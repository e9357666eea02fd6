"""What a task is called hangs on what it is, and on nothing about how it was written down."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from generators.sites.miniwob import template_paths
from generators.tasks.task_plan import load_tasks
from schemas.base import canonical_json
from schemas.configuration.sections import TasksSection
from schemas.tasks.task import MAX_SEED

NAMES = tuple(template_paths())
PARAMETERS = st.dictionaries(
    st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=5), st.none()), max_size=3
)
ROW = st.fixed_dictionaries(
    {
        "site": st.just("miniwob"),
        "template_id": st.sampled_from(NAMES),
        "seed": st.integers(0, MAX_SEED),
    },
    optional={
        "parameters": PARAMETERS,
        "tags": st.lists(st.text(max_size=5), max_size=3),
        "max_steps": st.integers(1, 10_000),
    },
)
ROWS = st.lists(
    ROW,
    min_size=1,
    max_size=6,
    unique_by=lambda row: (
        row["template_id"],
        row["seed"],
        canonical_json(row.get("parameters", {})),
    ),
)
"""Rows of tasks that are all different."""


def task_ids(rows: Sequence[Mapping[str, object]]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows))
        return [task.task_id for task in load_tasks(TasksSection(source=str(path)))]


@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
    st.integers(0, MAX_SEED - 3),
    st.integers(0, 3),
)
def test_planning_twice_gives_the_same_tasks(names: list[str], first: int, more: int) -> None:
    section = TasksSection(include=tuple(names), seeds=(first, first + more))
    tasks = load_tasks(section)
    assert tasks == load_tasks(section)
    assert len({task.task_id for task in tasks}) == len(set(names)) * (more + 1)


@given(ROWS, st.randoms())
def test_ids_and_their_order_hang_neither_on_rows_nor_on_keys(
    rows: list[Mapping[str, object]], random: Random
) -> None:
    shuffled = [dict(random.sample(sorted(row.items()), len(row))) for row in rows]
    random.shuffle(shuffled)
    assert task_ids(rows) == task_ids(shuffled)


@given(ROWS)
def test_no_row_gets_the_id_of_another(rows: list[Mapping[str, object]]) -> None:
    assert len(set(task_ids(rows))) == len(rows)
