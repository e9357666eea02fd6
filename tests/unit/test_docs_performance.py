"""`docs/performance.md` says what the results say, and each result says where it comes from."""

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import limits
import performance
import pytest
from columns import renewed
from source_tree import ROOT

from bench.measuring.result import origin, report, write_result
from flows.job.config_loader import Sources, load
from flows.job.plan import plan_units
from flows.job.validate import validate

RESULTS = sorted((ROOT / "bench/results").glob("*.json"))
BENCHES = {path.stem for path in (ROOT / "bench").glob("*.py")}


def _result(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_page_says_what_the_results_say() -> None:
    page = (ROOT / "docs/performance.md").read_text(encoding="utf-8")

    assert renewed(page, performance.PARTS) == page, "docs/performance.md is stale: `make docs`"


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_names_its_bench_commit_date_and_machine(path: Path) -> None:
    result = _result(path)

    assert result["bench"] in BENCHES
    assert re.fullmatch(r"[0-9a-f]{7,40}\+?|unknown", result["commit"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"])
    assert "core" in result["machine"]
    assert isinstance(result["held"], bool)


def test_every_bench_has_a_result() -> None:
    assert {_result(path)["bench"] for path in RESULTS} == BENCHES


@pytest.mark.parametrize("each", limits.LINES, ids=lambda each: each.figure)
def test_every_limit_is_in_its_result_and_its_bench(each: limits.Line) -> None:
    source = (ROOT / "bench" / f"{each.bench}.py").read_text(encoding="utf-8")

    result = performance.read_result(each.bench)

    assert each.limit in result or not result
    assert f'"{each.limit}"' in source


def test_a_figure_has_its_unit_and_a_share_is_per_cent() -> None:
    assert performance.show(0.0829, "%") == "8.29 %"
    assert performance.show(1_824.0) == "1,824"
    assert performance.show(1_500, "MB") == "1,500 MB"
    assert performance.show(3_200.0, "ms") == "3,200 ms"
    assert performance.show(None, "s") == performance.NONE


def test_a_result_is_written_with_its_origin(tmp_path: Path) -> None:
    target = write_result(tmp_path / "results", "demo", {"bench": "demo", "held": True})

    written = _result(target)
    assert target.name == "demo.json"
    assert written["held"] is True
    assert written.keys() >= origin().keys()


def test_a_bench_with_arguments_only_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.measuring.result.RESULTS", tmp_path)
    monkeypatch.setattr("sys.argv", ["bench/demo.py", "--times", "1"])

    report({"bench": "demo", "held": True})
    assert json.loads(capsys.readouterr().out) == {"bench": "demo", "held": True}
    assert list(tmp_path.iterdir()) == []

    report({"bench": "demo", "held": True}, keep="other")
    monkeypatch.setattr("sys.argv", ["bench/demo.py"])
    report({"bench": "demo", "held": True})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo.json", "other.json"]


def test_the_demo_that_was_measured_is_the_demo_that_ships() -> None:
    prepared = validate(load(Sources(config=str(ROOT / "configs/demo.toml")), {}))
    units = plan_units(prepared.config, prepared.tasks, run_id="r")

    planned = sum(len(unit.attempts) for unit in units)
    assert performance.read_result("demo")["episodes"] == planned


def test_a_limit_that_is_missed_is_said_so_in_its_row_and_by_name() -> None:
    line = limits.Line("demo", "the demo", "s", lambda result: result["seconds"], "max_seconds")
    result = dict(performance.read_result("demo"))
    for seconds, is_missed in ((result["max_seconds"], False), (result["max_seconds"] + 1, True)):
        with patch.object(performance, "read_result", lambda _, s=seconds: result | {"seconds": s}):
            assert performance._is_missed(line) is is_missed
    assert performance._is_beyond(0.1, 0.2, "min_share")
    assert not performance._is_beyond(0.3, 0.2, "min_share")
    assert not performance._is_beyond(None, 0.2, "min_share")
