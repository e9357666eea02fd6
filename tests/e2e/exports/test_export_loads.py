"""Lines that `stepmill export` writes, read by `datasets` with one schema: models', and the clumsy policy's."""

from pathlib import Path
from typing import Any

import pytest
from support.runs.commands import called
from support.runs.exports import lines, loaded_bare, loaded_folder
from support.runs.library import Kept, RunLibrary

from schemas.tasks.task import SPLITS

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("format_", ["chat", "verifiers", "grounding", "openenv"])
def test_every_split_loads_by_its_folder_and_by_its_files(
    run_library: RunLibrary, tmp_path: Path, format_: str
) -> None:
    run, to = run_library.read(Kept.MODEL).url, tmp_path / "to"
    said = called(
        "export", run, f"--format={format_}", f"--to={to}", "--include-rejected", "--json"
    )
    assert said.code == 0, said.err
    written = list(lines(to))

    assert {path.stem for path in to.glob("*.jsonl")} == {*SPLITS}
    assert same(loaded_folder(to, tmp_path / "cache"), written)
    # Without the card the reader takes a text that is JSON, as some replies are, for the object that it says.
    bare = loaded_bare(to, tmp_path / "cache")
    assert [row["id"] for row in bare] == [line["id"] for line in written]


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same, but for what the reader drops of a number after ten decimal places."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(abs(one - other) < 1e-9 if isinstance(one, float) else one == other)
