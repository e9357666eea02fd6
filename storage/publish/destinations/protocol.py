"""The protocol of a destination: a folder, a bucket or a repository that a dataset is published to.

A destination lists its files, puts a file as a whole, removes files, finishes a publication, and hashes
a file for verification. `apply` knows the order of a publication, `verify` compares a destination with
its manifest; neither knows which kind of destination it is.

A destination with commits may hold changes back until `finish`, and make the card, the manifest and the
removals visible in one commit.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from storage.objects.temp_object import Draft, Source
from storage.publish.card.loading import DatasetName
from storage.publish.destinations.ownership import MARK, Listing, OwnedListing, check_owner
from storage.publish.plan.config_columns import DATASET_CONFIGS
from storage.publish.plan.manifest import TEXTS

ONE_WRITER = (
    "a bucket on the Hub takes one writer at a time; run this again when no other is under way"
)
"""What is said to a second writer where one is taken at a time."""

_OURS = re.compile(
    rf"data/(?:{'|'.join(DATASET_CONFIGS)})/(?:train|validation|test)-(?:[0-9a-f]{{8}}-)?\d{{5,}}-\d{{3,}}-"
    r"([0-9a-f]{16})\.parquet"
    r"|index/[0-9a-f]{8}-([0-9a-f]{16})\.parquet"
)
_VERSION = re.compile(r"versions/\d{6,}\.json")


def version_path(version: int) -> str:
    """Return the path of the file that lists the files of a version of a collection."""
    return f"versions/{version:06d}.json"


def hash_in_name(path: str) -> str | None:
    """Return the part of the hash in a data file's name; None for any other name."""
    match = _OURS.fullmatch(path)
    return None if match is None else match[1] or match[2]


def is_published_path(path: str) -> bool:
    """Return whether publications write files of this name."""
    return path in TEXTS or path == MARK or hash_in_name(path) is not None or is_version(path)


def is_version(path: str) -> bool:
    """Return whether this is the path of a file that lists the files of a version of a collection."""
    return _VERSION.fullmatch(path) is not None


class Destination(Protocol):
    """A folder, bucket or repository that a dataset is published to."""

    @property
    def address(self) -> str:
        """Its URL or path, for messages."""
        ...

    @property
    def name(self) -> DatasetName:
        """The name by which readers load the dataset; no path of this machine."""
        ...

    @property
    def has_tags(self) -> bool:
        """Whether `finish` tags each version, so that no file need list its files."""
        return False

    @property
    def one_writer(self) -> bool:
        """Whether it takes one writer at a time, so that a second one is refused and nothing is planned anew."""
        return False

    @property
    def local_name(self) -> DatasetName:
        """The name by which the publisher loads it, as readers do unless it is of this machine."""
        return self.name

    async def listing(self) -> Listing:
        """Return the files at the destination, of any owner; nothing is written.

        Raises:
            Unwritable: it cannot be read.
            BadConfig: no dataset may be published there.
        """
        ...

    async def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file of `listing`, read in parts; None if it is gone.

        Raises:
            Damaged: it cannot be read.
            Unwritable: the destination denies access.
        """
        ...

    async def read(self, path: str) -> bytes:
        """Return the bytes of a file of `listing`.

        Raises:
            Damaged: it is gone, or cannot be read.
            Unwritable: the destination denies access.
        """
        ...

    async def owned_listing(self, run_id: str) -> OwnedListing:
        """Return the files at the destination, which must be empty or the run's; nothing is written.

        `run_id` is `collection` where a night is to be added.

        Raises:
            OtherRun: it holds the dataset of another run.
            Unwritable: it holds something else, or cannot be read.
            BadConfig: no dataset may be published there.
        """
        return check_owner(self.address, run_id, await self.listing())

    def hold(self, *, wait: bool = False) -> AbstractAsyncContextManager[None]:
        """Lock out other publications and remove the unfinished files of a killed one.

        Raises:
            Unwritable: it cannot be written, or another publication is running and `wait` is false.
        """
        ...

    def draft(self, folder: str) -> Draft:
        """Return an empty draft for a file in `folder`, in the form that `put` copies least.

        Raises:
            Unwritable: it cannot be written.
        """
        ...

    async def put(self, path: str, data: Source) -> None:
        """Write a file as a whole, replacing an old one; a draft may be closed afterwards.

        Raises:
            Unwritable: it cannot be written, or the destination is full.
        """
        ...

    async def claim(self, path: str, data: bytes) -> bool:
        """Write a small file where there is none, and return whether it is there with these bytes.

        Where `hold` keeps every other publication out, one that is there is of a killed one and is replaced.

        Raises:
            Unwritable: it cannot be written.
        """
        ...

    async def delete(self, paths: Sequence[str]) -> None:
        """Remove files; a path without a file is not an error.

        Raises:
            Unwritable: one cannot be removed.
        """
        ...

    async def finish(self, version: int) -> None:
        """End the publication of a version; all of it is visible to readers when this returns.

        It is also called when nothing had to be written.

        Raises:
            Unwritable: it cannot be ended.
            Conflict: another writer changed the dataset meanwhile.
        """
        ...

    async def probe(self) -> None:
        """Check that the destination can be written, and leave nothing behind.

        Raises:
            BadConfig: the credentials do not allow it.
            Unwritable: it cannot be written.
        """
        ...
