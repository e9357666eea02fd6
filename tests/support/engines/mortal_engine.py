"""An engine that dies of a certain prompt, with all its connections, and comes back when it is told to."""

import asyncio
import json
from typing import Self

from aiohttp import web

_MODELS = {"object": "list", "data": [{"id": "mortal", "object": "model", "owned_by": "test"}]}
_LARGEST_BODY = 256 * 1_024**2


class MortalEngine:
    """Replies to every prompt but those with a certain word, of which it dies."""

    def __init__(self, port: int, *, word: str = "poison") -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.dead = asyncio.Event()
        """It died and has not been started again."""
        self.under_way: list[int] = []
        """For each death, how many requests were under way, the deadly one included."""
        self.replies = 0
        """Requests that got a reply."""
        self._port = port
        self._word = word.encode()
        self._asking: set[asyncio.Transport] = set()
        self._server: asyncio.Server | None = None
        self._web = web.Server(self._answer)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._close()
        await self._web.shutdown(timeout=1.0)

    async def start(self) -> None:
        """Listen, for the first time or again."""
        self.dead.clear()
        self._server = await asyncio.get_running_loop().create_server(
            self._web, "127.0.0.1", self._port
        )

    def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._web.connections:
            if connection.transport is not None:
                connection.transport.abort()

    def _die(self) -> None:
        if self.dead.is_set():
            return
        self.under_way.append(len(self._asking))
        self._close()
        self.dead.set()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/v1/models":
            return web.json_response(_MODELS)
        if request.path != "/v1/chat/completions":
            return web.Response(status=200 if request.path == "/health" else 404)
        transport = request.transport
        assert isinstance(transport, asyncio.Transport)
        body = await request.content.read(_LARGEST_BODY)
        self._asking.add(transport)
        try:
            await asyncio.sleep(0.02)  # others come meanwhile
            if self._word in body:
                self._die()
            await asyncio.sleep(0.02)
        finally:
            self._asking.discard(transport)
        self.replies += 1
        said = {"message": {"role": "assistant", "content": "alive"}, "finish_reason": "stop"}
        return web.Response(body=json.dumps({"choices": [said]}).encode())
