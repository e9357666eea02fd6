"""Lines that `stepmill export` writes, read by `datasets` with one schema: a teacher's, models' and one episode's."""

from pathlib import Path
from typing import Any

import pytest
from support.runs.commands import called
from support.runs.exports import lines, loaded_bare, loaded_folder
from support.runs.library import Kept, RunLibrary

pytestmark = pytest.mark.browser

FORMATS = {
    Kept.TEACHER: ("verifiers",),
    Kept.MODEL: ("chat", "verifiers", "grounding", "openenv"),
}


@pytest.mark.parametrize(
    ("kept", "format_"), [(k, f) for k, names in FORMATS.items() for f in names]
)
def test_every_split_loads_by_its_folder_and_by_its_files(
    run_library: RunLibrary, tmp_path: Path, kept: Kept, format_: str
) -> None:
    run, to = run_library.read(kept).url, tmp_path / "to"
    said = called(
        "export", run, f"--format={format_}", f"--to={to}", "--include-rejected", "--json"
    )
    assert said.code == 0, said.err
    written = list(lines(to))

    assert len({path.stem for path in to.glob("*.jsonl")}) == (3 if kept is Kept.MODEL else 1)
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
