"""The `playwright` export: its scripts do the task again against a server of the site, and fail where it is not done."""

import re
import shutil
from pathlib import Path

import pytest
from scripts.running import run_python, serve_ledger, serve_world, without_last_act
from source_tree import ROOT
from support.runs.commands import UNREPLAYED, called, stepmill
from support.runs.library import Kept, RunLibrary

pytestmark = pytest.mark.browser

PAGE = ROOT / "docs/storing.md"
"""The page whose command is run as it stands."""

FAILING_MS = 3_000
"""How long a script without its last act waits for what does not come."""


@pytest.fixture(scope="module")
def ledger_scripts(run_library: RunLibrary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of scripts of an application's run."""
    base = tmp_path_factory.mktemp("ledger")
    shutil.copytree(run_library.read(Kept.LEDGER).run, base / "runs/demo")
    [line] = re.findall(
        r"^stepmill (export .* playwright .*)$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    said = stepmill(*line.split(), "--json", cwd=base)
    assert said.code == 0, said.err
    assert said.answer["counts"] == {"by_role": 3, "clicks": 3, "scripts": 3}
    return base / "demo-scripts"


@pytest.fixture(scope="module")
def world_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the script of an attempt at a task of a world, which ends with a change."""
    base = tmp_path_factory.mktemp("world")
    made = called(
        *("generate", "--json", "--no-prefect", f"--run={base}/run", "--set=tasks.source=worlds"),
        *("--set=tasks.include=['shop/edit']", "--set=tasks.seeds=[7,7]", "--set=tasks.faults=0"),
        *("--set=policy.name=reference", "--set=limits.steps=100", "--set=browser.sessions=1"),
        *UNREPLAYED,
        "--set=publish.to=[]",
    )
    assert made.code == 0, made.err
    said = called("export", f"{base}/run", "--format=playwright", f"--to={base}/scripts")
    assert said.code == 0, said.err
    [script] = (base / "scripts").rglob("*.py")
    return script


def test_a_script_of_an_application_does_its_task_and_fails_without_its_last_act(
    ledger_scripts: Path, tmp_path: Path
) -> None:
    script = min(ledger_scripts.rglob("test_*.py"))
    broken = tmp_path / "broken.py"
    broken.write_text(without_last_act(script.read_text("utf-8")), "utf-8")

    with serve_ledger() as url:
        done = run_python(script, url)
    with serve_ledger() as url:
        undone = run_python(broken, url, timeout_ms=FAILING_MS)

    assert done.returncode == 0, done.stderr
    assert "expected to be visible" in undone.stderr


def test_a_script_of_a_world_does_its_task_on_the_wall_clock_and_fails_without_its_last_act(
    world_script: Path, tmp_path: Path
) -> None:
    text = world_script.read_text("utf-8")
    broken = tmp_path / "broken.py"
    broken.write_text(without_last_act(text), "utf-8")

    with serve_world(text) as url:
        undone = run_python(broken, url, timeout_ms=FAILING_MS)
        assert "AssertionError" in undone.stderr
    with serve_world(text) as url:
        done = run_python(world_script, url)
        assert done.returncode == 0, done.stderr
