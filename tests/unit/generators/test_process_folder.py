"""The folder of a process goes with it, or, where it was killed, with the next one that makes one."""

import os
import subprocess
import sys
import time
from pathlib import Path

from source_tree import ROOT

from generators.process_folder import clear_abandoned, process_folder

_MAKES = """
import sys, time
from pathlib import Path
from generators.process_folder import process_folder
folder = process_folder(Path(sys.argv[1]))
(folder / "profile").mkdir()
(folder / "profile" / "cookie").write_text("x")
print(folder, flush=True)
if sys.argv[2] == "stay":
    time.sleep(600)
"""


def _start(above: Path, how: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", _MAKES, str(above), how], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_process_has_one_folder_which_goes_with_it(tmp_path: Path) -> None:
    process, folder = _start(tmp_path, "end")
    process.communicate()

    assert process.returncode == 0
    assert folder.parent == tmp_path
    assert not folder.exists()


def test_what_a_killed_process_left_goes_with_the_next_and_a_living_ones_stays(
    tmp_path: Path,
) -> None:
    killed, abandoned = _start(tmp_path, "stay")
    living, kept = _start(tmp_path, "stay")
    killed.kill()
    killed.communicate()
    assert (abandoned / "profile" / "cookie").is_file()

    try:
        own = process_folder(tmp_path)
        again = process_folder(tmp_path)

        assert own == again
        assert own.is_dir()
        assert own.stat().st_mode & 0o777 == 0o711
        assert not abandoned.exists()
        assert (kept / "profile" / "cookie").is_file()
    finally:
        living.kill()
        living.communicate()
    clear_abandoned(tmp_path)
    assert not kept.exists()
    assert own.is_dir()


def test_a_folder_that_is_being_made_stays_and_nothing_else_is_touched(tmp_path: Path) -> None:
    new, old, other = (
        tmp_path / "stepmill-process-new",
        tmp_path / "stepmill-process-old",
        tmp_path / "other",
    )
    for folder in (new, old, other):
        folder.mkdir()
    (other / "file").write_text("x")
    link = tmp_path / "stepmill-process-link"
    link.symlink_to(other)
    past = time.time() - 3_600
    os.utime(old, (past, past))

    clear_abandoned(tmp_path)

    assert new.is_dir()
    assert not old.exists()
    assert link.is_symlink()
    assert (other / "file").is_file()
