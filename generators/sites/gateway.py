"""The loopback server at which every connection of a browser ends; it serves sites by host name.

The browser is started so that all its connections end here, whatever name or address a page requests.
A site serves the hosts that it mounted; the gateway refuses and counts requests to any other host. A
site's origin is therefore a name without a port (`http://miniwob.localhost`), the same on every machine,
and a page can reach nothing that no site serves.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Self

from aiohttp import web

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""Answers a request for one host."""

SHUTDOWN_SECONDS = 1.0
"""How long requests in flight may take when the gateway stops."""


class Gateway:
    """Passes each request to the handler of its host. Its owner starts and stops it."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._runner: web.ServerRunner | None = None
        self.port = 0
        """The port on 127.0.0.1 on which it listens; 0 before it was started."""
        self.refused: Counter[str] = Counter()
        """The number of requests to each host that no site mounted."""

    def mount(self, host: str, handler: Handler) -> None:
        """Have `handler` answer the requests to `host`."""
        self._handlers[host] = handler

    def serves(self, host: str) -> bool:
        """Return whether `host` is mounted."""
        return host in self._handlers

    async def __aenter__(self) -> Self:
        """Listen on a free port of the loopback address."""
        self._runner = web.ServerRunner(
            web.Server(self._dispatch), shutdown_timeout=SHUTDOWN_SECONDS
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1_024)
        await site.start()
        self.port = int(self._runner.addresses[0][1])
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _dispatch(self, request: web.BaseRequest) -> web.StreamResponse:
        host = request.host.partition(":")[0]
        handler = self._handlers.get(host)
        if handler is None:
            self.refused[host] += 1
            return web.Response(status=403, text=f"{host} is not served here")
        return await handler(request)
