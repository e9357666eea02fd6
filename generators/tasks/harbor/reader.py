"""Reads directories of Harbor as a source of tasks: those that name a task of Stepmill, and no others.

A directory that `stepmill tasks export` wrote has the task in its `task.toml`, in the table `metadata.stepmill`, with the
columns of a task file. Any other one is a container of somebody else's, which no site here serves.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from generators.tasks.harbor.directory import CONFIG
from schemas.errors import BadTasks

TABLE = "metadata.stepmill"
"""The table of a `task.toml` with the task."""


def read_directories(folder: Path) -> Iterator[tuple[str, Mapping[str, object] | str]]:
    """Yield the name of each task's directory in a folder, with the row of its task, or what is wrong with it.

    A folder that is a task's directory itself is the only one.

    Raises:
        BadTasks: the folder has no task's directory.
        OSError: a file cannot be read.
    """
    alone = (folder / CONFIG).is_file()
    found = [folder] if alone else sorted(path.parent for path in folder.glob(f"*/{CONFIG}"))
    if not found:
        raise BadTasks(
            f"'{folder}' is a folder and cannot be read as tasks, because none of its folders has a {CONFIG}: expected "
            "a task file, or a folder of Harbor's task directories"
        )
    for directory in found:
        yield directory.name, _row((directory / CONFIG).read_bytes())


def _row(data: bytes) -> Mapping[str, object] | str:
    try:
        stated = tomllib.loads(data.decode())
    except ValueError as error:  # of UTF-8 too
        return f"{CONFIG} is no TOML: {error}"
    metadata = stated.get("metadata")
    row = metadata.get("stepmill") if isinstance(metadata, dict) else None
    if not isinstance(row, dict):
        return (
            f"{CONFIG} lacks [{TABLE}], which names the task by site, template_id and seed: a task of Harbor that is "
            "not of Stepmill has no page here; run it with Harbor itself"
        )
    return row
