"""Runs over stand-ins in a bucket, killed with `kill -9` at every named point, and run again once.

The table of all such points, in a folder, in a bucket and on the Hub, is in `tests/support/runs/kill_points.py`.
"""

from pathlib import Path

import pytest
from effort import THOROUGH, TIMEOUT
from support.runs.chaos import stop_and_finish
from support.runs.kill_points import POINTS
from support.runs.small_runs import bucket_trial

pytestmark = pytest.mark.timeout(TIMEOUT)

CHOSEN = [name for name, point in POINTS.items() if THOROUGH or not point.thorough]


@pytest.mark.parametrize("name", CHOSEN)
def test_killed_at_a_named_point_in_a_bucket_and_run_again_it_is_whole(
    tmp_path: Path, bucket_url: str, name: str
) -> None:
    trial = bucket_trial(tmp_path / "trial", bucket_url)

    assert stop_and_finish(trial, POINTS[name].instant), "the point never came"
