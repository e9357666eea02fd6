"""Label Studio's own SDK reads the tasks that `stepmill review` writes, and its annotations come back as reviews.

The SDK has an environment of its own, as a trainer has; no server of Label Studio is started.
"""

import json
import shutil
from pathlib import Path

import pytest
from environments import HERE, python_of, run
from source_tree import ROOT
from support.runs.commands import called

pytestmark = pytest.mark.timeout(3600)


def _read(folder: Path, name: str) -> Path:
    """Export a run to tasks, have the SDK read and answer them, and return its answers."""
    tasks = folder / f"{name}.json"
    said = called(
        "review", str(folder / "run"), "--export", str(tasks), "--format=label-studio", "--json"
    )
    assert said.code == 0, said.err
    answers = folder / f"{name}-answers.json"
    script = HERE / "read_label_studio.py"
    told = run(python_of("label-studio"), script, f"{tasks}.xml", tasks, answers)
    assert json.loads(told) == {"tasks": said.answer["episodes"], "problems": []}
    return answers


def test_tasks_and_annotations_are_what_the_sdk_reads_and_writes(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests/golden/run", tmp_path / "run")
    url = str(tmp_path / "run")

    answers = _read(tmp_path, "first")
    added = called("review", url, "--import", str(answers), "--format=label-studio", "--json")
    counted = called("review", url, "--json")

    assert (added.code, added.answer["added"]) == (0, 6), added.err
    assert counted.answer["results"] == {"accepted": 2, "rejected": 2, "disagreed": 0, "unsure": 0}
    again = called("review", url, "--import", str(answers), "--format=label-studio", "--json")
    assert again.answer["added"] == 0
    _read(tmp_path, "second")  # now with annotations, which the SDK validates too
    back = called(
        "review", url, f"--import={tmp_path / 'second.json'}", "--format=label-studio", "--json"
    )
    assert (back.answer["read"], back.answer["added"]) == (6, 0)
