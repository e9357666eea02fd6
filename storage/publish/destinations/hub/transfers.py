"""Files on their way to the Hub and back, never whole in memory.

A file goes up from a path, since the client cuts nothing but a path or bytes into the chunks of
which it uploads those that are new; a draft without a name has a path for as long as it is open.
It comes back for its hash alone, part by part.
"""

import hashlib
from dataclasses import dataclass
from http import HTTPStatus

from huggingface_hub import CommitOperationAdd, get_session, get_token, hf_raise_for_status

from schemas.base import sha256_hex
from storage.objects.temp_object import Draft, Source

_READ_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Entry:
    """What the Hub says of a file."""

    size: int
    """Bytes."""
    digest: str
    """SHA-256 of a large file, git's own hash of a small one."""
    large: bool
    """It lies outside git."""


@dataclass(frozen=True, slots=True)
class Addition:
    """A file to be committed, whose bytes are on the Hub already if it is a large one."""

    operation: CommitOperationAdd
    """As the client has it."""
    size: int
    """Bytes."""
    sha256: str
    """Of its bytes."""
    git: str
    """Git's own hash of it."""

    def is_at(self, entry: Entry | None) -> bool:
        """Tell whether this is the file that the Hub has."""
        if entry is None:
            return False
        digest = self.sha256 if entry.large else self.git
        return (self.size, digest) == (entry.size, entry.digest)


def addition_of(path: str, data: Source) -> Addition:
    """Return a file as the client wants it: by a path, for a file object it would not cut in chunks."""
    sha256 = data.sha256 if isinstance(data, Draft) else sha256_hex(data)
    blob = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    for start in range(0, len(data), _READ_AT_ONCE):
        blob.update(data[start : start + _READ_AT_ONCE])
    there = str(data.place) if isinstance(data, Draft) else data
    operation = CommitOperationAdd(path_in_repo=path, path_or_fileobj=there)
    operation.upload_info.sha256 = bytes.fromhex(sha256)
    return Addition(operation, len(data), sha256, blob.hexdigest())


class Reading:
    """A file that is read for its hash, in parts, and from where it was when the line was cut."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._at = 0
        self.hash = hashlib.sha256()
        """Of what was read."""

    def go_on(self) -> None:
        """Read to the end."""
        asked = headers() | {"Accept-Encoding": "identity"}
        if self._at:
            asked["Range"] = f"bytes={self._at}-"
        with get_session().stream("GET", self._url, headers=asked) as answer:
            if answer.is_error:
                answer.read()
            hf_raise_for_status(answer)
            if answer.status_code != HTTPStatus.PARTIAL_CONTENT:
                self._at, self.hash = 0, hashlib.sha256()
            for part in answer.iter_raw():
                self.hash.update(part)
                self._at += len(part)


def headers() -> dict[str, str]:
    """Return what a request says of whoever makes it."""
    token = get_token()
    return {} if token is None else {"Authorization": f"Bearer {token}"}
