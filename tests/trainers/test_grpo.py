"""TRL's `GRPOTrainer` learns at the step door: `bench/grpo.py`, as small as can be.

`make test-trainers` runs it. What is learnt is measured by the bench; here each part does its work once.
"""

from pathlib import Path

import pytest
from deltalake import DeltaTable
from environments import python_of

from bench.grpo import PLAN, measure

pytestmark = pytest.mark.timeout(3600)

SMALL = {
    **PLAN,
    "rows": 12,
    "epochs": 2,
    "steps": 2,
    "groups": 1,
    "group": 2,
    "iterations": 2,
    "held_out_seeds": [900, 900],
}


def test_every_episode_of_a_training_is_in_the_run(tmp_path: Path) -> None:
    python_of("trl")

    figures = measure(tmp_path, SMALL, seeds=(0,), teacher_seeds=(0, 3))

    (seed,) = figures["seeds"]
    learnt, held_out = 2 * SMALL["steps"] * SMALL["group"], 3 * len(SMALL["kinds"])
    rows = DeltaTable(tmp_path / "seats" / "tables" / "episodes").to_pyarrow_table()
    assert rows.num_rows == learnt + held_out
    assert set(rows["policy"].to_pylist()) == {"tiny"}
    assert set(rows["policy_kind"].to_pylist()) == {"external"}
    assert [seed[arm]["failed"] for arm in ("trained", "control")] == [0, 0]
    assert [len(seed[arm]["rewards"]) for arm in ("trained", "control")] == [2, 2]
    assert 0 < figures["rows"] <= SMALL["rows"]
