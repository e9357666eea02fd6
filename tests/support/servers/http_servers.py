"""Small HTTP servers on loopback, in a thread of their own, for clients that block.

`Canned` gives one answer to everything; `Forgetful` is a store that ignores some conditions.
"""

import asyncio
import re
import socket
import threading
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Self

from aiohttp import web

_SECONDS = 200.0
"""How long a busy machine may take to let a thread serve."""


class Loopback:
    """A server whose answers are `serve`'s."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.open(), self._loop).result(_SECONDS)
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self.close(), self._loop).result(_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def open(self) -> None:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", self.serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @abstractmethod
    async def serve(self, request: web.Request) -> web.StreamResponse: ...


class Canned(Loopback):
    """One answer to everything."""

    def __init__(self, status: int, code: str, *, more: str = "", **headers: str) -> None:
        super().__init__()
        self._status = status
        self._body = f"<?xml version='1.0'?><Error><Code>{code}</Code>{more}</Error>"
        self._headers: Mapping[str, str] = {k.replace("_", "-"): v for k, v in headers.items()}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        del request
        return web.Response(
            status=self._status,
            text=self._body,
            headers=self._headers,
            content_type="application/xml",
        )


class Forgetful(Loopback):
    """A store that ignores some conditions, holds no other ever fulfilled, and keeps no metadata."""

    def __init__(self, *ignored: str) -> None:
        super().__init__()
        self._ignored = ignored
        self.objects: dict[str, bytes] = {}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        data = await request.read()
        if request.headers.keys() & {"If-None-Match", "If-Match"} - {*self._ignored}:
            text = "<Error><Code>PreconditionFailed</Code></Error>"
            return web.Response(status=412, text=text, content_type="application/xml")
        if request.method == "PUT":
            self.objects[request.path] = data
            return web.Response(headers={"ETag": '"1"'})
        if request.method == "POST":
            for key in re.findall(r"<Key>([^<]*)</Key>", data.decode()):
                self.objects.pop(f"/bucket/{key}", None)
            return web.Response(text="<DeleteResult/>", content_type="application/xml")
        if "list-type" in request.query:
            return web.Response(text="<ListBucketResult/>", content_type="application/xml")
        if request.path not in self.objects:
            text = "<Error><Code>NoSuchKey</Code></Error>"
            return web.Response(status=404, text=text, content_type="application/xml")
        return web.Response(body=self.objects[request.path], headers={"ETag": '"1"'})


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on now, for servers that cannot take over a held one."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
