"""A place a dataset is published to, and what every kind of it can do.

Every kind of destination does the same few things: say what lies there, put a file whole, remove
one, finish, and read a file back for a proof. `apply` holds the order of a publication,
`verify` holds what lies there against its manifest; neither knows a folder from a bucket.

A place that has commits may hold back what it was told until `finish`, and make the card, the
manifest and what goes visible in one of them.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from storage.objects.temp_object import Draft, Source
from storage.publish.card.loading_snippets import Called
from storage.publish.destinations.listing import Content, Stock
from storage.publish.destinations.ownership import MARK
from storage.publish.plan.manifest import TEXTS
from storage.publish.plan.plan import CONFIGS

_OURS = re.compile(
    rf"data/({'|'.join(CONFIGS)})/(train|validation|test)-\d{{5,}}-\d{{3,}}-([0-9a-f]{{16}})\.parquet"
)


def named_hash(path: str) -> str | None:
    """Return what a data file's name tells of its hash; None if publications give no such name."""
    found = _OURS.fullmatch(path)
    return None if found is None else found[3]


def is_ours(path: str) -> bool:
    """Tell whether a file is one that publications write."""
    return path in TEXTS or path == MARK or named_hash(path) is not None


class Destination(Protocol):
    """A place a dataset is published to."""

    @property
    def address(self) -> str:
        """Where it is, for messages."""
        ...

    @property
    def called(self) -> Called:
        """What readers call the dataset there; no path of a machine."""
        ...

    @property
    def called_here(self) -> Called:
        """What whoever publishes calls it."""
        ...

    async def content(self) -> Content:
        """Return what lies there, whosever it is; nothing is written.

        Raises:
            Unwritable: it cannot be read.
            BadConfig: no dataset may lie there.
        """
        ...

    async def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file of `content`, read in parts; None if it is gone.

        Raises:
            Damaged: it cannot be read.
            Unwritable: the place does not let it be read.
        """
        ...

    async def stock(self, run_id: str) -> Stock:
        """Return what lies there, if it is of the run or nobody's yet; nothing is written.

        Raises:
            OtherRun: the dataset of another run lies there.
            Unwritable: something else lies there, or it cannot be read.
            BadConfig: no dataset may lie there.
        """
        ...

    def hold(self) -> AbstractAsyncContextManager[None]:
        """Keep other publications out and clear away what a killed one left half written.

        Raises:
            Unwritable: nothing can be written there, or another publication goes on.
        """
        ...

    def draft(self, folder: str) -> Draft:
        """Return an empty draft of a file in `folder`, of which `put` makes the least work.

        Raises:
            Unwritable: nothing can be written there.
        """
        ...

    async def put(self, path: str, data: Source) -> None:
        """Write a file whole, over whatever was there; a draft may be closed after it.

        Raises:
            Unwritable: it cannot be written, or the place is full.
        """
        ...

    async def delete(self, paths: Sequence[str]) -> None:
        """Remove files; one that is not there is no error.

        Raises:
            Unwritable: one cannot be removed.
        """
        ...

    async def finish(self, version: int) -> None:
        """End the publication of a version: everything is there for all to see when this returns.

        It is also called where there was nothing to do.

        Raises:
            Unwritable: it cannot be ended.
            Conflict: somebody else changed the dataset meanwhile.
        """
        ...

    async def probe(self) -> None:
        """Prove that something can be written, and leave nothing behind.

        Raises:
            BadConfig: whoever asks is not allowed to.
            Unwritable: nothing can be written.
        """
        ...
