"""One server of an application: started, put into a state, asked, stopped.

A server that Stepmill starts has a port and a folder of its own and ends with this program, however that
ends (`generators/parent_guard.py`). What it holds on disk lies in memory where there is a memory file
system, and what a killed program left there goes with the next start. Of a server that runs already only
the address is known.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import psutil
from pydantic import JsonValue

from generators import parent_guard
from generators.child_environment import SYSTEM, inherit
from generators.sites.application.values import Values
from generators.sites.judging.folder_reader import digest_folder
from generators.sites.judging.sqlite_reader import read_sqlite
from generators.sites.judging.sqlite_views import read_views
from generators.sites.judging.state import mask_state, parse_state
from generators.sites.state import ServerState
from schemas.application import Application, Request, StateSource
from schemas.errors import FailureKind, RolloutFailure, boundary

ASK_SECONDS = 30.0
"""How long a request or a command of ours may take."""

MAX_STATE_BYTES = 64 * 2**20
"""The largest state that is read."""

FAKETIME = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1")
"""Where distributions put libfaketime."""

_PREFIX = "stepmill-site-"
_POLL_SECONDS = 0.02
_LAST_LINES = 3
_OK = range(200, 400)
_JOURNALS = ("-journal", "-wal", "-shm")


class Server:
    """One server. Its owner starts it and stops it."""

    def __init__(self, name: str, application: Application) -> None:
        self._name = name
        self._application = application
        self._process: asyncio.subprocess.Process | None = None
        self._http: aiohttp.ClientSession | None = None
        self._environ: dict[str, str] = dict(os.environ)
        self.folder: Path | None = None
        """Where it keeps what it holds; None where it runs already, and before the start."""
        self.url = application.start.url or ""
        """Where it answers."""
        self.values = Values(environ=self._environ)
        """What the application's texts name."""
        self.broken = ""
        """Why it is of no use any more; empty while it is."""

    @property
    def http(self) -> aiohttp.ClientSession:
        """The client that asks it."""
        if self._http is None:
            raise AssertionError("the server was not started")
        return self._http

    async def start(self) -> None:
        """Start it and wait until it answers; of one that runs already only wait.

        Raises:
            RolloutFailure: it does not answer in time, or ended.
        """
        self._http = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=ASK_SECONDS),
            auto_decompress=False,
            connector=aiohttp.TCPConnector(limit=0),
        )
        if self._application.start.command:
            await asyncio.to_thread(_clear_old_folders)
            self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_memory()))
            port = _free_port()
            self.url = f"http://127.0.0.1:{port}"
            for variable in self._application.start.secrets:
                self._environ[variable] = secrets.token_urlsafe(24)
            self.values = Values(
                environ=self._environ, port=port, folder=self.folder, python=sys.executable
            )
            self._process = await self._run_command(self._application.start.command, log=True)
        await self._wait()

    async def stop(self) -> None:
        """Stop it, and remove its folder."""
        if self._http is not None:
            await self._http.close()
        if self._process is not None:
            await asyncio.shield(_end(self._process))
        if self.folder is not None:
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)

    async def reset(self, values: Values) -> None:
        """Put it into the state that `values` name, by the application's own way.

        Raises:
            RolloutFailure: it refuses, or does not answer.
        """
        reset = self._application.reset
        if reset is None:
            return
        if reset.request is not None:
            await self.ask(reset.request, values, "reset")
        elif reset.files is not None:
            source = Path(self._application.home, values.fill(reset.files))
            with boundary(FailureKind.SITE, f"{self._name}: reset"):
                await asyncio.to_thread(_put_files, source, self.folder or source)
        else:
            await self._finish(reset.command, values, "reset")

    async def read_state(self, values: Values) -> ServerState:
        """Return the server's state, without what is masked.

        Raises:
            RolloutFailure: it cannot be read, or is no state.
        """
        with boundary(FailureKind.SITE, f"{self._name}: reading the state"):
            return await self._read_state(self._application.state, values)

    async def _read_state(self, source: StateSource, values: Values) -> ServerState:
        keys = dict[str, str]()
        state: JsonValue
        if source.sqlite is not None:
            path = Path(values.fill(source.sqlite))
            if source.views:
                views = await asyncio.to_thread(read_views, path, source.views)
                return await self._masked(views, keys)
            state, keys = await asyncio.to_thread(read_sqlite, path, leave_out=source.leave_out)
        elif source.folder is not None:
            path = Path(values.fill(source.folder))
            state = await asyncio.to_thread(digest_folder, path, leave_out=source.leave_out)
        elif source.requests:
            state = {
                name: await self._read_json(source, values, request)
                for name, request in source.requests.items()
            }
        else:
            state = await self._read_json(source, values, source.request)
        return await self._masked(state, keys)

    async def _masked(self, state: JsonValue, keys: dict[str, str]) -> ServerState:
        masks = self._application.masks.state
        return ServerState(await asyncio.to_thread(mask_state, state, masks, unknown_ok=True), keys)

    async def ask(self, request: Request, values: Values, doing: str) -> tuple[bytes, list[str]]:
        """Send a request of the application's file; return the body and the cookies that it sets.

        Raises:
            RolloutFailure: there is no answer in time, or one that is not 2xx or 3xx.
        """
        url = (request.origin or self.url) + values.fill(request.path)
        about = f"{self._name}: {doing}: {request.method} {request.path}"
        try:
            async with self.http.request(
                request.method,
                url,
                headers={"Accept-Encoding": "identity"} | values.fill_all(request.headers),
                json=None if request.data is None else values.fill_json(request.data),
                data=None if request.form is None else values.fill_all(request.form),
                allow_redirects=False,
            ) as response:
                body = await response.content.read(MAX_STATE_BYTES + 1)
                while len(body) <= MAX_STATE_BYTES and not response.content.at_eof():
                    body += await response.content.read(MAX_STATE_BYTES + 1 - len(body))
                if response.status not in _OK:
                    text = " ".join(body[:200].decode(errors="replace").split())
                    raise RolloutFailure(
                        FailureKind.SITE, f"{about}: answered {response.status}: {text}"
                    )
                if len(body) > MAX_STATE_BYTES:
                    raise RolloutFailure(
                        FailureKind.SITE,
                        f"{about}: answered with more than {MAX_STATE_BYTES:,} bytes",
                    )
                return body, response.headers.getall("Set-Cookie", [])
        except TimeoutError:
            raise self._lost(f"{about}: no answer within {ASK_SECONDS:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise self._lost(f"{about}: {str(error) or type(error).__name__}") from error

    def _lost(self, message: str) -> RolloutFailure:
        """Give the server up, and return why."""
        self.broken = message + self._ending()
        return RolloutFailure(FailureKind.SITE, self.broken)

    async def _read_json(
        self, source: StateSource, values: Values, request: Request | None
    ) -> JsonValue:
        """Return the JSON that a request is answered with; without one, that the command writes."""
        if request is not None:
            raw, _ = await self.ask(request, values, "state")
        else:
            raw = await self._finish(source.command, values, "state")
        state = await asyncio.to_thread(parse_state, raw, "the state")
        return _part(state, source.pointer, "the state")

    async def _finish(self, command: Sequence[str], values: Values, doing: str) -> bytes:
        """Run a command to its end and return what it wrote."""
        about = f"{self._name}: {doing}: {command[0]}"
        process = await self._run_command(command, values=values)
        try:
            async with asyncio.timeout(ASK_SECONDS):
                out, errors = await process.communicate()
        except TimeoutError:
            raise RolloutFailure(
                FailureKind.SITE, f"{about}: did not end within {ASK_SECONDS:g} s"
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

    async def _run_command(
        self, command: Sequence[str], *, values: Values | None = None, log: bool = False
    ) -> asyncio.subprocess.Process:
        """Start a command; with `log` as a server that ends with this program, and writes to a file."""
        start, clock = self._application.start, self._application.clock
        argv = [(values or self.values).fill(text) for text in command]
        if shutil.which(argv[0], path=os.environ.get("PATH")) is None and "/" not in argv[0]:
            raise RolloutFailure(FailureKind.SITE, f"{self._name}: there is no command '{argv[0]}'")
        if clock is not None and clock.freeze_server:
            frozen = clock.at.strftime("%Y-%m-%d %H:%M:%S")
            argv = ["/usr/bin/env", *_frozen(frozen), *argv]
        if log:
            argv = [sys.executable, "-P", str(Path(parent_guard.__file__)), *argv]
        environment = inherit(os.environ, (*SYSTEM, "VIRTUAL_ENV"))
        environment |= self.values.fill_all(start.environment)
        environment |= {name: self._environ[name] for name in start.secrets}
        pipe = asyncio.subprocess.PIPE
        with contextlib.ExitStack() as stack:
            out: int = pipe
            if log:
                out = stack.enter_context(self._log.open("ab")).fileno()
            try:
                return await asyncio.create_subprocess_exec(
                    *argv,
                    stdin=pipe if log else asyncio.subprocess.DEVNULL,
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

    @property
    def _log(self) -> Path:
        if self.folder is None:
            raise AssertionError("only a server of ours has a log")
        return self.folder / "server.log"

    async def _wait(self) -> None:
        """Wait until the server accepts connections."""
        seconds = self._application.start.seconds
        deadline = time.monotonic() + seconds
        host, _, port = self.url.removeprefix("http://").partition(":")
        while time.monotonic() < deadline:
            if self._process is not None and self._process.returncode is not None:
                raise self._lost(f"{self._name}: the server ended before it answered")
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(host, int(port or 80))
                writer.close()
                return
            await asyncio.sleep(_POLL_SECONDS)
        raise self._lost(f"{self._name}: {self.url} does not answer within {seconds:g} s")

    def _ending(self) -> str:
        """Return what the server wrote last, where it has ended or never answered."""
        if self.folder is None or not self._log.exists():
            return ""
        lines = self._log.read_text(errors="replace").strip().splitlines()[-_LAST_LINES:]
        text = self._application_free(" / ".join(line.strip() for line in lines))
        return f"; the server's last words: {text}" if text else ""

    def _application_free(self, text: str) -> str:
        """Return `text` without the values of secrets."""
        for name in self._application.start.secrets:
            text = text.replace(self._environ.get(name, name), f"${name}")
        return text


def restore(source: Path, live: Path) -> None:
    """Replace the file `live` by `source`, whole, whether or not a program serves it.

    A journal that belongs to a replaced SQLite file would be played into the new one, so it goes first.
    """
    for journal in _JOURNALS:
        live.with_name(live.name + journal).unlink(missing_ok=True)
    fresh = live.with_name(live.name + ".fresh")
    shutil.copyfile(source, fresh)
    fresh.replace(live)


def _put_files(source: Path, folder: Path) -> None:
    """Put the files of one folder in place of those of another, each whole.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    if not source.is_dir():
        raise FileNotFoundError(f"there is no folder {source}")
    for file in source.rglob("*"):
        if file.is_file():
            live = folder / file.relative_to(source)
            live.parent.mkdir(parents=True, exist_ok=True)
            restore(file, live)


def _part(state: JsonValue, pointer: str, where: str) -> JsonValue:
    """Return what a JSON pointer leads to."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(state, dict) or key not in state:
            raise RolloutFailure(FailureKind.SITE, f"{where}: holds nothing at '{pointer}'")
        state = state[key]
    return state


def _frozen(at: str) -> list[str]:
    """Return the variables that make time stand still for a command.

    Raises:
        RolloutFailure: libfaketime is not installed.
    """
    for pattern in FAKETIME:
        for path in Path("/").glob(pattern.lstrip("/")):
            return [
                f"LD_PRELOAD={path}",
                f"FAKETIME={at}",
                "TZ=UTC",
                "FAKETIME_DONT_FAKE_MONOTONIC=1",
                "NO_FAKE_STAT=1",
            ]
    raise RolloutFailure(
        FailureKind.SITE, "clock.freeze_server needs libfaketime: install your system's libfaketime"
    )


def _memory() -> Path | None:
    """Return a file system in memory; None: there is none to write to, and the usual one is used."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    return memory if os.access(memory, os.W_OK) else None


def _clear_old_folders() -> None:
    """Remove the folders of servers whose program has ended without doing so."""
    for folder in Path(_memory() or tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a guarded server: by the end of its pipe, and if that does not help, by force."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(parent_guard.END_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
