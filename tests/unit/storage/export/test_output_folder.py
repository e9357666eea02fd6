"""The folder of an export, against a full disk, a damaged mark and somebody who was there first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.memory_run import contents

from schemas.errors import OtherRun, Unwritable
from storage.export.output_folder import MANIFEST, MARK, OutputFolder

FULL = """
import resource, sys
from pathlib import Path
from schemas.errors import Unwritable
from storage.export.output_folder import OutputFolder

outlet = OutputFolder(Path(sys.argv[1]), {"format": "a"})
assert outlet.find_existing() is None
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    with outlet.lock():
        for number in range(1_000):
            outlet.line("train", {"number": number, "text": "x" * 50})
except Unwritable as error:
    print(error)
"""


def finish(outlet: OutputFolder) -> None:
    """Write an export of one line."""
    with outlet.lock():
        outlet.line("train", {"number": 1})
        outlet.finish(episodes=1, counts={})


def test_a_full_disk_is_told_in_our_words_and_the_export_goes_on_later(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be written: File too large; correct that, and run this again" in done.stdout

    finish(OutputFolder(tmp_path, {"format": "a"}))

    assert contents(tmp_path).keys() == {"train.jsonl", MANIFEST}


@pytest.mark.parametrize("damage", [b"", b"\xff", b'{"run": '])
def test_a_mark_that_says_nothing_is_refused(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / MARK).write_bytes(damage)

    with pytest.raises(Unwritable, match="export to an empty folder"):
        OutputFolder(tmp_path, {"format": "a"}).find_existing()

    assert contents(tmp_path) == {MARK: damage}


def test_who_finished_while_another_was_reading_is_left_alone(tmp_path: Path) -> None:
    late = OutputFolder(tmp_path, {"format": "b"})
    assert late.find_existing() is None
    finish(OutputFolder(tmp_path, {"format": "a"}))
    before = contents(tmp_path)

    with pytest.raises(OtherRun, match="differs in format"):
        finish(late)

    assert contents(tmp_path) == before


def test_who_was_killed_while_another_was_reading_is_left_alone(tmp_path: Path) -> None:
    late, killed = (OutputFolder(tmp_path, {"format": name}) for name in "ba")
    assert (late.find_existing(), killed.find_existing()) == (None, None)
    with pytest.raises(KeyboardInterrupt), killed.lock():
        raise KeyboardInterrupt
    before = contents(tmp_path)

    with pytest.raises(OtherRun, match="differs in format"):
        finish(late)

    assert contents(tmp_path) == before
