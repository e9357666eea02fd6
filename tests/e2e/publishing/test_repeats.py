"""Two real runs, some of whose tasks are the same: by their sketches the later one's copies are found."""

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from support.runs.commands import SMALL, UNREPLAYED, called
from support.runs.library import Kept, RunLibrary, generating

from storage.publish.plan.repeats import COLUMNS, Repeat, repeats_of

AGAIN = (
    *SMALL,
    *UNREPLAYED,
    "--set=tasks.seeds=[1,2]",
    "--set=verify.verifiers=['structure','outcome','novelty']",
)
"""The tasks of one seed again, and those of another one."""

TASK = ["template_id", "seed"]


def _attempts(dataset: Path) -> pa.Table:
    return ds.dataset(dataset / "data" / "attempts").to_table(columns=[*COLUMNS.names, *TASK])


def test_an_episode_of_another_run_is_a_copy_where_its_task_is_the_same(
    run_library: RunLibrary, tmp_path: Path
) -> None:
    dataset = tmp_path / "dataset"
    made = called(*generating(tmp_path / "run", AGAIN, dataset))
    assert made.code == 0, made.err
    first, second = _attempts(run_library.read(Kept.TEACHER).dataset), _attempts(dataset)
    ids = {(row["template_id"], row["seed"]): row["episode_id"] for row in first.to_pylist()}

    found = repeats_of(first.select(COLUMNS.names), second.select(COLUMNS.names))

    rows = second.to_pylist()
    assert sorted(row["seed"] for row in rows) == [1, 1, 1, 2, 2, 2]
    assert found == {
        row["episode_id"]: Repeat(ids[row["template_id"], 1], is_near=False)
        for row in rows
        if row["seed"] == 1
    }
    assert repeats_of(first, first.slice(0, 3)) == {}
