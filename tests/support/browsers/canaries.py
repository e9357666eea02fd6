"""What hears a page that got out: servers on loopback, and a raw socket for every other packet.

Each way out has a canary of its own. A packet to anywhere else is attributed by its destination or by
the name in it; what cannot be attributed is heard all the same.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import AsyncIterator, Collection, Mapping

import psutil

LOOPBACKS = ("127.0.0.1", "127.0.0.2", "127.255.255.254", "::1")
"""Where a canary listens, on one port; where there is no IPv6, not there."""

_ETHERTYPE_ALL = 3
_IPV4, _IPV6 = 0x0800, 0x86DD
_TCP, _UDP = 6, 17
_SYN, _SYN_OR_ACK = 0x02, 0x12
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\nok"


class Canary(asyncio.DatagramProtocol):
    """A TCP port on every loopback address and a UDP port, which notes that somebody came."""

    def __init__(self, number: int) -> None:
        self.foreign = f"198.51.100.{number}"
        """An address of no network, for this canary's way alone."""
        self.foreign6 = f"2001:db8:ffff::{number:x}"
        """The same for IPv6."""
        self.near = f"169.254.7.{number}"
        """The same among those that clouds give their machines' secrets at."""
        self.name = f"way{number:03}.example"
        """A name that nobody has."""
        self.port = self.udp = 0
        self.heard: set[str] = set()
        """How somebody came: `tcp`, `udp`, or the packet."""
        self.spoke = asyncio.Event()
        """Set once somebody came."""
        self._loop = asyncio.get_running_loop()

    def hear(self, how: str) -> None:
        """Note from any thread that somebody came."""
        self.heard.add(how)
        self._loop.call_soon_threadsafe(self.spoke.set)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen as long as the context is open."""
        loop = asyncio.get_running_loop()
        async with contextlib.AsyncExitStack() as stack:
            for address in LOOPBACKS:
                with contextlib.suppress(OSError):
                    server = await asyncio.start_server(self._touched, address, self.port)
                    await stack.enter_async_context(server)
                    self.port = server.sockets[0].getsockname()[1]
            transport, _ = await loop.create_datagram_endpoint(
                lambda: self, local_addr=("127.0.0.1", 0)
            )
            stack.callback(transport.close)
            self.udp = transport.get_extra_info("sockname")[1]
            yield

    async def _touched(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.hear("tcp")
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await reader.read(200)
            writer.write(_ANSWER)
        writer.close()

    def datagram_received(self, data: bytes, addr: object) -> None:
        del data, addr
        self.hear("udp")

    @property
    def places(self) -> Mapping[str, str]:
        """What stands for it in a page."""
        server = f"http://127.0.0.1:{self.port}/"
        return {
            "tcp": f"127.0.0.1:{self.port}",
            "port": str(self.port),
            "udp": str(self.udp),
            "foreign": self.foreign,
            "foreign6": self.foreign6,
            "near": self.near,
            "name": self.name,
            "away": f"/away?to={server}",
        }


class Sniffer:
    """Hears every connection and datagram of this network but those to ports of this program and its children."""

    def __init__(self, canaries: Collection[Canary]) -> None:
        """Raise `PermissionError` where no raw socket is allowed."""
        self._canaries = canaries
        self._known: set[int] = set()
        self._socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETHERTYPE_ALL)
        )
        self._others: dict[str, int] = {}
        self.learn()
        threading.Thread(target=self._listen, daemon=True).start()

    def learn(self) -> None:
        """Take the ports on which this program and its children listen now for known."""
        own = psutil.Process()
        for process in (own, *own.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                for end in process.net_connections("inet"):
                    # What a page's own datagrams come from is never known.
                    if end.status == psutil.CONN_LISTEN or process == own:
                        self._known.add(end.laddr.port)

    @property
    def unattributed(self) -> list[str]:
        """Packets of no known way, to no port that has become known since."""
        self.learn()
        return sorted(packet for packet, port in self._others.items() if port not in self._known)

    def close(self) -> None:
        self._socket.close()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                data, (_, protocol, *_) = self._socket.recvfrom(65_535)
                if protocol == _IPV4:
                    kind, to, rest = (
                        data[9],
                        socket.inet_ntoa(data[16:20]),
                        data[(data[0] & 15) * 4 :],
                    )
                elif protocol == _IPV6:
                    kind, rest = data[6], data[40:]
                    to = socket.inet_ntop(socket.AF_INET6, data[24:40])
                else:
                    continue
                if kind in {_TCP, _UDP}:
                    self._note(kind, to, rest)

    def _note(self, kind: int, to: str, rest: bytes) -> None:
        (there,) = struct.unpack("!H", rest[2:4])
        if kind == _TCP and rest[13] & _SYN_OR_ACK != _SYN:
            return
        if there in self._known:
            return
        packet = f"{'tcp' if kind == _TCP else 'udp'} to {to}:{there}"
        speakers = [
            one
            for one in self._canaries
            if to in {one.foreign, one.foreign6, one.near}
            or one.name.partition(".")[0].encode() in rest
        ]
        for one in speakers:
            one.hear(packet)
        if not speakers:
            self._others[packet] = there
