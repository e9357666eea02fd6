"""The enclosure of a browser: network namespace, user and sandbox, as far as this machine allows them.

A browser starts through `enclosed_start.py`, which puts it into a network namespace, gives it a user of its own if
root starts it, and tests whether its sandbox can start. Parts that the machine does not allow are left out
and reported: `doctor`, `run.json` and the card state the `Containment`. Only one case is refused: a browser
that would run as root, unless the configuration switches the sandbox off. In a namespace other programs
cannot reach the browser's DevTools port, and the only sockets are those that `Enclosure.make_socket` gets
from it.
"""

import asyncio
import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Self

from generators.child_environment import SYSTEM, inherit
from generators.process_folder import process_folder
from schemas.base import Record
from schemas.configuration.browser_section import UNPRIVILEGED_USER, BrowserSection, Sandbox
from schemas.errors import NoBrowser

PROBE_SECONDS = 20.0
"""Time limit of the probe program, seconds."""

SOCKET_SECONDS = 5.0
"""Time limit for a socket of the namespace, seconds."""

MAX_FOLDER_LENGTH = 90
"""Largest length of the folder that holds a Unix socket, characters: its whole path may have 107 bytes."""

_PROGRAM = str(files("generators.browser.process").joinpath("enclosed_start.py"))
_GO = b"g"


class Confinement(Record):
    """The requested enclosure of a browser."""

    sandbox: Sandbox = Sandbox.ON
    """Whether its sandbox is requested."""
    user: int = UNPRIVILEGED_USER
    """The number of the user that a browser started by root becomes."""

    @classmethod
    def of(cls, section: BrowserSection) -> Self:
        """Return the enclosure that a configuration requests."""
        return cls(sandbox=section.sandbox, user=section.user)

    def command(self, control: Path, *command: str) -> list[str]:
        """Return the arguments of the program that becomes `command`."""
        return [
            *(sys.executable, "-I", "-S", _PROGRAM, str(control), str(self.user)),
            *(self.sandbox.value, *command),
        ]


class Containment(Record):
    """The achieved enclosure of a browser; for each part the reason for its absence, or an empty text."""

    namespace: str
    """Why it is in no network namespace of its own."""
    user: str
    """Why it runs as the user who started the run."""
    sandbox: str
    """Why it has no sandbox."""

    @property
    def levels(self) -> dict[str, str]:
        """The state of `sandbox`, `user`, `network` and `devtools`, in words."""
        own = not self.user
        if not self.namespace:
            devtools = "a port in a network namespace of its own: no other program can reach it"
        elif own:
            devtools = "a port that other users can reach, of a browser that can read nothing of this user's"
        else:
            devtools = "a port without a lock: other users of the machine can reach it"
        return {
            "sandbox": f"off: {self.sandbox}" if self.sandbox else "on",
            "user": "one of its own" if own else f"that of the run: {self.user}",
            "network": (
                f"the gateway alone: {self.namespace}"
                if self.namespace
                else "a namespace with the gateway alone"
            ),
            "devtools": devtools,
        }

    @property
    def open(self) -> frozenset[str]:
        """The names of the levels at which this user's data could be reached."""
        names = {"sandbox"} if self.sandbox else set[str]()
        return frozenset(names | ({"devtools"} if self.namespace and self.user else set()))


def probe(wanted: Confinement | None = None) -> Containment:
    """Return the enclosure that this machine allows, without starting a browser.

    Raises:
        NoBrowser: the probe program does not run.
    """
    with _control() as (listener, control):
        command = (wanted or Confinement()).command(control)
        with subprocess.Popen(command, env=inherit(os.environ, SYSTEM)):  # noqa: S603 - our own
            listener.settimeout(PROBE_SECONDS)
            try:
                line, _ = listener.accept()
                with line, line.makefile("rb") as reports:
                    return Containment.model_validate_json(reports.readline())
            except (OSError, ValueError) as error:
                raise NoBrowser(f"{_PROGRAM} does not run: {error}") from error


class Enclosure:
    """The enclosure of one browser, from before its launch to its end."""

    def __init__(self, wanted: Confinement, executable: Path) -> None:
        self._wanted = wanted
        self._resources = contextlib.ExitStack()
        self._listener, control = self._resources.enter_context(_control())
        self._line: socket.socket | None = None
        self.path = control.with_name(executable.name)
        """The path of the program that is launched in place of the browser."""
        words = shlex.join(wanted.command(control, str(executable)))
        self.path.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        self.path.chmod(0o700)
        self.containment: Containment | None = None
        """The achieved enclosure; None before the browser was admitted."""

    async def admit(self) -> Containment:
        """Wait for the browser's report, and let it start.

        Raises:
            NoBrowser: it would run as root.
        """
        loop = asyncio.get_running_loop()
        self._listener.setblocking(False)  # noqa: FBT003 - a method of the standard library
        self._line, _ = await loop.sock_accept(self._listener)
        self._resources.enter_context(self._line)
        self._line.setblocking(False)  # noqa: FBT003
        report = b""
        while not report.endswith(b"\n"):
            if not (part := await loop.sock_recv(self._line, 4_096)):
                raise NoBrowser(
                    "the program that encloses the browser ended before it said what holds"
                )
            report += part
        found = Containment.model_validate_json(report)
        if os.geteuid() == 0 and found.user and self._wanted.sandbox is Sandbox.ON:
            self.close()
            raise NoBrowser(
                f"root's browser cannot run as user {self._wanted.user}: {found.user}; install it where all may "
                'read it, start the run as another user, or write browser.sandbox = "off" if pages may '
                "run as root"
            )
        await loop.sock_sendall(self._line, _GO)
        shutil.rmtree(self.path.parent, ignore_errors=True)  # needed only for the start
        self.containment = found
        return found

    def make_socket(self) -> socket.socket:
        """Return a new TCP socket in the browser's namespace.

        Raises:
            OSError: the namespace is gone.
        """
        if self.containment is None or self.containment.namespace or self._line is None:
            return socket.socket(socket.AF_INET)
        self._line.settimeout(SOCKET_SECONDS)
        self._line.sendall(_GO)
        _, numbers, _, _ = socket.recv_fds(self._line, 1, 1)
        if not numbers:
            raise ConnectionError("the browser's network namespace is gone")
        return socket.socket(fileno=numbers[0])

    def close(self) -> None:
        """Release the namespace, and remove the files."""
        self._resources.close()


@contextlib.contextmanager
def _control() -> Iterator[tuple[socket.socket, Path]]:
    above = process_folder(Path(tempfile.gettempdir()))
    if len(str(above)) > MAX_FOLDER_LENGTH - len("/b-12345678"):
        above = process_folder(Path("/tmp"))  # noqa: S108 - a new folder of its own
    folder = Path(tempfile.mkdtemp(prefix="b-", dir=above))
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "control"))
            listener.listen(1)
            yield listener, folder / "control"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
