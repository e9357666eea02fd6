"""`stepmill tasks check` holds tasks of an application to the gates, and fails for the right reason."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.inputs.broken_tasks import BROKEN, WHOLE
from support.runs.commands import stepmill
from support.servers.ledger_site import command

from schemas.base import JsonObject

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def checked(
    folder: Path, rows: Mapping[str, JsonObject], *faults: str
) -> tuple[int, dict[str, dict[str, str]]]:
    """Return the exit code, and by template the gates that fail with their reasons."""
    start = json.dumps(command(*faults))
    (folder / "ledger.toml").write_text(
        f'origin = "http://ledger.localhost"\n[start]\ncommand = {start}\n'
        '[reset]\nrequest = { path = "/reset?seed={seed}" }\n'
        '[state]\nrequest = { method = "GET", path = "/state" }\n'
    )
    lines = [
        json.dumps(row | {"template_id": name, "seed": number})
        for number, (name, row) in enumerate(rows.items())
    ]
    (folder / "tasks.jsonl").write_text("\n".join(lines))
    (folder / "run.toml").write_text(
        f'[sites]\nledger = "{folder}/ledger.toml"\n[tasks]\nsource = "{folder}/tasks.jsonl"\n'
        '[policy]\nname = "scripted"\nscript = "script.json"\n[browser]\nviewport = [500, 400]\n'
    )
    (folder / "script.json").write_text(json.dumps({name: [] for name in rows}))
    said = stepmill("tasks", "check", f"--config={folder}/run.toml", "--json", cwd=folder)
    gates: list[dict[str, Any]] = said.answer["gates"]  # type: ignore[assignment]
    found: dict[str, dict[str, str]] = {}
    for one in gates:
        reasons = found.setdefault(one["template"], {})
        for gate, because in one["failing"]:
            reasons[gate] = f"{reasons.get(gate, '')}{because}; "
    return said.code, found


def test_ten_broken_tasks_and_more_are_found_each_for_the_right_reason(tmp_path: Path) -> None:
    rows = {name: row for name, (row, _, _) in BROKEN.items()}
    code, found = checked(tmp_path, rows)

    assert len(BROKEN) >= 10
    assert code == 1
    wrong = {
        name: found[name]
        for name, (_, gate, because) in BROKEN.items()
        if because not in found[name].get(gate, "")
    }
    assert wrong == {}


def test_whole_tasks_pass_all_gates(tmp_path: Path) -> None:
    assert checked(tmp_path, WHOLE)[1] == {name: {} for name in WHOLE}


def test_an_application_that_begins_differently_each_time_is_found(tmp_path: Path) -> None:
    _, found = checked(tmp_path, {"add": WHOLE["add"]}, "clock")

    assert "two visits begin with different states" in found["add"]["episode_determinism"]
