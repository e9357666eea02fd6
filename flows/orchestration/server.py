"""The Prefect server of a command: the one that the user set, or an embedded one.

The embedded server is a child process that is given its listening socket (so no port is guessed)
and a pipe that ends with this process (so no server is ever left behind). Starting takes seconds,
and many on a busy machine; only a caller that needs its address waits for it.
"""

import asyncio
import contextlib
import fcntl
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import IO

import aiohttp

from flows.orchestration.settings import HOME, PATIENCE, patience, set_up
from generators.child_environment import PREFECT_SERVER, inherit
from schemas.certificates import certificate_fault
from schemas.errors import Refusal
from schemas.redaction import redact
from schemas.truncation import MESSAGE_BYTES, truncate

_EMBEDDED = {
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
}
_DATABASE = "PREFECT_SERVER_DATABASE_CONNECTION_URL"
_STOP_SECONDS = 5.0
_REACH_SECONDS = 15.0
_ASK_SECONDS = 5.0
_PAUSE_SECONDS = 0.1
_ERROR = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception): \S")
"""The last line of a traceback."""


class NoServer(Refusal):
    """A Prefect server that is needed does not answer."""


async def check_server(url: str) -> None:
    """Refuse a server that the user set but that does not answer.

    Raises:
        NoServer: it does not answer.
    """
    try:
        await _check_health(url, _REACH_SECONDS)
    except NoServer as error:
        raise NoServer(
            f"PREFECT_API_URL: {error}; start that server, unset it, or give --no-prefect"
        ) from None


@contextlib.asynccontextmanager
async def embedded_server() -> AsyncIterator[str]:
    """Run an embedded server; yield the URL of its API once it answers.

    Raises:
        NoServer: it does not start, or not in time.
        BadConfig: the configured start-up time is not a number of seconds.
    """
    environ = dict(os.environ)
    set_up(environ, silent=True)
    seconds = patience(environ)
    home = Path(environ.get(HOME) or Path.home() / ".prefect")
    with tempfile.TemporaryFile() as said:
        async with _hold_lock(home):  # two first starts would both make the database
            child, url = _start(home, environ, said)
            try:
                await wait_until_healthy(child, url, seconds, said)
            except BaseException:
                await _stop(child)
                raise
        try:
            yield url
        finally:
            await _stop(child)


def _start(
    home: Path, environ: Mapping[str, str], said: IO[bytes]
) -> tuple[subprocess.Popen[bytes], str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        child = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "flows.orchestration.server_process", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=[listener.fileno()],
            start_new_session=True,  # an interrupt from the terminal is not for it
            env={
                _DATABASE: f"sqlite+aiosqlite:///{home}/embedded.db",
                **inherit(environ, PREFECT_SERVER),
                **_EMBEDDED,
            },
        )
        return child, f"http://127.0.0.1:{listener.getsockname()[1]}/api"


async def wait_until_healthy(
    child: subprocess.Popen[bytes], url: str, seconds: int, said: IO[bytes] | None = None
) -> None:
    """Wait until the server in a child process answers; `said` is where its errors go, None: to the terminal.

    Raises:
        NoServer: the process has ended, with its last words, or the server does not answer in time.
    """
    deadline = asyncio.get_running_loop().time() + seconds
    while child.poll() is None:
        left = deadline - asyncio.get_running_loop().time()
        if left <= 0:
            raise NoServer(
                f"Prefect's server gave no answer in {seconds} s; "
                f"{PATIENCE}={2 * seconds} gives it twice as long"
            )
        with contextlib.suppress(NoServer):
            await _check_health(url, min(left, _ASK_SECONDS))
            return
        await asyncio.sleep(_PAUSE_SECONDS)
    raise NoServer(f"Prefect's server ended with code {child.returncode}{_last_words(said)}")


def _last_words(said: IO[bytes] | None) -> str:
    """Return the server's last error, else its last line; empty if it printed nothing or to the terminal."""
    if said is None:
        return ""
    said.seek(0)
    lines = [line for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.match(line)]
    last = next(reversed(errors or lines), "").strip()
    return f": {redact(truncate(last, MESSAGE_BYTES))}" if last else ""


async def _check_health(url: str, seconds: float) -> None:
    timeout = aiohttp.ClientTimeout(total=seconds)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, connector=_connector(url)) as session,
            session.get(f"{url}/health") as response,
        ):
            if response.status != HTTPStatus.OK:
                raise NoServer(f"{url} answers {response.status}")
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        fault = certificate_fault(error)
        why = f"({type(error).__name__})" if fault is None else f"as itself: {fault}"
        raise NoServer(f"{url} does not answer {why}") from None


def _connector(url: str) -> aiohttp.TCPConnector:
    """Return a connector that trusts the current authorities; the library's own trusts those at its import."""
    secure = url.startswith("https:")
    return aiohttp.TCPConnector(ssl=ssl.create_default_context() if secure else True)


async def _stop(child: subprocess.Popen[bytes]) -> None:
    """Stop the child, by force if it takes too long."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        await asyncio.to_thread(child.wait, _STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


@contextlib.asynccontextmanager
async def _hold_lock(home: Path) -> AsyncIterator[None]:
    """Hold the home's lock; the kernel drops it with the process."""
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    handle = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        await asyncio.to_thread(fcntl.flock, handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
