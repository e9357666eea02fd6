"""The one layer that retries requests to a bucket.

A request runs in a thread of the store's own pool. If it fails in a way that a retry may overcome
(slow down, a server error, a broken or silent connection) it is repeated after a pause.

A request that is repeated may have been carried out the first time. So an `ExpectedResponse` such as
"the condition did not hold" goes to the caller, which finds out whether its own first try caused it.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from schemas.backoff import Backoff
from storage.objects.s3.address import SCHEME
from storage.objects.s3.bucket_client import CONCURRENCY, Connection
from storage.objects.s3.errors import (
    FAILURES,
    LISTED,
    READ,
    WRITTEN,
    expected_response,
    is_transient,
    request_error,
)

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

T = TypeVar("T")

BACKOFF = Backoff(first_seconds=0.1, max_seconds=10.0, tries=10, jitter=1.0)
"""The back-off of every request to a bucket."""


class RetryingClient:
    """Sends requests to one bucket, and retries them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._threads = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="s3")

    async def read(self, work: Callable[["S3Client"], T], key: str = "") -> T:
        """Return the result of `work`, which reads the object at the whole key `key`.

        Raises:
            ExpectedResponse: a response that the caller handles.
            NotFound: the bucket does not exist.
            Unwritable: the store does not answer, or denies access.
            Damaged: the bytes are not those of their checksum.
        """
        return await self._request(work, key, READ)

    async def list(self, work: Callable[["S3Client"], T], prefix: str) -> T:
        """Return the result of `work`, which lists the keys below `prefix`.

        Raises:
            NotFound: the bucket does not exist.
            Unwritable: the store does not answer, or denies listing.
        """
        return await self._request(work, prefix, LISTED)

    async def write(self, work: Callable[["S3Client"], T], key: str = "") -> T:
        """Return the result of `work`, which writes the object at the whole key `key`.

        Raises:
            ExpectedResponse: a response that the caller handles.
            Unwritable: the store does not answer, or denies writing.
        """
        return await self._request(work, key, WRITTEN)

    async def _request(self, work: Callable[["S3Client"], T], key: str, doing: str) -> T:
        loop = asyncio.get_running_loop()
        for pause in pauses():
            try:
                return await loop.run_in_executor(
                    self._threads, lambda: work(self._connection.client())
                )
            except FAILURES as error:
                expected, failure = expected_response(error), error
            if expected is not None:
                raise expected
            if pause is None or not is_transient(failure):
                url = f"{SCHEME}{self._connection.address.bucket}/{key}".rstrip("/")
                raise request_error(failure, url, doing=doing)
            await asyncio.sleep(pause)
        raise AssertionError("the last try has no pause after it")


def pauses() -> Iterator[float | None]:
    """Return the seconds to wait after each try that fails; None after the last."""
    return BACKOFF.pauses()
