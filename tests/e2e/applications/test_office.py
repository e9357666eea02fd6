"""An application as a team has it: https, a login form with a token, two users, an API of its own, a socket, a stream."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.runs.commands import called
from support.servers.office_site import ADD, ARCHIVE, office_table

pytestmark = pytest.mark.browser


def _write_run(folder: Path, *tasks: dict[str, Any]) -> Path:
    """Write a run over the office; return its file."""
    table = {
        "run": {"url": str(folder / "run")},
        "sites": {"office": office_table()},
        "tasks": {"source": str(folder / "tasks.jsonl")},
        "policy": {"name": "reference"},
        "browser": {"sessions": 2},
    }
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    (folder / "run.toml").write_text(
        "\n".join(f"{key} = {_toml(one)}" for key, one in table.items())
    )
    return folder / "run.toml"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {_toml(one)}' for key, one in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def test_each_user_does_what_that_user_may_and_every_attempt_is_replayed(tmp_path: Path) -> None:
    config = _write_run(tmp_path, ADD, ARCHIVE, {**ARCHIVE, "user": "mia", "seed": 1})

    said = called("generate", "--config", str(config), "--no-prefect")

    assert said.code == 0, said.err
    tasks = {row["task_id"]: (row["template_id"], row["user"]) for row in _rows(tmp_path, "tasks")}
    episodes = _rows(tmp_path, "episodes")
    rewards = {tasks[row["task_id"]]: (row["reward"], row["failure_kind"]) for row in episodes}
    assert rewards == {
        ("add", "mia"): (1.0, None),
        ("archive", "root"): (1.0, None),
        ("archive", "mia"): (0.0, "policy"),  # the reference finds no button
    }
    replays = [row["status"] for row in _rows(tmp_path, "verdicts") if row["verifier"] == "replay"]
    assert replays == ["passed", "passed"]


def _rows(folder: Path, table: str) -> list[dict[str, Any]]:
    files = (folder / "run" / "tables" / table).rglob("*.parquet")
    return [row for file in files for row in pq.read_table(file).to_pylist()]
