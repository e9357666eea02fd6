"""Where every connection of a browser ends: a loopback server that serves the sites by host name.

The browser is started so that every connection it makes, whatever name or address a page asks
for, ends here. A host that a site mounted is served by that site; any other is refused and
counted. A site's origin is therefore a name without a port (`http://miniwob.localhost`), the same
on every machine, and what no site serves cannot be reached.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Self

from aiohttp import web

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""Answers a request for one host."""

SHUTDOWN_SECONDS = 1.0
"""How long requests in flight may take when it stops."""


class Gateway:
    """Dispatches requests on their Host header. Started and stopped by its owner."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._runner: web.ServerRunner | None = None
        self.port = 0
        """Where it listens on 127.0.0.1, once started."""
        self.refused: Counter[str] = Counter()
        """Requests to hosts that no site mounted."""

    def mount(self, host: str, handler: Handler) -> None:
        """Serve `host` by `handler`."""
        self._handlers[host] = handler

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
