"""Uploads to the Hub and downloads for their hash, never with a whole file in memory.

A file is uploaded from a path, because the client splits only a path or bytes into chunks, of which it
uploads the new ones; a draft without a name has a path for as long as it is open. A file is downloaded
in parts, for its hash alone.
"""

import hashlib
from dataclasses import dataclass
from http import HTTPStatus

from huggingface_hub import CommitOperationAdd, get_session, get_token, hf_raise_for_status

from schemas.base import sha256_hex
from storage.objects.temp_object import Draft, Source

_READ_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository, as the Hub lists it."""

    size: int
    """Bytes."""
    digest: str
    """The SHA-256 of a large file, git's hash of a small one."""
    large: bool
    """Whether it is stored outside git."""


@dataclass(frozen=True, slots=True)
class Addition:
    """A file to be committed; the bytes of a large one are uploaded already."""

    operation: CommitOperationAdd
    """The client's operation."""
    size: int
    """Bytes."""
    sha256: str
    """The SHA-256 of its bytes."""
    git: str
    """Git's hash of it."""

    def is_at(self, entry: RemoteFile | None) -> bool:
        """Return whether the Hub has this very file."""
        if entry is None:
            return False
        digest = self.sha256 if entry.large else self.git
        return (self.size, digest) == (entry.size, entry.digest)


def addition_of(path: str, data: Source) -> Addition:
    """Return a file as the client's operation, by path: it does not split a file object into chunks."""
    sha256 = data.sha256 if isinstance(data, Draft) else sha256_hex(data)
    blob = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    for start in range(0, len(data), _READ_BYTES):
        blob.update(data[start : start + _READ_BYTES])
    source = str(data.open_path) if isinstance(data, Draft) else data
    operation = CommitOperationAdd(path_in_repo=path, path_or_fileobj=source)
    operation.upload_info.sha256 = bytes.fromhex(sha256)
    return Addition(operation, len(data), sha256, blob.hexdigest())


class RemoteHash:
    """A download that hashes a file in parts, and resumes where the connection broke."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._position = 0
        self.hash = hashlib.sha256()
        """The hash of the bytes read so far."""

    def read(self) -> None:
        """Read to the end, from where the last call stopped."""
        request_headers = headers() | {"Accept-Encoding": "identity"}
        if self._position:
            request_headers["Range"] = f"bytes={self._position}-"
        with get_session().stream("GET", self._url, headers=request_headers) as answer:
            if answer.is_error:
                answer.read()
            hf_raise_for_status(answer)
            if answer.status_code != HTTPStatus.PARTIAL_CONTENT:
                self._position, self.hash = 0, hashlib.sha256()
            for part in answer.iter_raw():
                self.hash.update(part)
                self._position += len(part)


def headers() -> dict[str, str]:
    """Return the headers that authorise a request."""
    token = get_token()
    return {} if token is None else {"Authorization": f"Bearer {token}"}
