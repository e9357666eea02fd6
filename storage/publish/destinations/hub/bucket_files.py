"""The files of a Storage Bucket on the Hugging Face Hub: the few requests that a publication makes.

A bucket has no commits: a batch of files is visible when the Hub has taken it, and may be taken in part. What was not
taken is sent again, and refused by name in the end. Nothing tells the Hub to write only what nobody else has written.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from huggingface_hub import BucketFile, get_session, hf_raise_for_status
from huggingface_hub.errors import BucketBatchError
from pyarrow import fs

from schemas.backoff import Backoff
from schemas.errors import NotFound, Unwritable
from storage.objects.temp_object import Draft, Source
from storage.publish.destinations.hub.client import HubClient
from storage.publish.destinations.hub.errors import RepositoryMissing, one_line
from storage.publish.destinations.hub.transfers import headers

_TRIES = Backoff(first_seconds=0.5, max_seconds=8.0, tries=4, jitter=0.5)
"""How often files are sent that the Hub does not take, while it answers: why it does not may be for good."""

_NAMED_FAILURES = 3
"""Files that an error names of those that the Hub did not take."""

_Change = Callable[[Sequence[str]], dict[str, str]]
"""Changes files, and returns why the Hub did not take some of them, by path."""


class BucketFiles(HubClient):
    """The files below a prefix of a bucket, which need not exist yet."""

    def __init__(self, bucket: str, prefix: str, *, address: str, endpoint: str | None) -> None:
        super().__init__(address=address, endpoint=endpoint)
        self._bucket = bucket
        self._folder = f"{prefix}/" if prefix else ""

    async def is_private(self) -> bool | None:
        """Return whether only the bucket's owners see it; None if it does not exist."""
        try:
            return await self._retry(lambda: bool(self._api.bucket_info(self._bucket).private))
        except RepositoryMissing:
            return None

    async def create(self, *, private: bool) -> None:
        """Create the bucket unless it exists."""
        await self._retry(
            lambda: self._api.create_bucket(self._bucket, private=private, exist_ok=True)
        )

    async def sizes(self) -> dict[str, int]:
        """Return the size of every file, by path."""
        return await self._once(self._sizes)

    async def read(self, path: str) -> bytes | None:
        """Return a file's bytes; None without one."""
        try:
            return await self._download(self._url(path))
        except RepositoryMissing:
            raise
        except NotFound:
            return None

    async def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file's bytes; None without one."""
        try:
            return await self._digest(self._url(path))
        except RepositoryMissing:
            raise
        except NotFound:
            return None

    def filesystem(self) -> fs.FileSystem:
        """Return the files, for reading parts of them."""
        return self._filesystem(f"buckets/{self._bucket}/{self._folder}".rstrip("/"))

    async def put(self, files: Mapping[str, Source]) -> None:
        """Upload files and make them visible; drafts may be closed when this returns.

        Raises:
            Unwritable: the Hub does not take one of them; others may be there.
        """
        await self._settle(files, lambda left: self._put({path: files[path] for path in left}))

    async def delete(self, paths: Collection[str]) -> None:
        """Remove files; a path without a file is not an error.

        Raises:
            Unwritable: the Hub does not remove one of them.
        """
        await self._settle(paths, self._delete)

    async def _settle(self, paths: Collection[str], change: _Change) -> None:
        """Change files until the Hub has taken all of them.

        Raises:
            Unwritable: it does not take one; the error names it.
        """
        left, failures = sorted(paths), dict[str, str]()
        for pause in _TRIES.pauses():
            failures = await self._send(left[0], partial(change, left))
            if not failures:
                return
            left = sorted(failures)
            if pause is not None:
                await asyncio.sleep(pause)
        raise Unwritable(f"{self._address}: {_not_taken(failures)}")

    def _put(self, files: Mapping[str, Source]) -> dict[str, str]:
        add: list[tuple[str | Path | bytes, str]] = [
            (str(data.open_path) if isinstance(data, Draft) else data, self._folder + path)
            for path, data in files.items()
        ]
        return self._batch(add=add)

    def _delete(self, paths: Sequence[str]) -> dict[str, str]:
        wanted = [self._folder + path for path in paths]
        there = [file.path for file in self._api.get_bucket_paths_info(self._bucket, wanted)]
        return self._batch(delete=there) if there else {}

    def _batch(
        self,
        *,
        add: Sequence[tuple[str | Path | bytes, str]] = (),
        delete: Sequence[str] = (),
    ) -> dict[str, str]:
        """Send a batch; return why the Hub did not take some of its files, by path."""
        try:
            self._api.batch_bucket_files(self._bucket, add=[*add], delete=[*delete])
        except BucketBatchError as error:
            return {one["path"].removeprefix(self._folder): one["error"] for one in error.failures}
        except (RuntimeError, OSError):
            self._ask_for_upload()
            raise
        return {}

    def _ask_for_upload(self) -> None:
        """Ask whether the token may upload; Xet, which asks the same first, does not say why not."""
        route = f"{self._api.endpoint}/api/buckets/{self._bucket}/xet-write-token"
        hf_raise_for_status(get_session().get(route, headers=headers()))

    def _sizes(self) -> dict[str, int]:
        # The Hub takes a prefix for the beginning of a name, not for a folder.
        items = self._api.list_bucket_tree(
            self._bucket, prefix=self._folder.rstrip("/") or None, recursive=True
        )
        return {
            item.path.removeprefix(self._folder): item.size
            for item in items
            if isinstance(item, BucketFile) and item.path.startswith(self._folder)
        }

    def _url(self, path: str) -> str:
        name = quote(self._folder + path, safe="")
        return f"{self._api.endpoint}/buckets/{self._bucket}/resolve/{name}"


def _not_taken(failures: Mapping[str, str]) -> str:
    """Return which files the Hub did not take, and why."""
    named = [f"{path} ({one_line(why)})" for path, why in sorted(failures.items())]
    more = len(named) - _NAMED_FAILURES
    return (
        f"the Hub did not take {', '.join(named[:_NAMED_FAILURES])}"
        + (f" and {more} more" if more > 0 else "")
        + "; run the same command again, what it took is not lost"
    )
