"""An `ObjectStore` in a bucket, below a prefix.

Conditional writes carry the contract: a new object is put if the key is free (`If-None-Match`), and
an object is replaced if it is still the one that was read (`If-Match`). A condition that did not
hold does not prove that another writer won: the write may have been sent twice, and the first time
carried out. The object is read, and its mark shows which write made it (see
`storage.objects.s3.bulk_requests`). Nor does it prove that the key is taken: if it is free, the write is
repeated.

Requests block, so they run in threads of the store's own.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from schemas.errors import Conflict, StepmillError, Unwritable
from storage.objects.error_messages import SEE
from storage.objects.protocol import UNFINISHED, Missing, ObjectInfo, ObjectStore, check_key
from storage.objects.s3.bucket_client import Connection
from storage.objects.s3.bulk_requests import (
    MARK,
    Write,
    abort_upload,
    delete,
    object_info,
    objects,
    uploads,
    write_object,
)
from storage.objects.s3.errors import Absent, Changed, OutOfRange, UploadGone
from storage.objects.s3.retry import RetryingClient, pauses
from storage.objects.temp_object import Draft, Source

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


class S3Store(ObjectStore):
    """An `ObjectStore` in an existing bucket."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        """The bucket's client, which Delta's access shares."""
        self._address = connection.address
        self._bucket = connection.address.bucket
        self._client = RetryingClient(connection)

    @property
    def url(self) -> str:
        """Bucket and prefix."""
        return self._address.url

    @override
    async def get(self, key: str, *, start: int = 0, stop: int | None = None) -> bytes:
        if stop is not None and stop <= start:
            await self.info(key)
            return b""
        whole = start == 0 and stop is None
        span = f"bytes={start}-{'' if stop is None else stop - 1}"
        try:
            return (await self._get(key, {} if whole else {"Range": span})).data
        except Absent:
            raise Missing(key, self.url) from None
        except OutOfRange:
            return b""

    @override
    async def info(self, key: str) -> ObjectInfo:
        place = {"Bucket": self._bucket, "Key": self._key(key)}

        def read(client: "S3Client") -> ObjectInfo:
            head = client.head_object(**place)  # type: ignore[arg-type] # names of arguments
            return object_info(key, head["ContentLength"], head["LastModified"])

        try:
            return await self._client.read(read, place["Key"])
        except Absent:
            raise Missing(key, self.url) from None

    @override
    async def put(self, key: str, data: Source) -> None:
        write = self._write(key, data)
        for pause in pauses():
            try:
                return await write_object(self._client, write)
            except UploadGone:
                if await self._is_ours(write):
                    return None
            await self._pause(key, pause)
        return None

    @override
    async def put_new(self, key: str, data: Source) -> bool:
        write = self._write(key, data, IfNoneMatch="*")
        for pause in pauses():
            try:
                await write_object(self._client, write)
            except (Changed, UploadGone) as response:
                ours = await self._is_ours(write)
                if ours or (ours is False and isinstance(response, Changed)):
                    return ours
            else:
                return True
            await self._pause(key, pause)
        return False

    @override
    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        # A conflict may also follow a write of ours that another writer has replaced since.
        mark = None
        for pause in pauses():
            current = None
            with suppress(Absent):
                current = await self._get(key, {})
            if current is None or current.data != expected:
                raise Conflict(f"{self.url}/{key}: another writer changed it")
            write = self._write(key, data, mark=mark, IfMatch=current.etag)
            mark = write.mark
            try:
                return await write_object(self._client, write)
            except (Absent, Changed, UploadGone):
                if await self._is_ours(write):
                    return None
            await self._pause(key, pause)
        return None

    @override
    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        async for item in objects(self._client, self._address, prefix):
            if not _is_unfinished(item):
                yield item

    @override
    async def unfinished_writes(self) -> AsyncIterator[ObjectInfo]:
        # Multipart uploads, whose size no response states, and probes.
        async for item in objects(self._client, self._address, ""):
            if _is_unfinished(item):
                yield item
        async for upload in uploads(self._client, self._address):
            yield object_info(upload.key.removeprefix(self._address.prefix), 0, upload.begun)

    @override
    async def remove_unfinished(self, before: datetime) -> int:
        # A writer that is still uploading gets `UploadGone`, and starts again.
        probes = [
            f"{self._address.prefix}{item.key}"
            async for item in objects(self._client, self._address, "")
            if _is_unfinished(item) and item.modified < before
        ]
        await delete(self._client, self._bucket, probes)
        old = [
            upload async for upload in uploads(self._client, self._address) if upload.begun < before
        ]
        for upload in old:
            await abort_upload(self._client, self._bucket, upload.key, upload.upload_id)
        return len(probes) + len(old)

    @override
    async def delete(self, keys: Iterable[str]) -> None:
        await delete(self._client, self._bucket, [self._key(key) for key in keys])

    @override
    def draft(self, prefix: str) -> Draft:
        del prefix
        return Draft.nameless()

    @override
    async def probe(self) -> None:
        # A store that ignores conditions is refused too.
        key = f"{self._address.prefix}.tmp-{secrets.token_hex(8)}"
        write = Write(self._bucket, key, b"1")
        succeeded = False
        try:
            await write_object(self._client, write)
            await self._refuse_unconditional(write.key, IfNoneMatch="*")
            await self._refuse_unconditional(write.key, IfMatch=f'"{"0" * 32}"')
            if not await self._is_ours(write):
                raise Unwritable(
                    f"{self.url}: the store drops the metadata of objects, by which a write whose "
                    f"response was lost is recognised; use another store, {SEE}"
                )
            succeeded = True
        finally:
            # The first error is raised, not that the object cannot be removed either.
            with nullcontext() if succeeded else suppress(StepmillError):
                await delete(self._client, self._bucket, [key])

    async def _refuse_unconditional(self, key: str, **condition: str) -> None:
        """Check that a write with a condition that does not hold is refused."""
        header = {"IfNoneMatch": "If-None-Match", "IfMatch": "If-Match"}[next(iter(condition))]
        try:
            await write_object(self._client, Write(self._bucket, key, b"2", condition))
        except Changed:
            return
        raise Unwritable(
            f"{self.url}: the store ignores {header}: two writers of one object would both "
            f"succeed, and data would be lost; use a store with conditional writes, {SEE}"
        )

    async def _get(self, key: str, span: Mapping[str, str]) -> "_Content":
        place = {"Bucket": self._bucket, "Key": self._key(key), **span}

        def read(client: "S3Client") -> _Content:
            response = client.get_object(**place)  # type: ignore[arg-type] # names of arguments
            return _Content(response["Body"].read(), response["ETag"])

        return await self._client.read(read, place["Key"])

    async def _is_ours(self, write: Write) -> bool | None:
        """Return whether this very write made the object of its key; None if there is no object."""
        try:
            mark = await self._client.read(
                lambda client: client.head_object(Bucket=write.bucket, Key=write.key)[
                    "Metadata"
                ].get(MARK),
                write.key,
            )
        except Absent:
            return None
        return mark == write.mark

    async def _pause(self, key: str, seconds: float | None) -> None:
        if seconds is None:
            raise Unwritable(
                f"{self.url}/{key}: cannot be written: the store keeps contradicting itself; "
                "run the same command again later"
            )
        await asyncio.sleep(seconds)

    def _write(self, key: str, data: Source, *, mark: str | None = None, **condition: str) -> Write:
        write = Write(self._bucket, self._key(key), data, condition)
        return write if mark is None else replace(write, mark=mark)

    def _key(self, key: str) -> str:
        return f"{self._address.prefix}{check_key(key)}"


class _Content(NamedTuple):
    """An object and its ETag."""

    data: bytes
    """The object's bytes."""
    etag: str
    """The store's identifier of this content."""


def _is_unfinished(item: ObjectInfo) -> bool:
    return UNFINISHED.fullmatch(item.key.rpartition("/")[2]) is not None
