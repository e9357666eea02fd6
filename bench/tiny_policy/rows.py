"""The teacher's episodes of a run, as the tiny policy learns them: what was told of each page, and where it clicked."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from generators.seats.view import elements_in_sight, text_of
from schemas.episodes.observation import Element

ACCEPTED_REWARD = 1.0


def teacher_episodes(run: Path) -> list[dict[str, Any]]:
    """Return the rewarded episodes of a run, in an order that a seed may shuffle."""
    tables = run / "tables"
    kinds = {
        row["task_id"]: row["template_id"]
        for row in _rows(tables / "tasks", "task_id", "template_id")
    }
    looks = {
        (row["episode_id"], row["step"]): [
            Element.model_validate(one) for one in json.loads(row["elements"])
        ]
        for row in _rows(tables / "observations", "episode_id", "step", "elements")
    }
    steps: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(
        _rows(tables / "steps", "episode_id", "step", "action_type", "x", "y"),
        key=lambda row: row["step"],
    ):
        if row["action_type"] == "click":
            seen = elements_in_sight(looks[row["episode_id"], row["step"]])
            lines = [text_of(one) for one in seen]
            steps[row["episode_id"]].append({"lines": lines, "x": row["x"], "y": row["y"]})
    return [
        {
            "kind": kinds[row["task_id"]],
            "instruction": row["instruction"],
            "steps": steps[row["episode_id"]],
        }
        for row in sorted(
            _rows(tables / "episodes", "episode_id", "task_id", "instruction", "reward"),
            key=lambda row: row["episode_id"],
        )
        if (row["reward"] or 0.0) >= ACCEPTED_REWARD
    ]


def _rows(table: Path, *columns: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (
        DeltaTable(table).to_pyarrow_table(columns=list(columns)).to_pylist()
    )
    return found
