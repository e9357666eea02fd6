"""One server of an application: it is reset, sent requests and read.

`generators/sites/application/process.py` runs its process; of a server that runs already only the address
is known. A server that cannot be reset or read is not used for further visits.
"""

import asyncio
import shutil
import ssl
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from pydantic import JsonValue

from generators.sites.application.process import ServerProcess
from generators.sites.application.steps import Answer, Findings
from generators.sites.application.values import NOTHING, Values
from generators.sites.judging.folder_reader import digest_folder
from generators.sites.judging.sqlite_reader import read_sqlite
from generators.sites.judging.sqlite_views import read_views
from generators.sites.judging.state import MAX_STATE_BYTES, mask_state, parse_state
from generators.sites.state import ServerState
from schemas.configuration.application import Application
from schemas.configuration.application_parts import StateSource
from schemas.configuration.requests import Request, RequestStep
from schemas.errors import BadState, FailureKind, RolloutFailure, boundary
from schemas.json_pointer import ABSENT, find

ASK_SECONDS = 30.0
"""Time limit of a request by this program, seconds."""

_POLL_SECONDS = 0.02
_OK = range(200, 400)
_ERRORS = 500
_QUOTED_BYTES = 200
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

    def address(self, origin: str) -> str:
        """Return the address of the server behind one of the application's origins."""
        further = self._application.origins.get(origin)
        return self.url if further is None else self.values.fill(further)

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
            connector=aiohttp.TCPConnector(limit=0, ssl=self._trust()),
        )
        await self._process.start()
        await self._wait()

    def _trust(self) -> ssl.SSLContext | bool:
        """Return what an `https` server is trusted by.

        Raises:
            RolloutFailure: the file that should say so is none.
        """
        named = self._application.start.certificate
        if named is None:
            return True
        try:
            return ssl.create_default_context(cafile=Path(self._application.home, named))
        except (OSError, ssl.SSLError):
            raise self._failure(
                f"start.certificate = '{named}': there is no certificate in PEM in this file"
            ) from None

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
        elif reset.steps:
            await self.take_steps(reset.steps, values, "reset")
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

    async def take_steps(
        self, steps: Sequence[RequestStep], values: Values, doing: str
    ) -> tuple[Answer, Findings]:
        """Send several requests in order; return the last answer and what all have left.

        Raises:
            RolloutFailure: a step is not answered, its status is not 2xx or 3xx, or its rules find nothing.
        """
        so_far, answer = Findings(), Answer(status=0, body=b"", headers={})
        for number, step in enumerate(steps, start=1):
            place = f"{doing}, step {number} of {len(steps)}"
            known = values.with_group("found", so_far.values)
            answer = await self.ask(step, known, place, cookies=so_far.jar.header)
            so_far.take(step, answer, known, f"{self._name}: {place}: {step.method} {step.path}")
        return answer, so_far

    async def ask(
        self,
        request: Request,
        values: Values,
        doing: str,
        *,
        cookies: Mapping[str, str] = NOTHING,
    ) -> Answer:
        """Send a request of the application's file, with `cookies` as their header field; return the answer.

        Raises:
            RolloutFailure: there is no reply in time, or its status is not 2xx or 3xx.
        """
        url = (request.origin or self.url) + values.fill(request.path)
        about = f"{doing}: {request.method} {request.path}"
        headers = {"Accept-Encoding": "identity"} | self.introduce(values, request) | dict(cookies)
        try:
            async with self.http.request(
                request.method,
                url,
                headers=headers | values.fill_all(request.headers),
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
                    text = " ".join(body[:_QUOTED_BYTES].decode(errors="replace").split())
                    text = values.hide(text, of=self._application)
                    for pair in cookies.get("Cookie", "").split("; "):
                        text = text.replace(pair.partition("=")[2] or pair, "…") if pair else text
                    raise self._failure(f"{about}: answered {response.status}: {text}")
                if len(body) > MAX_STATE_BYTES:
                    raise self._failure(
                        f"{about}: answered with more than {MAX_STATE_BYTES:,} bytes; have it leave out what "
                        "no task is about"
                    )
                set_cookies = tuple(response.headers.getall("Set-Cookie", []))
                return Answer(response.status, bytes(body), dict(response.headers), set_cookies)
        except TimeoutError:
            raise self.give_up(f"{about}: no answer within {ASK_SECONDS:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise self.give_up(f"{about}: {str(error) or type(error).__name__}") from error

    def introduce(self, values: Values, request: Request | None = None) -> dict[str, str]:
        """Return the header fields of all requests: the origin that its pages have, and the user of HTTP basic.

        A `request` to another server has none.

        Raises:
            RolloutFailure: a variable is not set.
        """
        if request is not None and request.origin is not None:
            return {}
        login = self._application.login
        basic = {}
        if login is not None and login.basic is not None:
            user, password = values.fill(login.basic.user), values.fill(login.basic.password)
            basic["Authorization"] = aiohttp.encode_basic_auth(user, password, "utf-8")
        return origin_fields(self._application.origin) | basic

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
            raw = (await self.ask(request, values, "state")).body
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
        """Wait until the server accepts connections and, where the file says how it is ready, is that."""
        seconds, ready = self._application.start.seconds, self._application.start.ready
        deadline = time.monotonic() + seconds
        last = ""
        while time.monotonic() < deadline:
            if self._process.ended:
                raise self.give_up("the server ended before it answered")
            try:
                if ready is None:
                    await self._connect()
                    return
                async with self.http.get(
                    self.url + ready, headers=origin_fields(self._application.origin)
                ) as response:
                    if response.status < _ERRORS:
                        return
                    last = f"; the last answer to {ready}: {response.status}"
            except (aiohttp.ClientError, TimeoutError, OSError):
                pass
            await asyncio.sleep(_POLL_SECONDS)
        where = self.url + (ready or "")
        raise self.give_up(f"{where} does not answer within {seconds:g} s{last}")

    async def _connect(self) -> None:
        parts = urlsplit(self.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        _, writer = await asyncio.open_connection(parts.hostname, port)
        writer.close()


def origin_fields(origin: str) -> dict[str, str]:
    """Return the header fields by which a server knows the origin of its pages."""
    parts = urlsplit(origin)
    forwarded = {"X-Forwarded-Proto": "https"} if parts.scheme == "https" else {}
    return {"Host": parts.netloc, **forwarded}


def restore(source: Path, live: Path) -> None:
    """Replace the file `live` by `source`, whole, whether or not a program serves it.

    A journal that belongs to a replaced SQLite file would be played into the new one, so it goes first.
    """
    for journal in _JOURNALS:
        live.with_name(live.name + journal).unlink(missing_ok=True)
    fresh = live.with_name(live.name + ".fresh")
    shutil.copy2(source, fresh)  # a program may compare when its files were changed
    fresh.replace(live)


def _put_files(source: Path, folder: Path) -> None:
    """Put the files of one folder in place of those of another, each whole.

    A folder below the first holds its files and no others in the end.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    if not source.is_dir():
        raise FileNotFoundError(f"there is no folder {source}")
    for below in (one for one in source.iterdir() if one.is_dir()):
        _remove_others(folder / below.name, below)
    for file in source.rglob("*"):
        live = folder / file.relative_to(source)
        if file.is_dir():
            live.mkdir(parents=True, exist_ok=True)
        elif not _is_as_it_was(file, live):
            restore(file, live)


def _is_as_it_was(source: Path, live: Path) -> bool:
    """Return whether nothing was written into a file since it was put there: its size and time are those of its source."""
    if live.is_symlink() or any(live.with_name(live.name + end).exists() for end in _JOURNALS):
        return False
    try:
        here, there = live.stat(), source.stat()
    except OSError:
        return False
    return (here.st_size, here.st_mtime_ns) == (there.st_size, there.st_mtime_ns)


def _remove_others(folder: Path, kept: Path) -> None:
    """Remove what a folder has and another has not, or has as a folder where the first has a file."""
    if not folder.is_dir() or folder.is_symlink():
        return
    for one in list(folder.iterdir()):
        other = kept / one.name
        if one.is_dir() and not one.is_symlink():
            if other.is_dir():
                _remove_others(one, other)
            else:
                shutil.rmtree(one)
        elif not other.is_file():
            one.unlink()
