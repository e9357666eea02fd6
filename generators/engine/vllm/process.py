"""One start of a server: its processes from first to last, its health, and its log.

The server is tied to this program by a pipe (`generators.parent_guard`), so it ends when this program ends,
for whatever reason. All its processes belong to one session, which none of them leaves; they are found by
it at the end, because vLLM's workers outlive both their parent and SIGTERM.

The log is a file, so that a server never waits for a reader and its last lines outlive it. vLLM names the
cause of its death long before its last line, so an error shows both: the first errors and the end. Two
causes are fixed here, each once and in the command alone: fewer requests fit at a time than the server was
set to take, and this vLLM does not know a flag that Stepmill adds by itself. Any other problem with the
configuration is for the user to fix.
"""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Self

import aiohttp
import psutil

from generators import parent_guard
from generators.engine.vllm.command import (
    CACHE_MODE_FLAG,
    USAGE_FLAGS,
    ServeCommand,
    flag_value,
)

HEALTH_SECONDS = 20.0
"""The time-out of a health check; a busy server on few cores is slow."""

_STOP_SECONDS = parent_guard.END_SECONDS

LAST_LINES = 12
"""Lines at the end of a log that an error shows."""

FIRST_ERRORS = 3
"""Errors that are shown beside them: the first ones, which cause the others."""

MAX_LINE_CHARS = 500
"""Of one line that is shown."""

PHASES = (
    (re.compile(r"Resolved architecture"), "starting the engine"),
    (
        re.compile(r"Starting to load model|Loading (?:model weights|safetensors)"),
        "loading weights",
    ),
    (re.compile(r"Loading weights took|Model loading took"), "warming up"),
    (re.compile(r"[Cc]apturing CUDA graph"), "capturing graphs"),
    (re.compile(r"init engine .*took"), "opening the door"),
)
"""Which line of the log begins which phase, in the order of a start."""

_TOO_MANY = re.compile(r"exceeds available Mamba cache blocks \((\d+)\)")
_ERROR = re.compile(r"\b[A-Za-z]*(?:Error|Exception)\b: |\berror: ")


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
        """Stop them: by the end of the pipe, after a while by SIGKILL."""
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            await asyncio.shield(asyncio.to_thread(self._end, self._process))

    @property
    def exit_code(self) -> int | None:
        """The exit code of the server; None while it runs."""
        return None if self._process is None else self._process.poll()

    def _start(self) -> subprocess.Popen[bytes]:
        # By its path and without its folder on sys.path: it imports nothing of any package.
        guard = [sys.executable, "-P", str(Path(parent_guard.__file__))]
        with self._log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - what the configuration asks for
                [*guard, *self._command.argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._environ,
                start_new_session=True,  # an interrupt from the terminal must not reach it
            )

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        remaining = list(session_processes(process.pid))
        for each in remaining:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(remaining, timeout=_STOP_SECONDS)
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
    """Return whether a server with that health status serves."""
    return status == HTTPStatus.OK


def is_broken(status: int | None) -> bool:
    """Return whether a server with that health status reports that its engine is dead."""
    return status is not None and status >= HTTPStatus.INTERNAL_SERVER_ERROR


class StartupLog:
    """The log of one start, read as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = path.stat().st_size if path.exists() else 0
        self._unfinished = b""
        self._phase = -1
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._errors: list[str] = []
        self.max_sequences: int | None = None
        """The most requests at once that fit; None unless the server died because it was set to more."""
        self.refused_flags: set[str] = set()
        """Flags that not every version takes and that the server named in an error."""

    def read(self) -> Iterator[str]:
        """Read the new lines; yield the phases that they begin."""
        with self.path.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at += len(new)
        *lines, self._unfinished = re.split(rb"[\r\n]+", self._unfinished + new)
        for line in lines:
            yield from self._parse_line(line.decode("utf-8", "replace").strip())

    @property
    def size(self) -> int:
        """Bytes of the log that were read; a start is alive while it grows."""
        return self._at

    def summary(self) -> list[str]:
        """Return the excerpt of the log for an error: its first errors, its last lines, its path."""
        last = list(self._last)
        if rest := self._unfinished.decode("utf-8", "replace").strip():
            last.append(rest[:MAX_LINE_CHARS])
        causes = [line for line in self._errors if line not in last]
        lines = [*causes, *(["…"] if causes else []), *last] or ["(nothing)"]
        return [f"the end of its log, {self.path}:", *(f"  {line}" for line in lines)]

    def _parse_line(self, line: str) -> Iterator[str]:
        if not line:
            return
        self._last.append(line[:MAX_LINE_CHARS])
        if found := _TOO_MANY.search(line):
            self.max_sequences = int(found[1])
        if _ERROR.search(line):
            self.refused_flags.update(
                flag for flag in (*USAGE_FLAGS, CACHE_MODE_FLAG) if flag in line
            )
            if len(self._errors) < FIRST_ERRORS:
                self._errors.append(line[:MAX_LINE_CHARS])
        for number in range(self._phase + 1, len(PHASES)):
            pattern, phase = PHASES[number]
            if pattern.search(line):
                self._phase = number
                yield phase
                return


def adapted_command(command: ServeCommand, startup: StartupLog) -> tuple[ServeCommand, str] | None:
    """Return a command for the next start and why it differs; None: the log names no remedy."""
    names = {arg.partition("=")[0] for arg in command.argv}
    refused = sorted(startup.refused_flags & names)
    if refused:
        lost = (
            ", so its replies will not report token details or times"
            if set(refused) & set(USAGE_FLAGS)
            else ""
        )
        return command.without_flags(refused), (
            f"this vLLM does not take {' and '.join(refused)}; starting again without{lost}"
        )
    limit, asked = startup.max_sequences, flag_value(command.argv, "--max-num-seqs")
    if limit and (asked is None or not asked.isdigit() or int(asked) > limit):
        return command.with_max_sequences(limit), (
            f"the engine's memory holds {limit} requests at once, fewer than it was "
            f"told; starting again with --max-num-seqs {limit}"
        )
    return None
