"""Holds a command that got a wrong input to the rule: what it says, what it writes, what it takes."""

import contextlib
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from support.runs.commands import Said, called

from flows.terminal import ExitCode, strip_control_chars

CPU_SECONDS = 10.0
"""What a refusal may cost; the first ones load libraries."""

MEGABYTES = 600
"""By how much a refusal may raise what the process ever took."""

MISTAKES = 12
"""Lines of a refusal of a file in which everything is wrong."""

_MAX_LINE = 1_500
_FURTHER = ("WARNING ", "  ")
"""How lines begin that are no mistake: what is pointed out beside it, and the log of another program."""

NOTHING = {
    "STEPMILL_CHROMIUM": "/bin/false",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "HF_ENDPOINT": "http://127.0.0.1:9",
}
"""An environment that has neither a browser nor a store."""


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """Be in a new folder that holds nothing."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "here"
        place.mkdir()
        with contextlib.chdir(place):
            yield place


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return everything below `folder`, folders too."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else None
    return found


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into `folder`."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def mistakes(said: Said) -> list[str]:
    """Return the lines of a refusal, without what is only pointed out beside it."""
    assert strip_control_chars(said.err) == said.err
    lines = said.err.splitlines()
    assert all(len(line) < _MAX_LINE for line in lines)
    return [line for line in lines if not line.startswith(_FURTHER)]


def harmless(
    *argv: str, here: Path, env: Mapping[str, str] | None = None, output: str = "out"
) -> Said:
    """Run a command that may refuse what it is given.

    It may change nothing in the folder around `here`. Where it refuses nothing it may make a home there,
    and do its work if that is to write `output`.
    """
    before, began, peak = tree(here.parent), time.process_time(), _peak()
    said = called(*argv, env=NOTHING | {"HOME": str(here.parent / "home")} | dict(env or {}))
    assert said.code in (ExitCode.DONE, ExitCode.SHORT, ExitCode.REFUSED), said
    assert "Traceback" not in said.err
    lines = mistakes(said)
    assert len(lines) <= MISTAKES, said.err
    if said.code is ExitCode.REFUSED:
        assert lines or said.out, said
        assert not lines or lines[0].startswith("stepmill: "), said.err
    if said.code is not ExitCode.REFUSED:
        shutil.rmtree(here.parent / "home", ignore_errors=True)
    assert tree(here.parent) == before or (said.code is not ExitCode.REFUSED and output in argv)
    assert time.process_time() - began < CPU_SECONDS
    assert _peak() - peak < MEGABYTES
    return said


def _peak() -> float:
    """Return the most memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
