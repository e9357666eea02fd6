"""A server that sends the same bytes to whoever connects, whatever they are, and hangs up."""

import asyncio
import ssl
import threading
from typing import Self

_SECONDS = 200.0
"""How long a busy machine may take to let a thread serve."""
_REQUEST = 65_536
_CLIENTS_SECONDS = 5.0


class RawServer:
    """Serves on loopback in a thread of its own, so that a client may block."""

    def __init__(self, answer: bytes = b"") -> None:
        self.answer = answer
        """What everybody is sent."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server
        self.tls: ssl.SSLContext | None = None
        """How it speaks https; None: it does not."""
        self.port = 0

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(_SECONDS)
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        await self._server.wait_closed()
        own = asyncio.current_task()
        serving = [task for task in asyncio.all_tasks() if task is not own]
        if serving:
            await asyncio.wait(serving, timeout=_CLIENTS_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read(_REQUEST)
            writer.write(self.answer)
            await writer.drain()
        except ConnectionError:
            pass  # whoever asked has heard enough
        finally:
            writer.close()


def http(
    body: str | bytes, *, status: str = "200 OK", kind: str = "application/json", more: str = ""
) -> bytes:
    """Return a whole answer of HTTP; `more` is the text of further header fields."""
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n"
    return f"{head}Connection: close\r\n{more}\r\n".encode("latin-1") + data
