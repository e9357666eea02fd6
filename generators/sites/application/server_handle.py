"""One server of an application: it is reset, sent requests and read.

`generators/sites/application/process.py` runs its process; of a server that runs already only the address
is known. A server that cannot be reset or read is not used for further visits.
"""

import asyncio
import contextlib
import shutil
import time
from pathlib import Path

import aiohttp
from pydantic import JsonValue

from generators.sites.application.process import ServerProcess
from generators.sites.application.values import Values
from generators.sites.judging.folder_reader import digest_folder
from generators.sites.judging.sqlite_reader import read_sqlite
from generators.sites.judging.sqlite_views import read_views
from generators.sites.judging.state import MAX_STATE_BYTES, mask_state, parse_state
from generators.sites.state import ServerState
from schemas.configuration.application import Application, Request, StateSource
from schemas.errors import BadState, FailureKind, RolloutFailure, boundary
from schemas.json_pointer import ABSENT, find

ASK_SECONDS = 30.0
"""Time limit of a request by this program, seconds."""

_POLL_SECONDS = 0.02
_OK = range(200, 400)
_JOURNALS = ("-journal", "-wal", "-shm")


class Server:
    """One server. Its owner starts it and stops it."""

    def __init__(self, name: str, application: Application) -> None:
        self._name = name
        self._application = application
        self._process = ServerProcess(name, application)
        self._http: aiohttp.ClientSession | None = None
        self.broken = ""
        """Why the server must not be used any more; empty while it is usable."""

    @property
    def folder(self) -> Path | None:
        """The server's folder; None before the start, and for a server that runs already."""
        return self._process.folder

    @property
    def url(self) -> str:
        """The server's address."""
        return self._process.url

    @property
    def values(self) -> Values:
        """The values of the application's placeholders."""
        return self._process.values

    @property
    def http(self) -> aiohttp.ClientSession:
        """The client for requests to it."""
        if self._http is None:
            raise AssertionError("the server was not started")
        return self._http

    async def start(self) -> None:
        """Start it and wait until it answers; if it runs already, only wait.

        Raises:
            RolloutFailure: it does not answer in time, or ended.
        """
        self._http = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=ASK_SECONDS),
            auto_decompress=False,
            connector=aiohttp.TCPConnector(limit=0),
        )
        await self._process.start()
        await self._wait()

    async def stop(self) -> None:
        """Stop it, and remove its folder."""
        if self._http is not None:
            await self._http.close()
        await self._process.stop()

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
            await self._process.finish(reset.command, values, "reset")

    async def read_state(self, values: Values) -> ServerState:
        """Return the server's state, masked.

        Raises:
            RolloutFailure: the state cannot be read or is invalid.
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
                return await self._mask(views, keys)
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
        return await self._mask(state, keys)

    async def _mask(self, state: JsonValue, keys: dict[str, str]) -> ServerState:
        masks = self._application.masks.state
        return ServerState(await asyncio.to_thread(mask_state, state, masks, unknown_ok=True), keys)

    async def ask(self, request: Request, values: Values, doing: str) -> tuple[bytes, list[str]]:
        """Send a request of the application's file; return the body and the `Set-Cookie` fields.

        Raises:
            RolloutFailure: there is no reply in time, or its status is not 2xx or 3xx.
        """
        url = (request.origin or self.url) + values.fill(request.path)
        about = f"{doing}: {request.method} {request.path}"
        try:
            async with self.http.request(
                request.method,
                url,
                headers={"Accept-Encoding": "identity"} | values.fill_all(request.headers),
                json=None if request.data is None else values.fill_json(request.data),
                data=None if request.form is None else values.fill_all(request.form),
                allow_redirects=False,
            ) as response:
                body = bytearray()
                async for chunk in response.content.iter_any():
                    body += chunk
                    if len(body) > MAX_STATE_BYTES:
                        break
                if response.status not in _OK:
                    text = " ".join(body[:200].decode(errors="replace").split())
                    raise self._failure(f"{about}: answered {response.status}: {text}")
                if len(body) > MAX_STATE_BYTES:
                    raise self._failure(
                        f"{about}: answered with more than {MAX_STATE_BYTES:,} bytes; have it leave out what "
                        "no task is about"
                    )
                return bytes(body), response.headers.getall("Set-Cookie", [])
        except TimeoutError:
            raise self.give_up(f"{about}: no answer within {ASK_SECONDS:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise self.give_up(f"{about}: {str(error) or type(error).__name__}") from error

    def give_up(self, message: str) -> RolloutFailure:
        """Mark the server as unusable, keeping the first reason; return the failure, with its last words."""
        words = self._process.last_words
        failure = self._failure(
            f"{message}; the server's last words: {words}" if words else message
        )
        self.broken = self.broken or failure.message
        return failure

    def _failure(self, message: str) -> RolloutFailure:
        return RolloutFailure(FailureKind.SITE, f"{self._name}: {message}")

    async def _read_json(
        self, source: StateSource, values: Values, request: Request | None
    ) -> JsonValue:
        """Return the JSON reply to a request; if there is none, the JSON output of the command."""
        if request is not None:
            where = f"the answer to {request.method} {request.path}"
            raw, _ = await self.ask(request, values, "state")
        else:
            where = f"what {source.command[0]} wrote"
            raw = await self._process.finish(source.command, values, "state")
        state = await asyncio.to_thread(parse_state, raw, where)
        part = find(state, source.pointer)
        if part is ABSENT:
            raise BadState(
                f"{where} holds nothing at '{source.pointer}', which state.pointer names"
            )
        return part

    async def _wait(self) -> None:
        """Wait until the server accepts connections."""
        seconds = self._application.start.seconds
        deadline = time.monotonic() + seconds
        host, _, port = self.url.removeprefix("http://").partition(":")
        while time.monotonic() < deadline:
            if self._process.ended:
                raise self.give_up("the server ended before it answered")
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(host, int(port or 80))
                writer.close()
                return
            await asyncio.sleep(_POLL_SECONDS)
        raise self.give_up(f"{self.url} does not answer within {seconds:g} s")


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
