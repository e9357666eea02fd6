"""The content-addressed store that the real `hf_xet` uploads to: a folder, by `local://`.

The client is told of the folder where a real Hub tells of a server, and does everything else as it
always does: it cuts files into chunks, and stores those that are not there. Which Xet hash a
file's SHA-256 belongs to is read from the shards that the client left.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

_RECORD = 48
_END = b"\xff" * 32
_RESTORE = """
import json
import sys
import hf_xet
for line in sys.stdin:
    xet, size, to, url = json.loads(line)
    session = hf_xet.XetSession()
    with session.new_file_download_group(
        endpoint=url, token="t", token_expiry_unix_secs=4102444800
    ) as group:
        group.start_download_file(hf_xet.XetFileInfo(xet, size), to)
    del session, group
    print(flush=True)
"""
"""Puts files together as it is told to, and says a blank line after each.

A session holds a lock on the folder, which an upload wants too, so each file has one of its own.
"""


class Cas:
    """A folder of chunks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._known: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._read: set[Path] = set()
        self._restorer: subprocess.Popen[str] | None = None
        self._asking = threading.Lock()

    @property
    def url(self) -> str:
        return f"local://{self.folder}"

    @property
    def bytes(self) -> int:
        """What everything stored comes to, each chunk once."""
        return sum(p.stat().st_size for p in self.folder.rglob("*") if p.is_file())

    def find(self, sha256: str) -> str | None:
        """Return the Xet hash of a file; None if it was never uploaded."""
        if sha256 not in self._known:
            self._look()
        return self._known.get(sha256)

    def size(self, xet: str) -> int | None:
        """Return the size of a file by its Xet hash; None if it was never uploaded."""
        if xet not in self._sizes:
            self._look()
        return self._sizes.get(xet)

    def _look(self) -> None:
        """Read the shards that came since."""
        for path in {*self.folder.rglob("*.mdb")} - self._read:
            self._read.add(path)
            for xet, size, sha256 in _files(path.read_bytes()):
                self._sizes[xet] = size
                if sha256 is not None:
                    self._known[sha256] = xet

    async def restore(self, xet: str, size: int, to: Path) -> None:
        """Put a file together again, by the client's own means in a process of its own."""
        half = to.with_suffix(f".{uuid4().hex}")
        if not await asyncio.to_thread(self._restored, xet, size, half):
            raise RuntimeError(f"{xet}: cannot be put together from {self.folder}")
        half.replace(to)

    def _restored(self, xet: str, size: int, to: Path) -> bool:
        """Ask the process, which is started for the first file and stays for the others."""
        with self._asking:
            if self._restorer is None:
                self._restorer = subprocess.Popen(
                    [sys.executable, "-c", _RESTORE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            assert self._restorer.stdin is not None
            assert self._restorer.stdout is not None
            self._restorer.stdin.write(json.dumps([xet, size, str(to), self.url]) + "\n")
            self._restorer.stdin.flush()
            return bool(self._restorer.stdout.readline())

    def close(self) -> None:
        """End the process."""
        with self._asking:
            if self._restorer is not None:
                self._restorer.communicate()


def _files(shard: bytes) -> Iterator[tuple[str, int, str | None]]:
    """Yield Xet hash, size and SHA-256 of every file a shard tells of; a file of a bucket has no SHA-256."""
    place = _RECORD
    while place + _RECORD <= len(shard) and shard[place : place + 32] != _END:
        xet = _hex(shard[place : place + 32])
        flags = int.from_bytes(shard[place + 32 : place + 36], "little")
        count = int.from_bytes(shard[place + 36 : place + 40], "little")
        parts = range(place + _RECORD, place + _RECORD * (1 + count), _RECORD)
        size = sum(int.from_bytes(shard[part + 36 : part + 40], "little") for part in parts)
        verified = count if flags >> 31 & 1 else 0
        place += _RECORD * (1 + count + verified)
        sha256 = None
        if flags >> 30 & 1:
            sha256 = _hex(shard[place : place + 32])
            place += _RECORD
        yield xet, size, sha256


def _hex(words: bytes) -> str:
    return b"".join(words[start : start + 8][::-1] for start in range(0, 32, 8)).hex()
