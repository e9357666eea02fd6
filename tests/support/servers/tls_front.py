"""What makes a server of this machine one that speaks https: a front that ends TLS and passes every byte on.

The certificate is of an authority that a test makes, for one name alone.
"""

import asyncio
import contextlib
import ssl

import trustme
from support.servers.raw_server import RawServer
from typing_extensions import override

_CHUNK = 1 << 16


class TlsFront(RawServer):
    """The front of what listens on a port."""

    def __init__(self, authority: trustme.CA, port: int, *, name: str = "localhost") -> None:
        super().__init__()
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(self.tls)
        self._behind = port

    @property
    @override
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    @override
    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asks = await asyncio.open_connection("127.0.0.1", self._behind)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass(reader, asks))
            group.create_task(_pass(answers, writer))


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what is read to its end, and close what it is written to."""
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
