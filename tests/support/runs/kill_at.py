"""A `stepmill` whose end is decided in advance: killed at a moment, or out of disk from then on.

The program has no hook for this. Python's own audit events tell of every file that is about to be
opened for writing, linked, renamed or removed, and of every program about to be started; commits
to a Delta table and writes to a bucket, which happen where no audit event is raised, are told of
by a wrapper around them. Each such event below one folder has a name, as `link run/spool`, and a
number, so a moment can be any of them, before it happens; the next one is the moment after it.

Run as a script it takes a `Doom` as JSON; it may also be called in a process that was made for it.
The process must be one that can be killed with its whole group.
"""

import contextlib
import os
import resource
import shutil
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeVar

from pydantic import Field

from schemas.base import Record
from storage.lake.delta_table import DeltaHandle
from storage.maintenance.merge_shards import SwapHandle

if TYPE_CHECKING:
    from storage.objects.s3 import S3Store
    from storage.objects.s3.bulk_requests import Write

T = TypeVar("T")

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
SHORT = 32
"""Names from here on are ids, which differ from run to run."""

SMALLEST_PART = 5 << 20
"""Bytes; no store takes less, but for an object's last part."""

GO = "go"
"""The file that opens a gate."""

BASE, NAME = "base", "name"
"""What is kept of a moment: the folder, and the name of the event that was to come."""

_GLANCE = 0.005
_STEADY = 0.9
"""Share of the events that take no pause; the others take up to a tenth of a second."""

NEVER = 1e6
"""Seconds between two lines of progress: what else is on standard error can be held against none."""

_SOON = 1e-6
"""Seconds; an alarm of none would be no alarm."""

_PLACES = {"os.mkdir": 0, "os.rmdir": 0, "os.remove": 0, "os.link": 1, "os.rename": 1}
"""Which argument of an audit event is the path that it changes."""


class Fate(StrEnum):
    KILLED = "killed"
    """The whole process group, by `kill -9`."""
    ALONE = "alone"
    """This process and no other, by an alarm that it does not hear."""
    FULL = "full"
    """Not a byte more can be written to any file, as on a full disk."""


class Instant(Record):
    """When it happens."""

    name: str = "*"
    """The names of the events that count, as a glob."""
    number: int = 1
    """Which of them, from 1."""
    seconds: float = 0.0
    """How long after it: in the middle of whatever comes next."""


class Doom(Record):
    """A command and its fate."""

    argv: tuple[str, ...]
    """What `stepmill` is told."""
    base: Path
    """Where everything lies that the command writes."""
    at: Instant | None = None
    """When; None: never."""
    fate: Fate = Fate.KILLED
    """What happens."""
    scripted: bool = False
    """Pages, browser and site are stand-ins that cost nothing."""
    jitter: int | None = None
    """Seed of small pauses at the events; None: no pauses."""
    environ: dict[str, str] = Field(default_factory=dict)
    """What is in its environment besides; a run in a bucket has its credentials there."""
    part_bytes: int | None = None
    """Objects larger than this go up to a bucket in parts as small as may be; None: as always."""
    trace: Path | None = None
    """Where the names of all events go when it ends by itself."""
    keep: Path | None = None
    """A folder for what lies in `base` before the first event of each name: what a kill would leave then."""
    gate: Path | None = None
    """A folder where it says that it is ready, and waits for `GO`; None: it does not wait."""


def run(doom: Doom) -> int:
    """Carry out the command up to its fate; return its exit code if it lives."""
    if os.getpgrp() != os.getpid():
        os.setsid()
    os.environ.update(doom.environ)
    events = _Events(doom)
    sys.addaudithook(events.hear)
    if doom.environ:
        _tell_of_objects(events, doom.part_bytes)
    for kind, method in (
        (DeltaHandle, "create"),
        (DeltaHandle, "write"),
        (SwapHandle, "write_swap"),
    ):
        setattr(kind, method, events.around(method, getattr(kind, method)))
    if doom.scripted:
        from support.runs import fake_miniwob  # noqa: PLC0415 - heavy, and only for this

        fake_miniwob.install()
    from flows.cli import live_progress as driver  # noqa: PLC0415 - not before the hook is there
    from flows.cli.main import main  # noqa: PLC0415 - the same

    driver.LINE_SECONDS = NEVER  # how many lines there are is a matter of the machine alone

    if doom.gate is not None:
        _wait_at(doom.gate)
    code = main(doom.argv)
    if doom.trace is not None:
        doom.trace.write_text("\n".join(events.names))
    return code


def _wait_at(gate: Path) -> None:
    (gate / str(os.getpid())).touch()
    while not (gate / GO).exists():
        threading.Event().wait(_GLANCE)


