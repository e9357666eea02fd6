"""The engine's load bench as `make bench` runs it, and against what cannot be measured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from support.runs.commands import SECONDS

ROOT = Path(__file__).parents[3]
BENCH = [sys.executable, "bench/engine_load.py"]


def _run(*flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BENCH, *flags], cwd=ROOT, capture_output=True, text=True, check=False, timeout=SECONDS
    )


@pytest.mark.full
def test_it_measures_an_engine_of_its_own_and_prints_one_line(tmp_path: Path) -> None:
    target = tmp_path / "load.png"

    flags = ("--sessions", "2,4", "--seconds", "3", "--think-scale", "0.2")
    ran = _run(*flags, "--plot", str(target))

    assert ran.stdout.count("\n") == 1, ran.stderr
    figures = json.loads(ran.stdout)
    assert [one["sessions"] for one in figures["levels"]] == [2, 4]
    for one in figures["levels"]:
        assert one["requests"] > 0
        assert one["errors"] == {}
        assert one["prefix_hit_rate"] > 0.3
        assert one["total_tokens_per_second"] > 0
        assert one["ttft_ms"]["p50"] <= one["latency_ms"]["p99"]
    assert figures["product"] == "scripted"
    with Image.open(target) as picture:
        assert picture.format == "PNG"


def test_an_endpoint_that_does_not_answer_is_refused() -> None:
    ran = _run("http://127.0.0.1:9/v1", "--seconds", "1")

    assert ran.returncode == 2
    assert "no engine answers" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
