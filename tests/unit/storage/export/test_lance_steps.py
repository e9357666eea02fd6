"""The format `lance`: what its library reads back, the same bytes each time, a full disk, and no library."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lance.file import LanceFileReader
from source_tree import ROOT
from support.runs.exports import exported
from support.runs.memory_run import RULE, contents, small_run, tables_of

from schemas.errors import BadConfig
from storage.export.format_factory import FormatParts, make_format
from storage.export.lance_steps import LanceSteps
from storage.export.output_folder import MANIFEST, MARK
from storage.publish.plan.episode_reader import EpisodeReader
from storage.publish.plan.selection import select

SPLITS = ("test", "train", "validation")

CODE = """
import os, resource, signal, sys
from pathlib import Path
from support.runs.exports import exported
from support.runs.memory_run import small_run
from schemas.errors import Unwritable
from storage.export import lance_steps

lance_steps._BATCH_ROWS = 2

class Dying(lance_steps.LanceSteps):
    left = 9
    def pieces(self, source, counts):
        for piece in super().pieces(source, counts):
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)
            yield piece

to = Path(sys.argv[2])
if sys.argv[1] == "kill":
    exported(small_run().seal(), Dying(), to)
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))
try:
    exported(small_run().seal(), lance_steps.LanceSteps(), to)
except Unwritable as error:
    print(error)
"""


def broken(how: str, to: Path) -> subprocess.CompletedProcess[str]:
    """Return an export in a process of its own that is killed, or whose disk is full."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    return subprocess.run(
        [sys.executable, "-c", CODE, how, str(to)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_every_step_is_read_back_alone_as_it_was_recorded(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    report = exported(snapshot, LanceSteps(), tmp_path)
    tables = tables_of(snapshot)
    episodes = EpisodeReader(tables).read(select(tables, RULE, include_rejected=False).published)
    recorded = {
        (source.acceptance.split, source.episode.episode_id, step.step): (source, step)
        for source in episodes
        for step in source.episode.steps
    }

    found = 0
    for split in SPLITS:
        reader = LanceFileReader(str(tmp_path / f"{split}-00000.lance"))
        for number in reversed(range(reader.num_rows())):
            [row] = reader.take_rows([number]).to_table().to_pylist()
            source, step = recorded[split, row["episode_id"], row["step"]]
            assert row["screenshot"]["bytes"] == step.screenshot.bytes
            assert row["action_type"] == step.action.type
            assert row["instruction"] == source.task.instruction
            assert row["template_id"] == source.task.template_id
            assert row["accepted"]
            found += 1
    assert found == len(recorded) == report.lines == report.counts["rows"] > 0


def test_the_same_run_gives_the_same_files_and_a_lost_one_is_written_again(tmp_path: Path) -> None:
    for name in "ab":
        assert exported(small_run().seal(), LanceSteps(), tmp_path / name).written
    whole = contents(tmp_path / "a")

    assert whole == contents(tmp_path / "b")
    assert whole.keys() == {MANIFEST, *(f"{split}-00000.lance" for split in SPLITS)}
    assert not exported(small_run().seal(), LanceSteps(), tmp_path / "a").written
    (tmp_path / "a" / "train-00000.lance").unlink()
    assert exported(small_run().seal(), LanceSteps(), tmp_path / "a").written
    assert contents(tmp_path / "a") == whole


def test_a_killed_export_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    done = broken("kill", tmp_path / "killed")
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = contents(tmp_path / "killed").keys()
    assert MARK in left
    assert any(Path(name).parts[0].startswith(".tmp-") for name in left)

    again = broken("go on", tmp_path / "whole")
    assert "cannot be written" in again.stdout, again.stderr
    for name in ("killed", "whole"):
        exported(small_run().seal(), LanceSteps(), tmp_path / name)

    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_without_its_library_the_format_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "storage.export.lance_steps")
    monkeypatch.setitem(sys.modules, "lance.file", None)

    with pytest.raises(BadConfig, match=r"^--format: .*pip install 'stepmill\[lance\]'"):
        make_format("lance", FormatParts())
