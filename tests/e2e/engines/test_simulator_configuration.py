"""A configuration is tried with the simulator in place of a model server, as the manual says."""

from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import called
from support.runs.locations import Place

pytestmark = pytest.mark.browser

SHRUNK = (
    "--set=tasks.include=['click-test']",
    "--set=limits.steps=2",
    "--set=browser.sessions=2",
)


def _generated(name: str, run: Path, *settings: str, code: int = 0) -> None:
    said = called(
        "generate",
        "--no-prefect",
        "--json",
        f"--config={ROOT / f'configs/{name}.toml'}",
        f"--run={run}",
        *SHRUNK,
        *settings,
    )
    assert said.code == code, said.err


@pytest.mark.full
def test_the_shipped_configuration_runs_without_a_gpu(tmp_path: Path) -> None:
    _generated("simulator", tmp_path / "run", "--set=tasks.seeds=[0,1]")

    place = Place(str(tmp_path / "run"))
    policies = {row["policy"] for row in place.rows("episodes", "policy")}
    calls = place.rows("calls", "prompt_tokens", "cached_tokens", "image_tokens")
    assert policies == {"model", "teacher"}
    assert calls
    assert all(None not in row.values() for row in calls)


def test_a_configuration_for_a_gpu_is_tried_with_the_simulator(tmp_path: Path) -> None:
    _generated(
        "holotron-h100",
        tmp_path / "run",
        '--set=engine.kind="scripted"',
        '--set=engine.args=["--context", "32768"]',
        "--set=tasks.seeds=[0,0]",
        code=1,  # nothing is accepted
    )

    assert Place(str(tmp_path / "run")).rows("calls", "prompt_tokens")