def _tell_of_objects(events: "_Events", part_bytes: int | None) -> None:
    """Let a bucket's store tell of its writes: no audit event of Python's does."""
    from storage.objects.s3 import S3Store, bulk_requests  # noqa: PLC0415 - heavy, and only for this

    for method in ("put", "put_new", "replace", "delete"):
        setattr(S3Store, method, events.around_object(method, getattr(S3Store, method)))
    if part_bytes is not None:
        values = {
            "MULTIPART_BYTES": part_bytes,
            "PART_BYTES": max(part_bytes, SMALLEST_PART),
            "_put_part": events.around_part(bulk_requests._put_part),
        }
        for name, value in values.items():
            setattr(bulk_requests, name, value)


class _Events:
    """Hears of events, and does what is to be done at one of them."""

    def __init__(self, doom: Doom) -> None:
        self._doom = doom
        self._base = f"{doom.base}/"
        self._lock = threading.Lock()
        self._random = None if doom.jitter is None else Random(doom.jitter)
        self._left = doom.at.number if doom.at is not None else 0
        self.names: list[str] = []

    def hear(self, event: str, args: tuple[object, ...]) -> None:
        """Hear an audit event."""
        if event == "open":
            path, _, flags = args
            changes = isinstance(flags, int) and flags & WRITING
            self._changing("open", path if changes else None)
        elif event in _PLACES:
            self._changing(event.removeprefix("os."), args[_PLACES[event]])
        elif event == "subprocess.Popen":
            self._happening(f"start {Path(os.fspath(str(args[0]))).name}")

    def around(self, method: str, real: Callable[..., T]) -> Callable[..., T]:
        """Return `real`, a method of a table's handle, with an event before and after it."""

        def told(handle: DeltaHandle, *args: object) -> T:
            self._happening(f"before {method} {handle.name}")
            try:
                return real(handle, *args)
            finally:
                self._happening(f"after {method} {handle.name}")

        return told

    def around_object(
        self, method: str, real: Callable[..., Awaitable[T]]
    ) -> Callable[..., Awaitable[T]]:
        """Return `real`, a method of a bucket's store, with an event before and after it."""

        async def told(store: "S3Store", what: object, *args: object, **more: object) -> T:
            root = "to" if store.url.endswith("/to") else "run"
            place = "/".join([root, *(_folders(what) if isinstance(what, str) else [])])
            self._happening(f"before {method} {place}")
            try:
                return await real(store, what, *args, **more)
            finally:
                self._happening(f"after {method} {place}")

        return told

    def around_part(self, real: Callable[..., T]) -> Callable[..., T]:
        """Return `real`, which puts a part of an object, with an event before and after it."""

        def told(client: object, write: "Write", *args: object) -> T:
            place = "/".join(_folders(write.key))
            self._happening(f"before part {place}")
            try:
                return real(client, write, *args)
            finally:
                self._happening(f"after part {place}")

        return told

    def _changing(self, what: str, path: object) -> None:
        if isinstance(path, str | os.PathLike):
            place = os.fspath(path)
            if isinstance(place, str) and place.startswith(self._base):
                folders = _folders(place.removeprefix(self._base))
                self._happening(f"{what} {'/'.join(folders)}".rstrip())

    def _happening(self, name: str) -> None:
        at = self._doom.at
        with self._lock:
            if self._doom.keep is not None and name not in self.names:
                self._copy(self._doom.keep / str(len(self.names)), name)
            self.names.append(name)
            if at is not None and fnmatchcase(name, at.name):
                self._left -= 1
                if not self._left:
                    _strike(self._doom.fate, at.seconds)
            pause = self._random.random() if self._random is not None else 0.0
        if pause > _STEADY:
            threading.Event().wait(pause - _STEADY)

    def _copy(self, to: Path, name: str) -> None:
        """Copy what lies there; a commit that is being written may end meanwhile, as before a kill."""
        shutil.copytree(self._doom.base, to / BASE, copy_function=_copy_if_there)
        (to / NAME).write_text(name)


def _copy_if_there(file: str, to: str) -> str:
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(file, to)
    return to


def _folders(path: str) -> list[str]:
    """Return the folders of a path but for those that are ids."""
    return [part for part in path.split("/")[:-1] if len(part) < SHORT]


def _strike(fate: Fate, seconds: float) -> None:
    if fate is Fate.FULL:
        # Every write then fails in the system itself, in whatever language it is asked for:
        # Python lets a process live that goes over this limit.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    elif fate is Fate.ALONE:
        # The alarm's default action ends the process in the kernel, whatever it is doing.
        signal.setitimer(signal.ITIMER_REAL, max(seconds, _SOON))
    elif seconds:
        timer = threading.Timer(seconds, os.killpg, (0, signal.SIGKILL))
        timer.daemon = True
        timer.start()
    else:
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.exit(run(Doom.model_validate_json(sys.argv[1])))
