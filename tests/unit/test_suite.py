"""What `make test` and `make test-full` run, and what they say of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import suite
from source_tree import ROOT

TWO = """
import pytest

def test_small(): pass

@pytest.mark.full
def test_large(): pass

@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.full)])
def test_sizes(size): pass
"""

BURNT = 0.5
"""Seconds."""
BURN = f"import time\nwhile time.process_time() < {BURNT}: pass"


def _collected(folder: Path, **environment: str) -> str:
    (folder / "test_two.py").write_text(TWO)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    kept.pop("STEPMILL_TESTS", None)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider"),
            *("-c", ROOT / "pyproject.toml", "--collect-only", "-q", folder / "test_two.py"),
        ],
        env={**kept, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_what_is_marked_full_is_left_out_at_the_small_size_and_said_to_be(tmp_path: Path) -> None:
    shown = _collected(tmp_path)

    assert "test_small" in shown
    assert "test_large" not in shown
    assert ("test_sizes[1]" in shown, "test_sizes[2]" in shown) == (True, False)
    assert "2 deselected" in shown


def test_everything_is_run_at_the_large_size(tmp_path: Path) -> None:
    shown = _collected(tmp_path, STEPMILL_TESTS="full")

    assert ("test_large" in shown, "test_sizes[2]" in shown) == (True, True)
    assert "deselected" not in shown


def _ran(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the suite's program in a process of its own, which adopts what it leaves behind."""
    code = (
        "import sys; from pathlib import Path; import suite\n"
        f"suite.PASSED = Path({str(folder / 'passed')!r}); suite._tree = lambda asked: asked.replace('/', '-')[-200:]\n"
        "sys.exit(suite.main())"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments, "-q", "-n0", "-p", "no:cacheprovider"],
        env={**kept, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_says_what_it_took_and_ends_as_pytest_ends(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): assert False")

    ran = _ran("test", str(tmp_path / "test_one.py"), folder=tmp_path)

    assert ran.returncode == 1
    assert "CPU-minutes of the whole process tree" in ran.stderr
    assert "WARNING" not in ran.stderr


ORPHAN = f"""
import os
if os.fork() == 0:
    if os.fork() == 0:
        exec({BURN!r})
    os._exit(0)
os.wait()
"""
"""Ends at once, and leaves a grandchild at work."""


@pytest.mark.parametrize("code", [BURN, ORPHAN], ids=["own", "an orphan's"])
def test_the_processor_time_of_every_process_is_counted(code: str, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(code)
    asked = (
        "import suite, sys; suite.END_SECONDS = 100\n"  # a busy machine takes long to burn so little
        f"print(suite.run([sys.executable, {str(tmp_path / 'work.py')!r}]).cpu)"
    )

    told = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert float(told.stdout) >= BURNT


def test_a_run_past_its_ceiling_warns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = suite.Run(code=0, wall=60 * suite.CEILING_MINUTES + 1, cpu=1.0, load=0.0)
    monkeypatch.setattr(suite, "run", lambda *_, **__: slow)

    assert suite.run_small([]) == 0
    assert "WARNING: expected at most 8 minutes" in capsys.readouterr().err


def test_the_ceiling_is_the_one_that_is_written_down() -> None:
    page = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())

    assert f"`make test` stays ≤ {suite.CEILING_MINUTES:.0f} and `.ci/run` ≤ 12 minutes" in page
    assert '"$minutes" -le 12' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_shards_that_have_passed_are_not_run_again_but_those_that_failed_and_those_of_other_tests(
    tmp_path: Path,
) -> None:
    """A shard without any test is no failure."""
    one, four = tmp_path / "test_one.py", tmp_path / "test_four.py"
    one.write_text("def test_one(): pass")
    four.write_text("\n".join(f"def test_{n}(): assert {n} != 3" for n in range(4)))

    alone = _ran("full", "--shards=2", str(one), folder=tmp_path)
    first = _ran("full", "--shards=2", str(four), folder=tmp_path)
    four.write_text(four.read_text().replace("3 != 3", "3 != 4"))
    second = _ran("full", "--shards=2", str(four), folder=tmp_path)
    third = _ran("full", "--shards=2", str(four), folder=tmp_path)

    codes = [ran.returncode for ran in (alone, first, second, third)]
    assert codes == [0, 1, 0, 0]
    assert "has passed before" not in first.stderr
    assert "failed: 2;" in first.stderr
    assert "2 passed" in first.stdout
    assert "shard 1 of 2 has passed before" in second.stderr
    assert "shard 2 of 2: " in second.stderr
    assert third.stderr.count("has passed before") == 2


@pytest.mark.parametrize("only", ["0", "3"])
def test_a_shard_that_does_not_exist_is_refused(only: str) -> None:
    with pytest.raises(SystemExit, match=f"--only takes 1 to 2, got {only}"):
        suite.run_full(2, only, [])


def test_applications_are_those_of_the_shipped_run_and_no_others(tmp_path: Path) -> None:
    ran = _ran("apps", "--only=atlantis", folder=tmp_path)

    assert ran.returncode
    assert "--only takes fossil, mediawiki, " in ran.stderr
