"""A browser that stops loading something hangs up on the application; that is nobody's fault."""

import json
import sys
from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import called

pytestmark = pytest.mark.browser

TASK = {
    "site": "notes",
    "template_id": "note",
    "seed": 1,
    "instruction": "Open second, save the remark Rope.",
    "start_url": "/",
    "expect": {"added": [{"table": "notes", "where": {"text": "Rope"}}]},
    "reference": [
        {"do": "click", "on": "second"},
        {"do": "type", "on": "Remark", "text": "Rope"},
        {"do": "click", "on": "Save"},
    ],
}


def _write_run(folder: Path) -> Path:
    """Write a run over the site with the slow picture; return its file."""
    server = [sys.executable, str(ROOT / "tests" / "sites" / "slow_picture.py"), "{port}"]
    (folder / "app.toml").write_text(
        f'origin = "http://notes.localhost"\n[start]\ncommand = {json.dumps(server)}\n'
        '[reset]\nrequest = { path = "/reset?seed={seed}" }\n'
        '[state]\nrequest = { method = "GET", path = "/state" }\n'
    )
    (folder / "tasks.jsonl").write_text(json.dumps(TASK))
    (folder / "run.toml").write_text(
        f'[run]\nurl = "{folder}/run"\n[sites]\nnotes = "{folder}/app.toml"\n'
        f'[tasks]\nsource = "{folder}/tasks.jsonl"\n[policy]\nname = "scripted"\n'
        "[browser]\nviewport = [500, 400]\nsessions = 2\n"
    )
    return folder / "run.toml"


def test_a_site_is_fit_for_runs_whose_picture_is_not_loaded_to_its_end(tmp_path: Path) -> None:
    said = called("sites", "check", "notes", f"--config={_write_run(tmp_path)}")

    assert said.code == 0, said.out
    assert "fit for runs" in said.out
