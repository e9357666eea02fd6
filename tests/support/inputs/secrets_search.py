"""Secrets that are planted, and the search for them in whatever a program left or said.

A secret is looked for as it is and as it is sent: percent-encoded, escaped as JSON, in base64 at
every alignment. Parquet is compressed, so its columns are read, and their texts and bytes searched.
"""

import base64
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, quote_plus

import pyarrow.parquet as pq

_BASE64_BITS = 6


def forms(secret: str) -> set[bytes]:
    """Return what a secret looks like wherever it may have got to."""
    texts = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}
    texts.add(json.dumps(secret)[1:-1])
    return {text.encode() for text in texts} | set(_base64(secret.encode()))


def _base64(secret: bytes) -> Iterator[bytes]:
    """Yield the part of its base64 that does not depend on what is around it."""
    for before in range(3):
        first = -(-8 * before // _BASE64_BITS)
        last = 8 * (before + len(secret)) // _BASE64_BITS
        for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + secret + bytes(2))[first:last]


class Hoard:
    """The secrets, and where they were found."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._forms = {secret: forms(secret) for secret in secrets}
        self.searched = 0
        """Things that were looked at."""

    def found(self, things: Iterable[tuple[str, bytes]]) -> list[str]:
        """Return which secret is in which of some things, by their names."""
        return sorted(
            {
                f"{secret} in {name}"
                for name, data in things
                for part in self._parts(data)
                for secret, looks in self._forms.items()
                if any(look in part for look in looks)
            }
        )

    def _parts(self, data: bytes) -> Iterator[bytes]:
        self.searched += 1
        yield data
        if data[:4] == data[-4:] == b"PAR1":
            table = pq.read_table(io.BytesIO(data))
            yield repr(table.schema.metadata).encode()
            for column in table.columns:
                yield from _values(column.to_pylist())


def _values(values: Iterable[object]) -> Iterator[bytes]:
    for value in values:
        if isinstance(value, bytes):
            yield value
        elif isinstance(value, Mapping):  # a picture
            yield from (item for item in value.values() if isinstance(item, bytes))
        elif value is not None:
            yield str(value).encode()


def files(*folders: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file below some folders, by its path."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield str(path), path.read_bytes()
