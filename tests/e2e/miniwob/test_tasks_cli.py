"""`stepmill tasks show` and `check` on real pages."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from PIL import Image
from support.runs.commands import LOOK, until

from flows.cli.main import main

pytestmark = pytest.mark.browser


def shown_json(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    value: dict[str, object] = json.loads(out)
    return value


def test_show_tells_goal_address_identity_and_elements(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tasks", "show", "click-test-2", "--seed", "4", "--json"]) == 0
    shown = shown_json(capsys)
    assert shown["goal"] == "Click button ONE."
    assert shown["url"] == "http://miniwob.localhost/miniwob/click-test-2.html"
    assert shown["picture"] is None
    elements = shown["elements"]
    assert isinstance(elements, list)
    assert {"ONE", "TWO"} <= {element["name"] for element in elements}
    main(["tasks", "list", "click-test-2", "--json"])
    assert shown["tags"] == json.loads(capsys.readouterr().out)["templates"][0]["tags"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("seen.jpg", "JPEG"), pytest.param("seen.PNG", "PNG", marks=pytest.mark.full)],
)
def test_show_saves_the_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, kind: str
) -> None:
    path = tmp_path / name
    wide = ["--set", "browser.viewport=[640, 480]"]
    assert main(["tasks", "show", "click-test", "--to", str(path), *wide]) == 0
    assert f"picture  {path}, 640 × 480" in capsys.readouterr().out
    with Image.open(path) as picture:
        assert (picture.format, picture.size) == (kind, (640, 480))
    assert list(tmp_path.iterdir()) == [path]


def test_check_counts_yield_and_reproduction_by_family(
    capsys: pytest.CaptureFixture[str],
) -> None:
    families = ["--include", "enter-text", "--include", "hover-shape"]
    assert main(["tasks", "check", "--seeds", "2", "--sessions", "3", *families, "--json"]) == 0
    report = shown_json(capsys)
    by_family = report.pop("by_family")
    assert isinstance(by_family, list)
    assert [family["template"] for family in by_family] == ["hover-shape", "enter-text"]
    assert {key: report[key] for key in ("episodes", "passed", "reproduced", "broken")} == {
        "episodes": 4,
        "passed": 2,
        "reproduced": 2,
        "broken": 0,
    }
    assert report["families"] == 2
    assert report["mastered"] == 1
    assert by_family[0]["problems"][0].startswith("seed 0: outcome: failed: not done")
    states = "each episode has two clicks, a text, an answer and a last look"
    assert by_family[1]["states"] == 10, states


def test_a_check_in_which_nothing_passes_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "check", "--seeds", "1", "--include", "hover-shape"]) == 1
    shown = capsys.readouterr().out
    assert "0 of 1 episodes passed (0.0 %)" in shown
    assert "hover-shape: seed 0: outcome: failed: not done" in shown


def _has_browser(process: psutil.Process) -> bool:
    children = process.children(recursive=True)
    return any("renderer" in argument for child in children for argument in child.cmdline())


def test_an_interrupted_check_ends_with_130_and_leaves_no_browser() -> None:
    command = [sys.executable, "-m", "flows.cli", "tasks", "check", "--include", "click-*"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        me = psutil.Process(process.pid)
        until(lambda: _has_browser(me) or process.poll() is not None, every=LOOK)
        all_children = me.children(recursive=True)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    _, alive = psutil.wait_procs(all_children, timeout=20)
    assert not alive
