"""Trainers in environments of their own, and what is laid before them: rows, a model, the page's files."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from source_tree import ROOT

from storage.export.dataset_info import DATASET_INFO

HERE = Path(__file__).parent

Row = dict[str, Any]


class Trainer(NamedTuple):
    """How a trainer is handed the rows."""

    name: str
    """Of its lock, its environment and its reader."""
    spelling: str = "columns"
    """As `stepmill export --spelling` names it."""
    folder: str = "demo-sft"
    """As its section of the page names the exported rows."""

    @property
    def file(self) -> str:
        """The rows that it reads, in the folder."""
        return "train-00000.parquet" if self.spelling == "columns" else "train.jsonl"


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command without the caches of others, and return what it prints; fail with its last words."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=kept | environment,
    )
    assert done.returncode == 0, f"{command[0]} {command[1]} failed:\n{done.stderr[-4000:]}"
    return done.stdout


def python_of(name: str) -> Path:
    """Return the interpreter of a trainer's environment, which is made where it is missing."""
    run("sh", ROOT / "setup.sh", "trainer", name)
    return ROOT / ".venv-trainers" / name / "bin" / "python"


def files_of_the_page(page: str = "training.md") -> dict[str, str]:
    """Return the files that a page gives, by name."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(r"^```\w+ file (\S+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return dict(found)


def rows_of(trainer: Trainer, export: Path, most: int) -> list[Row]:
    """Return rows of an export's training split from all over it."""
    file = export / trainer.file
    if trainer.spelling == "columns":
        rows = pq.read_table(file).to_pylist()
    else:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= most, f"the run gives {len(rows)} rows; make one with more"
    return [rows[number * len(rows) // most] for number in range(most)]


def lay_info_beside(rows: Path, like: Path) -> None:
    """Copy the `dataset_info.json` of an export beside a file of rows, if it has one."""
    info = like / DATASET_INFO
    if info.exists():
        shutil.copy(info, rows.parent)


class Reader:
    """Hands rows to a trainer in a folder that has what the page tells people to make.

    `models` is where the model of each trainer is made once.
    """

    def __init__(self, folder: Path, *, models: Path) -> None:
        self.folder = folder
        self._models = models
        for name, text in files_of_the_page().items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")

    def write(self, trainer: Trainer, rows: Sequence[Row], like: Path) -> Path:
        """Write rows as an export wrote them into a folder."""
        path = self.folder / trainer.folder / trainer.file
        path.parent.mkdir()
        if trainer.spelling == "columns":
            schema = pq.read_schema(like / trainer.file)
            pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path)
        else:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        lay_info_beside(path, like)
        return path

    def leave_out(self, words: str, *, file: str) -> None:
        """Leave words out of a file of the page."""
        text = (self.folder / file).read_text(encoding="utf-8")
        assert text.count(words) == 1
        (self.folder / file).write_text(text.replace(words, ""), encoding="utf-8")

    def ask(self, trainer: Trainer, rows: Path, *script: str) -> list[Row]:
        """Return the lines that a script prints of rows; its trainer's reader, if none is named.

        What follows the script's name are its options.
        """
        python = python_of(trainer.name)
        quiet = {
            "HOME": str(self.folder),
            "HF_HOME": str(self.folder / "hf"),
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "DO_NOT_TRACK": "1",
            "CUDA_VISIBLE_DEVICES": "",
        }
        model = self._models / trainer.name
        if not model.exists():
            run(python, HERE / "tiny_model.py", model, cwd=self.folder, **quiet)
        name, *options = script or (f"read_{trainer.name}.py",)
        told = run(python, HERE / name, rows, model, *options, cwd=self.folder, **quiet)
        return [json.loads(line) for line in told.splitlines()]
