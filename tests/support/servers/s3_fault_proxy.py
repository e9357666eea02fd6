"""A store on a bad day: a proxy before a real S3 server that answers, delays or cuts as it is told.

What a request is met with is decided by a function of it, so a test can say "every tenth" as well
as "the answer to this one commit is lost". The proxy passes on what it does not spoil, to the
byte: signatures cover the name of the host, so it keeps that of the client's request.
"""

import asyncio
import io
import itertools
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from aiohttp import ClientSession, DummyCookieJar, TCPConnector, web
from support.servers.http_servers import Loopback
from yarl import URL

_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "expect"}


class Spoil(StrEnum):
    """What is done to a request."""

    ERROR = "500"
    SLOW_DOWN = "503"
    CHANGED = "412"
    """A condition that is said not to hold, though nobody looked."""
    SILENCE = "silence"
    """No answer; the connection is dropped in the end."""
    CUT = "cut"
    """Carried out, and the answer breaks off in the middle."""
    LOST = "lost"
    """Carried out, and the answer never comes."""


@dataclass(frozen=True, slots=True)
class Denial:
    """An answer that says no, as the store itself would."""

    status: int
    code: str
    more: str = ""
    """Elements beside the code, as XML."""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request on its way."""

    method: str
    path: str
    query: str
    conditional: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def signed(self) -> str:
        """Who asks, and for which region: `KEY/DATE/REGION/s3/aws4_request`."""
        _, _, said = self.headers.get("Authorization", "").partition("Credential=")
        return said.partition(",")[0]


Mood = Callable[[Asked], Spoil | Denial | None]
"""Decides what a request is met with; None: it passes."""

_DENIALS = {
    Spoil.ERROR: Denial(500, "InternalError"),
    Spoil.SLOW_DOWN: Denial(503, "SlowDown"),
    Spoil.CHANGED: Denial(412, "PreconditionFailed"),
}


def knows_no_checksums(asked: Asked) -> Denial | None:
    """The mood of a store that refuses every request that speaks of a checksum of S3's newer kinds."""
    told = {name.lower() for name in asked.headers}
    new = any(name.startswith(("x-amz-sdk-checksum", "x-amz-checksum")) for name in told)
    return Denial(501, "NotImplemented") if new else None


def one_in(number: int, *, seed: int, spoils: tuple[Spoil, ...] = tuple(Spoil)) -> Mood:
    """Return the mood to spoil one request in `number`, each in one of the ways there are."""
    random = Random(seed)
    lock = threading.Lock()

    def mood(asked: Asked) -> Spoil | None:
        with lock:
            hit, spoil = random.random() * number < 1, random.choice(spoils)
        if spoil is Spoil.CHANGED and not asked.conditional:
            spoil = Spoil.ERROR
        return spoil if hit else None

    return mood


def every(number: int) -> Mood:
    """Return the mood to spoil one request in `number`, evenly, in all the ways there are by turns."""
    turns, lock, asked_before = deque(Spoil), threading.Lock(), itertools.count(1)

    def mood(asked: Asked) -> Spoil | None:
        with lock:
            if next(asked_before) % number:
                return None
            waits = turns[0] is Spoil.CHANGED and not asked.conditional
            spoil = turns[int(waits)]
            turns.remove(spoil)
            turns.append(spoil)
            return spoil

    return mood


class Flaky(Loopback):
    """The proxy."""

    def __init__(self, upstream: str) -> None:
        super().__init__()
        self._upstream = URL(upstream)
        self.mood: Mood = lambda _: None
        self.silence = 1.0
        """Seconds until a silent connection is dropped."""
        self.met: Counter[Spoil | Denial | None] = Counter()
        """How often what was done."""

    async def open(self) -> None:
        self._client = ClientSession(
            connector=TCPConnector(limit=0),
            auto_decompress=False,
            cookie_jar=DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )
        await super().open()

    async def close(self) -> None:
        await super().close()
        await self._client.close()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(
            request.method,
            request.path,
            request.query_string,
            bool({"If-None-Match", "If-Match"} & request.headers.keys()),
            request.headers,
        )
        body = await request.read()
        spoil = self.mood(asked)
        self.met[spoil] += 1
        denial = spoil if isinstance(spoil, Denial) else _DENIALS.get(spoil) if spoil else None
        if denial is not None:
            return _denied(denial)
        if spoil is Spoil.SILENCE:
            await asyncio.sleep(self.silence)
            return await _dropped(request)
        return await self._pass(request, body, spoil)

    async def _pass(
        self, request: web.Request, body: bytes, spoil: Spoil | Denial | None
    ) -> web.StreamResponse:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _HOP}
        url = URL(f"{self._upstream}{request.raw_path}", encoded=True)
        async with self._client.request(
            request.method, url, headers=headers, data=io.BytesIO(body), allow_redirects=False
        ) as answer:
            data = await answer.read()
            if spoil is Spoil.LOST or (spoil is Spoil.CUT and not data):
                return await _dropped(request)
            kept = {k: v for k, v in answer.headers.items() if k.lower() not in _HOP}
            length = answer.headers.get("Content-Length", str(len(data)))
            response = web.StreamResponse(status=answer.status, headers=kept)
            response.headers["Content-Length"] = length
            await response.prepare(request)
            if spoil is Spoil.CUT:
                await response.write(data[: len(data) // 2])
                return await _dropped(request)
            if request.method != "HEAD" and data:
                await response.write(data)
            return response


def _denied(denial: Denial) -> web.Response:
    text = f"<Error><Code>{denial.code}</Code><Message>no</Message>{denial.more}</Error>"
    return web.Response(
        status=denial.status,
        text=f"<?xml version='1.0'?>{text}",
        headers=dict(denial.headers),
        content_type="application/xml",
    )


async def _dropped(request: web.Request) -> web.StreamResponse:
    """Break the connection off."""
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError
