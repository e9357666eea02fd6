"""Harbor reads the directories that `stepmill tasks export` writes, and runs them where a Python is that it wants.

Harbor wants Python 3.12. Its model of a `task.toml` loads without, from its wheel. Where such an interpreter is found,
`harbor run` itself is called, with a folder in the place of each container.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from environments import run
from source_tree import ROOT
from support.inputs.harbor_tasks import TOKEN, export, serving
from support.runs.commands import UNREPLAYED, stepmill

pytestmark = pytest.mark.timeout(3600)

HERE = Path(__file__).parent / "seats"
HARBOR = "harbor==0.26.0"
GOLDEN = ROOT / "tests/unit/generators/tasks/harbor/task.toml"
HOME = ROOT / ".venv-trainers" / "harbor"

MADE = (
    "--set=tasks.include=['click-test','enter-text']",
    "--set=tasks.seeds=[0,1]",
    "--set=browser.sessions=2",
    "--set=publish.to=[]",
    "--no-prefect",
    *UNREPLAYED,
)


def python() -> str | None:
    """Return an interpreter that Harbor runs in; None: there is none."""
    named = [shutil.which(f"python3.{minor}") for minor in (12, 13, 14)]
    kept = sorted(Path.home().glob(".pyenv/versions/3.1[234].*/bin/python"))
    for found in (*filter(None, named), *map(str, kept)):
        if subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    return None


def uv() -> Path:
    return ROOT / run("sh", ROOT / "setup.sh", "uv").strip()


def test_harbors_own_model_reads_the_golden_task(tmp_path: Path) -> None:
    """The wheel is unpacked, and the model loaded by the Python of the tests."""
    wheel = ("--no-deps", "--python-version", "3.12", "--target", tmp_path, HARBOR)
    run(uv(), "pip", "install", "--quiet", "--python", sys.executable, *wheel)
    told = json.loads(run(sys.executable, HERE / "read_harbor.py", tmp_path, GOLDEN))
    assert told == {
        "name": "stepmill/click-button-3-" + told["name"].rpartition("-")[2],
        "schema_version": "1.4",
        "env": ["STEPMILL_TOKEN", "STEPMILL_URL"],
        "unknown": [],
    }


@pytest.mark.skipif(python() is None, reason="Harbor wants Python 3.12, and there is none")
def test_harbor_runs_an_oracle_nobody_and_a_server_that_has_gone(tmp_path: Path) -> None:
    made = stepmill("generate", "--run", str(tmp_path / "run"), *MADE)
    assert made.code == 0, made.err
    tasks = tmp_path / "tasks"
    assert len(export(tmp_path / "run", tasks)) == 4
    with serving(tmp_path / "served", tasks) as url:
        assert rewards(tmp_path, tasks, "oracle", url) == ([1.0] * 4, [])
        assert rewards(tmp_path, tasks, "nop", url) == ([0.0] * 4, [])
    gone = rewards(tmp_path / "gone", tasks, "oracle", url)
    assert gone == ([], ["RewardFileNotFoundError"] * 4)


def rewards(folder: Path, tasks: Path, agent: str, url: str) -> tuple[list[float], list[str]]:
    """Return the rewards of Harbor's trials, and the exceptions of those that have none."""
    if not (HOME / "bin" / "harbor").exists():
        run(uv(), "venv", "--quiet", "--python", str(python()), HOME)
        run(uv(), "pip", "install", "--quiet", "--python", HOME / "bin" / "python", HARBOR)
    run(
        *(HOME / "bin" / "harbor", "run", "--path", tasks, "--agent", agent),
        *("--env", "harbor_folder:FolderEnvironment", "--n-concurrent", "2"),
        *("--jobs-dir", folder, "--job-name", agent, "--yes", "--quiet"),
        STEPMILL_URL=url,
        STEPMILL_TOKEN=TOKEN["STEPMILL_TOKEN"],
        PYTHONPATH=str(HERE),
        HARBOR_TELEMETRY="off",
    )
    trials = [read(path) for path in (folder / agent).glob("*/result.json")]
    got = [one["verifier_result"]["rewards"]["reward"] for one in trials if one["verifier_result"]]
    lost = [one["exception_info"]["exception_type"] for one in trials if one["exception_info"]]
    return got, lost


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
