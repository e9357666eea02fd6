"""Destinations that are something else, full or taken: refused, and left alone."""

import fcntl
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.runs.memory_run import (
    TRAIN,
    MemoryRun,
    commit_unit,
    contents,
    findings,
    make_run_file,
    published,
    small_run,
    written_at,
)

from schemas.errors import BadConfig, OtherRun, Refusal, Unfinished, Unwritable

_OTHER_RUN = "f" * 32


def _foreign_file(to: Path) -> None:
    to.mkdir()
    (to / "thesis.txt").write_text("precious")


def _foreign_manifest(to: Path) -> None:
    to.mkdir()
    (to / "manifest.json").write_text('{"name": "a web app"}')


def _other_dataset(to: Path) -> None:
    published(small_run().seal(), to, run_file=make_run_file(_OTHER_RUN))


def _other_began(to: Path) -> None:
    _other_dataset(to)
    (to / "manifest.json").unlink()
    (to / ".publishing").write_text(_OTHER_RUN)


def _run_folder(to: Path) -> None:
    (to / "tables").mkdir(parents=True)
    (to / "run.json").write_text("{}")


def _below_a_file(to: Path) -> None:
    to.parent.write_text("a file")


@pytest.mark.parametrize(
    ("make", "below", "kind", "message"),
    [
        (_foreign_file, "to", Unwritable, r"is not empty .*thesis\.txt"),
        (_foreign_manifest, "to", Unwritable, r"is not a manifest of a dataset"),
        (_other_dataset, "to", OtherRun, rf"another run \({_OTHER_RUN}"),
        (_other_began, "to", OtherRun, rf"another run \({_OTHER_RUN}"),
        (_run_folder, "to", BadConfig, r"lies in the folder of a run"),
        (lambda to: _run_folder(to.parent), "run/to", BadConfig, r"lies in the folder of a run"),
        (_below_a_file, "file/to", Unwritable, r"cannot be written"),
    ],
    ids=["foreign", "manifest", "other run", "other began", "run", "in run", "below file"],
)
def test_a_destination_that_is_something_else_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], None], below: str, kind: type[Refusal], message: str
) -> None:
    to = tmp_path / below
    make(to)
    before, times = contents(tmp_path), written_at(tmp_path)

    with pytest.raises(kind, match=message) as raised:
        published(small_run().seal(), to)

    assert str(to.parent) in str(raised.value)
    assert (contents(tmp_path), written_at(tmp_path)) == (before, times)


def test_a_run_folder_is_recognised_through_a_link(tmp_path: Path) -> None:
    _run_folder(tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path / "run", target_is_directory=True)

    with pytest.raises(BadConfig, match="lies in the folder of a run"):
        published(small_run().seal(), tmp_path / "link" / "to")


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    """Let the system refuse to make any file larger, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_named_before_anything_is_written(tmp_path: Path) -> None:
    with _files_of_at_most(10_000), pytest.raises(Unwritable, match=str(tmp_path)):
        published(small_run().seal(), tmp_path / "to")

    assert contents(tmp_path) == {}


def test_a_disk_that_fills_up_loses_nothing(tmp_path: Path) -> None:
    run = MemoryRun()
    for number in range(4):
        commit_unit(run, number, TRAIN, tasks=4, attempts=4)
    snapshot = run.seal()

    with _files_of_at_most(70_000), pytest.raises(Unfinished, match=r"cannot be written"):
        published(snapshot, tmp_path / "to")
    published(snapshot, tmp_path / "to")

    assert findings(tmp_path / "to") == []


def test_two_publications_at_once_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    handle = os.open(tmp_path / "data", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(Unwritable, match="another publication is writing here"):
            published(small_run().seal(), tmp_path)
    finally:
        os.close(handle)

    published(small_run().seal(), tmp_path)
    assert findings(tmp_path) == []
