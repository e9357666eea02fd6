"""An application as a team has it: https, a login form with a token, two users, an API of its own, a socket, a stream."""

import contextlib
import json
import shlex
import sqlite3
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.runs.commands import called
from support.servers.office_site import ADD, ARCHIVE, SCRIPT, office_table

from schemas.configuration.application import Application

pytestmark = pytest.mark.browser


def _write_run(folder: Path, *tasks: dict[str, Any], table: dict[str, Any] | None = None) -> Path:
    """Write a run over the office; return its file."""
    config = {
        "run": {"url": str(folder / "run")},
        "sites": {"office": table or office_table()},
        "tasks": {"source": str(folder / "tasks.jsonl")},
        "policy": {"name": "reference"},
        "browser": {"sessions": 2},
    }
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    (folder / "run.toml").write_text(
        "\n".join(f"{key} = {_toml(one)}" for key, one in config.items())
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


def test_a_check_says_what_pages_asked_for_and_what_they_did_not_get(tmp_path: Path) -> None:
    config = _write_run(tmp_path, ADD, table=office_table("asks", origins={}))

    said = called("sites", "check", "office", "--config", str(config))

    assert said.code == 1, said.out
    assert "ok     origins    add 0: the start page works without, but pages asked for" in said.out
    assert "api.office.test:443 (" in said.out
    (line,) = [one for one in said.out.splitlines() if one.startswith("FAILS")]
    assert 'at step 2 the page asked: Really add "The crane is loud."?' in line
    assert "'answer' while the page asks" in line


def test_a_first_file_has_the_login_the_state_and_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(sqlite3.connect("notes.db")) as database:
        database.execute("create table notes (id integer primary key, text)")
    command = shlex.join([sys.executable, str(SCRIPT), "{port}", "0", "two-tokens"])

    said = called("sites", "new", "office", "--command", command)

    assert said.code == 0, said.err
    assert "COMPLETE" not in Path("office.toml").read_text()
    stated = tomllib.loads(Path("office.toml").read_text())
    assert stated["login"]["steps"] == [
        {"method": "GET", "path": "/login", "find": {"token": {"field": "token", "form": "login"}}},
        {
            "path": "/login",
            "form": {
                "token": "{found.token}",
                "name": "{user.name}",
                "password": "{user.password}",
            },
        },
    ]
    assert stated["users"] == {"first": {"name": "$OFFICE_USER", "password": "$OFFICE_PASSWORD"}}
    assert stated["state"] == {"sqlite": str(tmp_path / "notes.db")}
    assert stated["masks"] == {"fields": ["token"]}
    assert Application.model_validate(stated | {"home": str(tmp_path)}).all_origins
    again = called("sites", "new", "office", "--command", command)
    assert (again.code, "office.toml is there already" in again.err) == (2, True)


def test_a_first_file_of_a_server_that_runs_says_what_is_not_to_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = called("sites", "new", "shop", "--url", "http://127.0.0.1:9")
    assert (said.code, "does not answer within" in said.err) == (2, True)
    for wrong in (
        ("Shop!", "--url", "http://127.0.0.1:9"),
        ("shop", "--url", "127.0.0.1"),
        ("shop", "--command", "serve --port 80"),
        ("shop", "--url", "http://127.0.0.1:9", "--start", "admin"),
    ):
        refused = called("sites", "new", *wrong)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1), refused.err
    assert list(tmp_path.iterdir()) == []


def _rows(folder: Path, table: str) -> list[dict[str, Any]]:
    files = (folder / "run" / "tables" / table).rglob("*.parquet")
    return [row for file in files for row in pq.read_table(file).to_pylist()]
