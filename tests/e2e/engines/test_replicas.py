"""Whole runs with a server on each GPU, and what is refused of them."""

import json
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable
from source_tree import ROOT
from support.engines.gpu_programs import nvidia_smi
from support.runs.commands import UNREPLAYED, Said, called

SERVES = [sys.executable, str(ROOT / "tests" / "support" / "servers" / "simulator_as_vllm.py")]


def generate(tmp_path: Path, *flags: str, gpus: int = 2, fails: str = "") -> Said:
    """Make a run on a machine with so many GPUs."""
    return called(
        "generate",
        "--json",
        "--no-prefect",
        f"--run={tmp_path / 'run'}",
        "--set=policy.name=model",
        "--set=engine.kind=vllm",
        "--set=engine.model=some/model",
        f"--set=engine.command={json.dumps(SERVES)}",
        "--set=tasks.include=['click-test','click-button','enter-text','focus-text']",
        "--set=tasks.seeds=[0,1]",
        "--set=browser.viewport=[512,512]",
        "--set=browser.sessions=2",
        "--set=limits.steps=1",
        *UNREPLAYED,
        *flags,
        env={"PATH": nvidia_smi(tmp_path, gpus=gpus, fails=fails)},
    )


@pytest.mark.browser
def test_the_episodes_of_a_run_are_shared_out_over_its_replicas(tmp_path: Path) -> None:
    said = generate(tmp_path, "--set=engine.replicas=gpus", "--set=engine.usd_per_hour=1.0", gpus=2)
    calls = DeltaTable(tmp_path / "run" / "tables" / "calls").to_pyarrow_table(columns=["engine"])
    [work] = [json.loads(path.read_text()) for path in (tmp_path / "run" / "work").iterdir()]

    assert said.code in (0, 1), said.err
    assert said.answer["episodes"] == 8
    assert said.answer["failed"] == 0
    assert {row["engine"][-2:] for row in calls.to_pylist()} == {"-0", "-1"}
    assert work["server_gpus"] == 2
    assert "replica 1 of 2 (GPU 0): vLLM is ready at http://127.0.0.1:" in said.err
    assert "replica 2 of 2 (GPU 1): vLLM is ready at http://127.0.0.1:" in said.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("engine.replicas=0",), "engine.replicas = 0: should be a number from 1 to 256"),
        (("engine.replicas=3",), "engine.replicas: 3 of 1 GPUs each take 3, and there are 2"),
        (("engine.replicas=2", "engine.gpus=2"), "engine.replicas: 2 of 2 GPUs each take 4"),
        (("engine.replicas=2", "engine.args=['--port','8000']"), "leave --port out"),
        (
            ("engine.replicas=2", "engine.kind=openai", "engine.urls=['http://127.0.0.1:9/v1']"),
            "engine.replicas = 2: 'openai' starts no vLLM",
        ),
        (
            ("engine.replicas=gpus", "engine.kind=simulator"),
            "engine.replicas = \"gpus\": 'simulator' starts no vLLM",
        ),
        (("engine.args=['-tp','two']",), "engine.args: -tp two: expected a number of GPUs"),
    ],
)
def test_replicas_that_cannot_be_are_refused_before_anything_is_written(
    tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    said = generate(tmp_path, *(f"--set={flag}" for flag in flags))

    assert said.code == 2, said.err
    assert words in said.err
    assert not (tmp_path / "run" / "run.json").exists()


@pytest.mark.browser
def test_a_machine_without_gpus_is_refused_with_the_reason(tmp_path: Path) -> None:
    said = generate(tmp_path, "--set=engine.replicas=gpus", fails="no devices were found")

    assert said.code == 2, said.err
    assert "no GPU is found on this machine: nvidia-smi fails with code 9" in said.err
    assert not (tmp_path / "run" / "run.json").exists()
