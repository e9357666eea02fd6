"""The files of a task: what a page may be given, and nothing else of the machine.

A task holds their contents, so that it means the same on every machine. A policy names them; no path of the
machine can be named.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Self

from pydantic import Field, field_validator, model_validator

from schemas.base import Record, sha256_hex

MAX_FILES = 20
"""The most files of one task."""

MAX_FILE_BYTES = 2**20
"""The largest file, bytes."""

MAX_NAME_BYTES = 200
"""The longest name of a file, bytes of UTF-8."""

_NOT_IN_NAMES = frozenset('/\\:*?"<>|')


class TaskFile(Record):
    """One file, as a page sees it: a name and its contents."""

    name: str = Field(min_length=1)
    """The name alone, without a folder."""
    text: str | None = None
    """The contents as UTF-8; None: they are in `base64`."""
    base64: str | None = None
    """The contents in base64; None: they are in `text`."""

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not name.isprintable() or name in (".", "..") or _NOT_IN_NAMES & {*name}:
            raise ValueError(
                "a file's name is a name alone: no folder, no '..', no control character"
            )
        if name != name.strip() or len(name.encode()) > MAX_NAME_BYTES:
            raise ValueError(
                f"a file's name has at most {MAX_NAME_BYTES} bytes, and no space at its ends"
            )
        return name

    @model_validator(mode="after")
    def _check_contents(self) -> Self:
        if (self.text is None) == (self.base64 is None):
            raise ValueError("a file has either text or base64")
        if len(self.contents) > MAX_FILE_BYTES:
            raise ValueError(f"a file has at most {MAX_FILE_BYTES:,} bytes")
        return self

    @property
    def contents(self) -> bytes:
        """The bytes of the file.

        Raises:
            ValueError: `base64` is none.
        """
        if self.text is not None:
            return self.text.encode()
        try:
            return base64.b64decode(self.base64 or "", validate=True)
        except binascii.Error as error:
            raise ValueError(f"base64: {error}") from None


def check_files(files: Sequence[TaskFile]) -> None:
    """Check the files of one task together.

    Raises:
        ValueError: they are too many, or two have one name.
    """
    if len(files) > MAX_FILES:
        raise ValueError(f"a task has at most {MAX_FILES} files")
    names = [one.name for one in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two files are called '{twice}'")


def files_hash(files: Sequence[TaskFile]) -> str:
    """Return a hash of names and contents, in any order."""
    told = sorted(f"{one.name}\n{sha256_hex(one.contents)}" for one in files)
    return sha256_hex("\n\n".join(told).encode())
