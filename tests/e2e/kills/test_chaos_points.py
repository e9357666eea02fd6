"""Runs over stand-ins in a bucket, killed with `kill -9` at every named point, and run again once.

The table of all such points, in a folder, in a bucket and on the Hub, is in
`tests/support/runs/kill_points.py`. In `make test` one kill in a bucket is real: at the point that a
folder does not have.
"""

from pathlib import Path

import pytest
from effort import TIMEOUT
from support.runs.chaos import carry_out, stop_and_finish
from support.runs.kill_points import POINTS
from support.runs.small_runs import bucket_trial

pytestmark = pytest.mark.timeout(TIMEOUT)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.full] if point.thorough else [])
        for name, point in POINTS.items()
    ],
)
def test_killed_at_a_named_point_in_a_bucket_and_run_again_it_is_whole(
    tmp_path: Path, bucket_url: str, name: str
) -> None:
    trial = bucket_trial(tmp_path / "trial", bucket_url)

    assert stop_and_finish(trial, POINTS[name].instant, way=carry_out), "the point never came"
