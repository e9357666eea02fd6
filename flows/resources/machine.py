"""Compares the needs of a run's sessions with the limits of the machine.

A limit that is reached in the middle of a run looks like a browser that fails: at 256 descriptors half
of all episodes did. So the limits are checked before the first browser starts. The limit on descriptors
is raised if allowed; `stepmill doctor` shows the others with the number to set.

The needs are linear in the sessions: 1.5 times the maximum use of measured runs with 4 to 32 sessions.
"""

import errno
import logging
import os
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from schemas.errors import BadConfig
from schemas.figures import write_apart
from storage.objects.urls import folder, is_bucket

LOG = logging.getLogger(__name__)

_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True)
class Need:
    """The need of a resource: a fixed part, and a part for each session."""

    own: int
    """The fixed part."""
    each: int
    """The part for each session."""

    def of(self, sessions: int) -> int:
        """Return the need of this number of sessions."""
        return self.own + self.each * sessions

    def sessions(self, limit: int) -> int:
        """Return the number of sessions that a limit allows; may be 0."""
        return max(0, (limit - self.own) // self.each)


DESCRIPTORS = Need(own=96, each=8)
"""Open files of one process, this program or a browser's: 69 and 82 were seen at 4 sessions, 133 and 138 at 16."""

THREADS = Need(own=300, each=18)
"""Threads of this user, which Linux counts as processes: 243 were seen at 4 sessions, 379 at 16."""

MEMORY = Need(own=1 * _GIB, each=40 * _MIB)
"""Bytes: 766 MiB were seen at 4 sessions, 986 at 16."""

SHARED_MEMORY = Need(own=16 * _MIB, each=1 * _MIB)
"""Bytes of `/dev/shm`, through which a browser's processes hand over pictures and scripts."""

PORTS = Need(own=64, each=16)
"""Loopback ports for connections of pages."""

DISK = 1 * _GIB
"""Bytes on disk of a run of a few thousand episodes, and of temporary files."""


@dataclass(frozen=True)
class Machine:
    """The limits of a machine; None if it sets no limit or does not report it."""

    descriptors: int | None
    """Open files of a process at most, after raising."""
    threads: int | None
    """Threads of this user, or of its container, at most."""
    memory: int
    """Free bytes."""
    shared_memory: int | None
    """Free bytes of `/dev/shm`; None if it does not exist."""
    ports: int | None
    """Ports that connections may take."""
    disk: int
    """Free bytes where the run is, if that is a folder, or else in the working folder."""
    temporary: int
    """Free bytes of the folder for temporary files, where browsers keep their profiles."""


@dataclass(frozen=True)
class Shortage:
    """A resource of which sessions need more than the machine allows."""

    name: str
    """The name of the resource."""
    found: str
    """The amounts available and needed."""
    remedy: str
    """The setting to change."""
    fatal: bool = False
    """Whether sessions cannot work with the limit."""


def hold_against(sessions: int, machine: Machine) -> Iterator[Shortage]:
    """Yield every resource of which `sessions` need more than a machine allows."""
    limits = (
        (machine.descriptors, DESCRIPTORS, "descriptors", "open files a process", "ulimit -n {}"),
        (
            machine.threads,
            THREADS,
            "processes",
            "threads",
            "ulimit -u {}, or pids.max of the container",
        ),
        (
            machine.ports,
            PORTS,
            "ports",
            "ports",
            "sysctl net.ipv4.ip_local_port_range='1024 65535'",
        ),
    )
    for limit, need, name, unit, setting in limits:
        wanted = need.of(sessions)
        if limit is not None and limit < wanted:
            fits = need.sessions(limit)
            lower = f", or browser.sessions = {fits} at most" if fits else ""
            yield Shortage(
                name,
                f"{limit} {unit}; {sessions} sessions need {wanted}",
                f"set {setting.format(wanted)}{lower}",
                fatal=True,
            )
    yield from _scarce(sessions, machine)


def _scarce(sessions: int, machine: Machine) -> Iterator[Shortage]:
    """Yield resources that may run short: only warnings, because they can be freed and needs vary by page."""
    if machine.memory < (wanted := MEMORY.of(sessions)):
        free, most = write_apart(machine.memory / _GIB, wanted / _GIB, ".1f")
        found = f"{free} GiB free; {sessions} sessions take up to {most}"
        fits = max(1, MEMORY.sessions(machine.memory))
        yield Shortage("memory", found, f"make room, or set browser.sessions = {fits}")
    shared = machine.shared_memory
    if shared is not None and shared < (wanted := SHARED_MEMORY.of(sessions)):
        free, most = write_apart(shared / _MIB, wanted / _MIB, ".0f")
        found = f"{free} MiB of /dev/shm free; {sessions} sessions take up to {most}"
        yield Shortage("shm", found, f"give a container --shm-size={wanted // _MIB}m")
    for name, room in (("disk", machine.disk), ("temporary", machine.temporary)):
        if room < DISK:
            free, most = write_apart(room / _GIB, DISK / _GIB, ".1f")
            found = f"{free} GiB free; a run takes up to {most}"
            place = "run.url" if name == "disk" else "TMPDIR"
            yield Shortage(name, found, f"make room, or give a {place} elsewhere")


def look_at_machine(sessions: int, run: str) -> Machine:
    """Return this machine's limits, after raising the limit on descriptors for `sessions` if allowed.

    Processes that this one starts inherit the limit. `run` is the URL of the run: a folder, or a bucket.
    """
    return Machine(
        descriptors=_raise_descriptors(DESCRIPTORS.of(sessions)),
        threads=_threads(),
        memory=free_memory(),
        shared_memory=_free(Path("/dev/shm")),  # noqa: S108 - Chromium's own
        ports=_ports(),
        disk=_free(Path.cwd() if is_bucket(run) else folder(run)) or 0,
        temporary=_free(Path(tempfile.gettempdir())) or 0,
    )


def prepare_machine(sessions: int, run: str) -> None:
    """Raise the limits that may be raised for `sessions`, and warn of resources that may run short.

    Raises:
        BadConfig: the sessions cannot work on this machine; the message has the numbers to set.
    """
    found = list(hold_against(sessions, look_at_machine(sessions, run)))
    if fatal := [one for one in found if one.fatal]:
        raise BadConfig(*(f"browser.sessions: {one.found}; {one.remedy}" for one in fatal))
    for one in found:
        LOG.warning("%s: %s; %s", one.name, one.found, one.remedy)


def _raise_descriptors(wanted: int) -> int | None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def _threads() -> int | None:
    limits = [] if os.geteuid() == 0 else [resource.getrlimit(resource.RLIMIT_NPROC)[0]]
    limits += [limit for limit in (_number(place / "pids.max") for place in _cgroups()) if limit]
    limits = [limit for limit in limits if limit != resource.RLIM_INFINITY]
    return min(limits, default=None)


def free_memory() -> int:
    """Return the bytes of memory that this process and its children may still take."""
    groups = (free_of_group(place) for place in _cgroups())
    return min([psutil.virtual_memory().available, *(free for free in groups if free is not None)])


def free_of_group(place: Path) -> int | None:
    """Return the bytes that a control group may still take; None: it has no limit.

    The pages of files that it has read count as free, because the kernel drops them where memory is wanted.
    """
    limit, used = _number(place / "memory.max"), _number(place / "memory.current")
    if limit is None or used is None:
        return None
    try:
        lines = (place / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    counts = dict(line.split(" ", 1) for line in lines if " " in line)
    kept = sum(int(counts.get(name, 0)) for name in ("active_file", "inactive_file"))
    return max(0, limit - used + kept)


def _cgroups() -> Iterator[Path]:
    """Yield the folder of this process's control group (version 2) and those above it."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    root = Path("/sys/fs/cgroup")
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            own = root / path.lstrip("/")
            yield from (own, *(above for above in own.parents if above.is_relative_to(root)))


def _ports() -> int | None:
    try:
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii")
        first, last = map(int, text.split())
    except (OSError, ValueError):
        return None
    return last - first + 1


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # "max" is no number, and no limit
        return None


def _free(place: Path) -> int | None:
    while True:
        try:
            return psutil.disk_usage(str(place)).free
        except OSError as error:
            if error.errno != errno.ENOENT or place == place.parent:
                return None
            place = place.parent
