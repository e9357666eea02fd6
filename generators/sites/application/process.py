"""The processes of an application on this machine: its server, and the commands that reset and read it.

A server that Stepmill starts has its own port and folder and ends with this program, however that ends
(`generators/parent_guard.py`). Its folder is in memory if there is a memory file system; the next start
removes folders that a killed program left.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from generators import parent_guard
from generators.child_environment import SYSTEM, inherit
from generators.process_folder import process_folder
from generators.sites.application.program_clock import find_faketime, stand_still
from generators.sites.application.values import Values
from schemas.configuration.application import Application
from schemas.errors import FailureKind, RolloutFailure

COMMAND_SECONDS = 30.0
"""Time limit of a command that resets or reads a server, seconds."""

_PREFIX = "stepmill-site-"
_LAST_LINES = 3


class ServerProcess:
    """The process of one server and its folder. Its owner starts and stops it."""

    def __init__(self, name: str, application: Application) -> None:
        self._name = name
        self._application = application
        self._process: asyncio.subprocess.Process | None = None
        self._environ: dict[str, str] = dict(os.environ)
        self.folder: Path | None = None
        """The server's folder; None before the start, and for a server that runs already."""
        self.url = application.start.url or ""
        """The server's address."""
        self.values = Values(environ=self._environ)
        """The values of the application's placeholders."""

    async def start(self) -> None:
        """Start the server in a new folder, on a free port; do nothing if it runs already.

        Raises:
            RolloutFailure: its command cannot be run, or names a value that does not exist.
        """
        start = self._application.start
        if not start.command:
            return
        self.folder = await asyncio.to_thread(_new_folder)
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        for variable in start.secrets:
            self._environ[variable] = secrets.token_urlsafe(24)
        values = Values(environ=self._environ, port=port, folder=self.folder, python=sys.executable)
        further = {name: str(_free_port()) for name in self._application.ports}
        self.values = values.with_group("port", further)
        self._process = await self._run(start.command, self.values, log=self.folder / "server.log")

    async def stop(self) -> None:
        """Stop the server, and remove its folder."""
        if self._process is not None:
            await asyncio.shield(_end(self._process))
        if self.folder is not None:
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)

    @property
    def ended(self) -> bool:
        """Whether a started server has ended by itself."""
        return self._process is not None and self._process.returncode is not None

    @property
    def last_words(self) -> str:
        """The end of the server's output, without the values of secrets; empty if there is none."""
        log = self.folder / "server.log" if self.folder else None
        if log is None or not log.exists():
            return ""
        lines = log.read_text(errors="replace").strip().splitlines()[-_LAST_LINES:]
        text = " / ".join(line.strip() for line in lines)
        for name in self._application.start.secrets:
            text = text.replace(self._environ.get(name, name), f"${name}")
        return self.values.hide(text, of=self._application)

    async def finish(self, command: Sequence[str], values: Values, doing: str) -> bytes:
        """Run a command of the application's file to its end and return its output.

        Raises:
            RolloutFailure: it cannot be run, exceeds its time limit, or its exit code is not 0.
        """
        about = f"{self._name}: {doing}: {command[0]}"
        process = await self._run(command, values)
        try:
            async with asyncio.timeout(COMMAND_SECONDS):
                out, errors = await process.communicate()
        except TimeoutError:
            raise RolloutFailure(
                FailureKind.SITE, f"{about}: did not end within {COMMAND_SECONDS:g} s"
            ) from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
                await process.wait()
        if process.returncode:
            text = " ".join(errors.decode(errors="replace").split())[-300:]
            raise RolloutFailure(
                FailureKind.SITE, f"{about}: ended with code {process.returncode}: {text}"
            )
        return out

    async def _run(
        self, command: Sequence[str], values: Values, *, log: Path | None = None
    ) -> asyncio.subprocess.Process:
        """Start a command; with `log`, as a server that ends with this program and writes there."""
        start = self._application.start
        argv = [values.fill(text) for text in command]
        if shutil.which(argv[0], path=os.environ.get("PATH")) is None and "/" not in argv[0]:
            raise RolloutFailure(FailureKind.SITE, f"{self._name}: there is no command '{argv[0]}'")
        argv = [*self._clock(), *argv]
        if log is not None:
            argv = [sys.executable, "-P", str(Path(parent_guard.__file__)), *argv]
        environment = inherit(os.environ, (*SYSTEM, "VIRTUAL_ENV"))
        environment |= self.values.fill_all(start.environment)
        environment |= {name: self._environ[name] for name in start.secrets}
        pipe = asyncio.subprocess.PIPE
        with contextlib.ExitStack() as stack:
            out: int = pipe
            if log is not None:
                out = stack.enter_context(log.open("ab")).fileno()
            try:
                return await asyncio.create_subprocess_exec(
                    *argv,
                    stdin=asyncio.subprocess.DEVNULL if log is None else pipe,
                    stdout=out,
                    stderr=out,
                    env=environment,
                    cwd=self._application.home or None,
                    start_new_session=True,
                )
            except OSError as error:
                raise RolloutFailure(
                    FailureKind.SITE,
                    f"{self._name}: '{command[0]}' cannot be run: {error.strerror}",
                ) from error

    def _clock(self) -> list[str]:
        """Return the command prefix that stops the clock; empty if the clock runs.

        The guard of a server does not load the library: its own clock runs.

        Raises:
            RolloutFailure: libfaketime is not installed.
        """
        clock = self._application.clock
        if clock is None or not clock.freeze_server:
            return []
        library = find_faketime()
        if library is None:
            raise RolloutFailure(
                FailureKind.SITE,
                f"{self._name}: clock.freeze_server needs libfaketime, which is not installed: install your "
                "system's package of that name, or leave the key out",
            )
        at = clock.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
        variables = stand_still(library, at=at).items()
        return ["/usr/bin/env", *(f"{name}={value}" for name, value in variables)]


def _memory() -> Path | None:
    """Return a writable file system in memory; None if there is none and the usual one is used."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    return memory if os.access(memory, os.W_OK) else None


def _new_folder() -> Path:
    """Return a new folder for a server, after removing the folders of killed processes."""
    above = process_folder(Path(_memory() or tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=above))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a guarded server by closing its pipe, or by force if that has no effect."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(parent_guard.END_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
