"""The lines of Python that load a published dataset, for its card and for whoever published it.

`datasets` opens a folder by its path and a repository by its name, a branch as its revision. A
bucket it opens only file by file: there the lines name the files of one split.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.task import SPLITS
from storage.publish.card.escape import python_string
from storage.publish.plan.manifest import PublishedFile, rows_by_config


@dataclass(frozen=True, slots=True)
class DatasetName:
    """What readers call a dataset."""

    name: str
    """A folder, a bucket's URL or a repository."""
    branch: str | None = None
    """Of the repository; None: its main one, or there are none."""
    by_file: bool = False
    """It is opened file by file."""


def loading_lines(files: Sequence[PublishedFile], called: DatasetName) -> list[str]:
    """Return the three lines of Python that load the dataset."""
    rows = rows_by_config(files)
    config = "steps" if "steps" in rows else next(iter(rows))
    split = next(split for split in SPLITS if split in rows[config])
    shown = '[0]["screenshot"].load()' if config == "steps" else "[0]"
    return [
        "from datasets import load_dataset",
        f"data = load_dataset({_arguments(called, config, split)})",
        f"data{shown}",
    ]


def _arguments(called: DatasetName, config: str, split: str) -> str:
    if called.by_file:
        files = python_string(f"{called.name}/data/{config}/{split}-*.parquet")
        return f'"parquet", data_files={{"{split}": {files}}}, split="{split}"'
    branch = "" if called.branch is None else f", revision={python_string(called.branch)}"
    return f'{python_string(called.name)}, "{config}", split="{split}"{branch}'
