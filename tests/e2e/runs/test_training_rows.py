"""Training rows of a run in a browser: `generate` makes attempts to compare and publishes their rows."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.episodes.trainer_rules import check_row
from support.runs.library import PAIR_SEEDS, PAIRED, Kept, RunLibrary

from schemas.base import sha256_hex

pytestmark = pytest.mark.browser

KEPT = 0.97
"""The least part of the accepted attempts that give a row; an attempt is cut where words are lacking."""

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Published:
    """A dataset with rejected attempts, labelled."""

    at: Path
    """Its folder."""

    def rows(self, config: str) -> Rows:
        """Return all rows of a config, read by Parquet alone."""
        found = sorted((self.at / "data" / config).glob("*.parquet"))
        return [row for path in found for row in pq.read_table(path).to_pylist()]

    def pictures(self) -> dict[tuple[str, int], str]:
        """Return the hash of the recorded picture of each step."""
        return {
            (row["episode_id"], row["step"]): row["screenshot_sha256"] for row in self.rows("steps")
        }


@pytest.fixture(scope="module")
def dataset(run_library: RunLibrary) -> Published:
    """Two attempts at each task, the teacher's and the clumsy one's."""
    return Published(run_library.read(Kept.PAIRS).dataset)


def test_attempts_at_a_task_are_shown_the_same_first_picture(dataset: Published) -> None:
    """Each policy makes one of the two, in pictures of one size, which differs from task to task."""
    groups: dict[str, Rows] = defaultdict(list)
    for row in dataset.rows("trajectories"):
        groups[row["task_id"]].append(row)
    pictures = dataset.pictures()
    sizes = set()
    for attempts in groups.values():
        assert {row["policy"] for row in attempts} == {"teacher", "clumsy"}
        [size] = {
            (row["viewport_width"], row["viewport_height"], row["device_scale_factor"])
            for row in attempts
        }
        sizes.add(size)
        assert len({pictures[row["episode_id"], 0] for row in attempts}) == 1
    assert len(groups) == PAIR_SEEDS * len(PAIRED)
    assert len(sizes) > len(PAIRED)


def test_failures_are_compared_with_a_success_where_the_two_part(dataset: Published) -> None:
    attempts = {row["episode_id"]: row for row in dataset.rows("attempts")}
    pictures = dataset.pictures()
    pairs = dataset.rows("preference")
    failed = [row for row in attempts.values() if row["success"] is False]

    assert len(pairs) >= len(failed) / 2 > 0
    for row in pairs:
        chosen, rejected = row["chosen_episode_id"], row["rejected_episode_id"]
        assert (attempts[chosen]["accepted"], attempts[rejected]["success"]) == (True, False)
        assert attempts[chosen]["task_id"] == attempts[rejected]["task_id"]
        assert row["chosen"] != row["rejected"]
        shown = sha256_hex(row["images"][-1]["bytes"])
        assert {pictures[chosen, row["step"]], pictures[rejected, row["step"]]} == {shown}


def test_nearly_every_accepted_attempt_is_learnt_with_its_own_pictures(dataset: Published) -> None:
    accepted = {row["episode_id"] for row in dataset.rows("trajectories") if row["accepted"]}
    pictures = dataset.pictures()
    learnt = dataset.rows("sft")

    assert len({row["episode_id"] for row in learnt}) >= KEPT * len(accepted)
    assert {row["episode_id"] for row in learnt} <= accepted
    for row in learnt:
        check_row(row)
        own = {pictures[row["episode_id"], step] for step in range(row["step"] + 1)}
        shown = [sha256_hex(picture["bytes"]) for picture in row["images"]]
        assert shown[-1] == pictures[row["episode_id"], row["step"]]
        assert {*shown} <= own


def test_what_is_wanted_and_what_is_not_are_both_there(dataset: Published) -> None:
    labels = {row["label"] for row in dataset.rows("kto")}
    told = {row["step_label"] for row in dataset.rows("step_labels")}

    assert labels == {True, False}
    assert {"on_path", "mistake"} <= told
    assert len(dataset.rows("grounding")) > 0
