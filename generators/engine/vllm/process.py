"""The processes of one server, from their start to the end of the last one.

The server is tied to this program by a pipe (`generators.parent_guard`), so it ends when this program
ends, for whatever reason. All its processes belong to one session, which none of them leaves; the
rest of them is found by it, because vLLM's workers outlive both their parent and SIGTERM.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Self

import aiohttp
import psutil

from generators import parent_guard
from generators.engine.vllm.command import ServeCommand

HEALTH_SECONDS = 20.0
"""The time-out of a health check; a busy server on few cores is slow."""

_STOP_SECONDS = parent_guard.END_SECONDS


class ServerProcess:
    """The processes of one server; an async context manager that leaves none running."""

    def __init__(self, command: ServeCommand, environ: Mapping[str, str], log: Path) -> None:
        self._command = command
        self._environ = environ
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    async def __aenter__(self) -> Self:
        """Start them; not in a thread, where a cancelled start would go on unnoticed."""
        self._process = self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop them: first politely, soon by SIGKILL."""
        if self._process is not None:
            self._close_stdin(self._process)
            await asyncio.shield(asyncio.to_thread(self._end, self._process))

    @property
    def exit_code(self) -> int | None:
        """The exit code of the server; None while it runs."""
        return None if self._process is None else self._process.poll()

    def _start(self) -> subprocess.Popen[bytes]:
        # By its path and without its folder on sys.path: it imports nothing of any package.
        tie = [sys.executable, "-P", str(Path(parent_guard.__file__))]
        with self._log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - what the configuration asks for
                [*tie, *self._command.argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._environ,
                start_new_session=True,  # an interrupt from the terminal is not for it
            )

    @staticmethod
    def _close_stdin(process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            process.stdin.close()

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        left = list(session_processes(process.pid))
        for one in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(left, timeout=_STOP_SECONDS)
        process.wait()


def session_processes(session: int) -> Iterator[psutil.Process]:
    """Yield every process of a session."""
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(process.pid) == session:
                yield process


async def health_status(http: aiohttp.ClientSession, command: ServeCommand) -> int | None:
    """Return the HTTP status of a server's health check; None: no answer."""
    timeout = aiohttp.ClientTimeout(total=HEALTH_SECONDS)
    try:
        async with http.get(f"{command.origin}/health", timeout=timeout) as response:
            return response.status
    except (aiohttp.ClientError, TimeoutError, OSError):
        return None


def is_healthy(status: int | None) -> bool:
    """Return whether a server with that status serves."""
    return status == HTTPStatus.OK


def is_broken(status: int | None) -> bool:
    """Return whether a server with that status reports that its engine is dead."""
    return status is not None and status >= HTTPStatus.INTERNAL_SERVER_ERROR
