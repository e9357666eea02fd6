"""The one layer that asks a store again.

A request is carried out in a thread of this store's own pool. If it fails in a way that passes
(slow down, a server's error, a broken or silent connection) it is asked again after a pause that
doubles and is drawn at random, so that many who were told to slow down do not come back together.

What is asked again may have been carried out the first time. So an `Answer` such as "the condition
did not hold" goes to the caller, who finds out whose doing it was.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from schemas.backoff import Backoff
from storage.objects.s3.address import SCHEME
from storage.objects.s3.connection import CONCURRENCY, Connection
from storage.objects.s3.errors import FAILURES, LISTED, READ, WRITTEN, Failure, answer, passes, told

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

T = TypeVar("T")

BACKOFF = Backoff(first_seconds=0.1, max_seconds=10.0, tries=10, jitter=1.0)
"""Of everything that is asked of a bucket's store."""


class Asker:
    """Asks one bucket's store."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._threads = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="s3")

    async def read(self, work: Callable[["S3Client"], T], key: str = "") -> T:
        """Return what `work` returns, for reading the whole key `key`.

        Raises:
            Answer: what the store says of it.
            NotFound: there is no such bucket.
            Unwritable: the store does not answer, or does not let us in.
            Damaged: the bytes are not those of their checksum.
        """
        return await self._ask(work, key, READ)

    async def list(self, work: Callable[["S3Client"], T], prefix: str) -> T:
        """Return what `work` returns, for listing what lies below `prefix`.

        Raises:
            NotFound: there is no such bucket.
            Unwritable: the store does not answer, or does not let us list.
        """
        return await self._ask(work, prefix, LISTED)

    async def write(self, work: Callable[["S3Client"], T], key: str = "") -> T:
        """Return what `work` returns, for writing the whole key `key`.

        Raises:
            Answer: what the store says of it.
            Unwritable: the store does not answer, or does not let us write.
        """
        return await self._ask(work, key, WRITTEN)

    async def _ask(self, work: Callable[["S3Client"], T], key: str, doing: str) -> T:
        loop = asyncio.get_running_loop()
        for pause in pauses():
            try:
                return await loop.run_in_executor(
                    self._threads, lambda: work(self._connection.client())
                )
            except FAILURES as error:
                expected = self._answer(error, key, last=pause is None, doing=doing)
            if expected is not None:
                raise expected
            await asyncio.sleep(pause or 0.0)
        raise AssertionError("the last try has no pause after it")

    def _answer(self, error: Failure, key: str, *, last: bool, doing: str) -> Exception | None:
        """Return what is to be raised; None if it is to be asked again."""
        expected = answer(error)
        if expected is not None or (passes(error) and not last):
            return expected
        return told(
            error, f"{SCHEME}{self._connection.address.bucket}/{key}".rstrip("/"), doing=doing
        )


def pauses() -> Iterator[float | None]:
    """Return the seconds to wait after each try that fails; None after the last."""
    return BACKOFF.pauses()
