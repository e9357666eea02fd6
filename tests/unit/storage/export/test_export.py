"""An export: what it takes, where it may lie, and how it survives being killed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from source_tree import ROOT
from support.runs.exports import exported, lines
from support.runs.memory_run import (
    RULE,
    TEST,
    TRAIN,
    VALIDATION,
    contents,
    small_run,
    tables_of,
    written_at,
)

from schemas.errors import BadConfig, Damaged, NotFound, OtherRun, Unwritable
from schemas.tables.tables import arrow_schema
from storage.export.atif import Atif
from storage.export.line_columns import CARD
from storage.export.output_folder import MANIFEST, MARK
from storage.export.registry import Pictures
from storage.export.verifiers import Verifiers
from storage.publish.plan import episode_reader
from storage.publish.plan.selection import select

TRACES = Verifiers(pictures=Pictures.FILES)


def test_accepted_episodes_are_exported_by_split_and_the_others_are_not(tmp_path: Path) -> None:
    report = exported(small_run().seal(), TRACES, tmp_path)
    found = {name: (tmp_path / f"{name}.jsonl").read_text().count("\n") for name in splits()}

    assert report.episodes == report.lines == 10
    assert found == {"train": 3, "validation": 4, "test": 3}
    assert {line["task"]["data"]["name"] for line in lines(tmp_path)} == {TRAIN, VALIDATION, TEST}
    assert all(line["info"]["accepted"] for line in lines(tmp_path))


def splits() -> tuple[str, ...]:
    return ("train", "validation", "test")


def test_rejected_episodes_are_exported_where_they_would_be_published(tmp_path: Path) -> None:
    report = exported(small_run().seal(), TRACES, tmp_path, include_rejected=True)

    assert report.lines == 12
    assert sum(not line["info"]["accepted"] for line in lines(tmp_path)) == 2


def test_the_same_again_writes_nothing_and_elsewhere_gives_the_same_bytes(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    first = exported(snapshot, TRACES, tmp_path / "a")
    before = written_at(tmp_path / "a")

    again = exported(snapshot, TRACES, tmp_path / "a")
    exported(snapshot, TRACES, tmp_path / "b")

    assert (first.written, again.written) == (True, False)
    assert again.model_copy(update={"written": True}) == first
    assert written_at(tmp_path / "a") == before
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_what_is_read_together_does_not_decide_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = small_run().seal()
    exported(snapshot, TRACES, tmp_path / "a")
    monkeypatch.setattr(episode_reader, "PIECE_BYTES", 1)
    exported(snapshot, TRACES, tmp_path / "b")

    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_no_more_is_read_together_than_a_piece_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of(small_run().seal())
    chosen = list(select(tables, RULE, include_rejected=True).published)
    size = (chosen[0].n_steps + 1) * chosen[0].picture_bytes
    monkeypatch.setattr(episode_reader, "PIECE_BYTES", 3 * size)
    pieces = list(episode_reader._pieces(iter(chosen)))

    assert [len(piece) for piece in pieces] == [3, 3, 3, 3]
    assert [item for piece in pieces for item in piece] == chosen


def test_a_file_that_was_lost_is_written_again(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    exported(snapshot, TRACES, tmp_path)
    before = contents(tmp_path)
    next(tmp_path.rglob("*.jpg")).unlink()

    assert exported(snapshot, TRACES, tmp_path).written
    assert contents(tmp_path) == before


def test_the_manifest_says_what_is_there(tmp_path: Path) -> None:
    report = exported(small_run().seal(), TRACES, tmp_path)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    files = {name: data for name, data in contents(tmp_path).items() if name != MANIFEST}

    assert report.bytes == sum(map(len, files.values()))
    (guide,) = manifest["guides"]
    assert guide["path"] == CARD
    assert guide["sha256"] == hashlib.sha256(files[CARD]).hexdigest()
    assert manifest["files"] == sum(name.endswith(".jpg") for name in files) == report.files - 1
    assert [file["lines"] for file in manifest["lines"]] == [3, 3, 4]
    assert manifest["made_of"]["format"] == "verifiers"
    assert manifest["counts"] == {"calls": 8, "lines": 10, "trainable": 0}


@pytest.mark.parametrize("differs", ["format", "version", "run", "include_rejected"])
def test_another_export_is_refused_and_nothing_is_changed(tmp_path: Path, differs: str) -> None:
    run = small_run()
    snapshot = run.seal()
    exported(snapshot, TRACES, tmp_path)
    before = contents(tmp_path)

    with pytest.raises(OtherRun, match=differs):
        exported(
            run.seal() if differs == "version" else snapshot,
            Atif() if differs == "format" else TRACES,
            tmp_path,
            run_id="f" * 32 if differs == "run" else "0123456789abcdef0123456789abcdef",
            include_rejected=differs == "include_rejected",
        )

    assert contents(tmp_path) == before


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(Unwritable, match=r"not empty.*thesis\.txt"):
        exported(small_run().seal(), TRACES, tmp_path)

    assert set(contents(tmp_path)) == {"thesis.txt"}


def test_a_foreign_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"run": 1}')

    with pytest.raises(Unwritable, match="is not an export's"):
        exported(small_run().seal(), TRACES, tmp_path)


def test_the_folder_of_a_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "run.json").write_text("{}")

    with pytest.raises(BadConfig, match="folder of a run"):
        exported(small_run().seal(), TRACES, tmp_path / "export")

    assert not (tmp_path / "export").exists()


def test_a_place_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(Unwritable):
        exported(small_run().seal(), TRACES, tmp_path / "file" / "export")


def test_a_version_without_episodes_is_refused(tmp_path: Path) -> None:
    run = small_run()
    run.rows.clear()

    with pytest.raises(NotFound):
        exported(run.seal(), TRACES, tmp_path / "export")

    assert not (tmp_path / "export").exists()


def test_a_run_of_nothing_accepted_gives_an_empty_export(tmp_path: Path) -> None:
    run = small_run()
    run.rows.pop("verdicts")
    report = exported(run.seal(), TRACES, tmp_path)

    assert (report.episodes, report.lines, report.files) == (0, 0, 0)


def test_a_missing_step_stops_the_export(tmp_path: Path) -> None:
    run = small_run()
    rows = [row for row in run.rows["steps"][0].to_pylist() if row["step"] != 1]
    run.rows["steps"][0] = pa.Table.from_pylist(rows, schema=arrow_schema("steps"))

    with pytest.raises(Damaged, match="step 1 is missing"):
        exported(run.seal(), TRACES, tmp_path)

    assert not (tmp_path / MANIFEST).exists()
    assert (tmp_path / MARK).exists()


def test_a_picture_that_is_not_the_recorded_one_stops_the_export(tmp_path: Path) -> None:
    run = small_run()
    rows = run.rows["steps"][0].to_pylist()
    rows[0]["screenshot"]["bytes"] = b"something else"
    run.rows["steps"][0] = pa.Table.from_pylist(rows, schema=arrow_schema("steps"))

    with pytest.raises(Damaged, match="not the recorded one"):
        exported(run.seal(), TRACES, tmp_path)


DYING = """
import os, signal, sys
from pathlib import Path
from support.runs.exports import exported
from support.runs.memory_run import small_run
from storage.export.registry import Pictures
from storage.export.verifiers import Verifiers

def dying(pieces, left):
    for piece in pieces:
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left.pop()
        yield piece

class Dying(Verifiers):
    left = [None] * int(sys.argv[2])
    def pieces(self, told, tally):
        return dying(super().pieces(told, tally), self.left)

exported(small_run().seal(), Dying(pictures=Pictures.FILES), Path(sys.argv[1]))
"""


@pytest.mark.parametrize(
    "pieces", [7, *(pytest.param(pieces, marks=pytest.mark.full) for pieces in (0, 27))]
)
def test_a_killed_export_goes_on_to_the_same_bytes(tmp_path: Path, pieces: int) -> None:
    """10 lines and 18 pictures are written: the last kill comes with the last of them."""
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    run = subprocess.run(
        [sys.executable, "-c", DYING, str(killed), str(pieces)],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        capture_output=True,
    )
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()
    assert (killed / MARK).exists()
    assert not (killed / MANIFEST).exists()
    assert not list(killed.glob("*.jsonl"))
    with pytest.raises(OtherRun):
        exported(small_run().seal(), Atif(), killed)

    exported(small_run().seal(), TRACES, killed)
    exported(small_run().seal(), TRACES, whole)

    assert contents(killed) == contents(whole)
