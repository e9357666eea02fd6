"""An `ObjectStore` in a bucket, below a prefix.

Conditional writes carry the contract: a new object is put if none is there (`If-None-Match`), one
is replaced if it is still the one that was read (`If-Match`). A condition that did not hold is
never taken for "another writer won": the write may have been asked twice, and the first time have
gone in. What lies there is looked at, and the mark of each write tells (see
`storage.objects.s3.uploads`). Nor is it taken for "the key is there": if it is not, the write is
asked again.

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
from storage.objects.protocol import UNFINISHED, Missing, ObjectInfo, ObjectStore, checked_key
from storage.objects.s3.connection import Connection
from storage.objects.s3.errors import Absent, Changed, OutOfRange, UploadGone
from storage.objects.s3.listing import delete, info_of, objects, uploads
from storage.objects.s3.retry import Asker, pauses
from storage.objects.s3.uploads import MARK, Write, carry_out, give_up
from storage.objects.temp_object import Draft, Source

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


class S3Store(ObjectStore):
    """An `ObjectStore` in a bucket that is there already."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        """The bucket's client, which Delta's access shares."""
        self._address = connection.address
        self._bucket = connection.address.bucket
        self._ask = Asker(connection)

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
        try:
            found = await self._ask.read(
                lambda client: client.head_object(Bucket=self._bucket, Key=self._key(key)),
                self._key(key),
            )
        except Absent:
            raise Missing(key, self.url) from None
        return info_of(key, found["ContentLength"], found["LastModified"])

    @override
    async def put(self, key: str, data: Source) -> None:
        write = self._write(key, data)
        for pause in pauses():
            try:
                return await carry_out(self._ask, write)
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
                await carry_out(self._ask, write)
            except (Changed, UploadGone) as answer:
                ours = await self._is_ours(write)
                if ours or (ours is False and isinstance(answer, Changed)):
                    return ours
            else:
                return True
            await self._pause(key, pause)
        return False

    @override
    async def replace(self, key: str, data: bytes, *, expected: bytes) -> None:
        """A conflict may follow a write of ours that was lost since."""
        mark = None
        for pause in pauses():
            found = await self._found(key)
            if found is None or found.data != expected:
                raise Conflict(f"{self.url}/{key}: another writer changed it")
            write = self._write(key, data, mark=mark, IfMatch=found.etag)
            mark = write.mark
            try:
                return await carry_out(self._ask, write)
            except (Absent, Changed, UploadGone):
                if await self._is_ours(write):
                    return None
            await self._pause(key, pause)
        return None

    @override
    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        async for found in objects(self._ask, self._address, prefix):
            if not _is_unfinished(found):
                yield found

    @override
    async def unfinished(self) -> AsyncIterator[ObjectInfo]:
        """Uploads in parts, of a size nobody tells, and probes."""
        async for found in objects(self._ask, self._address, ""):
            if _is_unfinished(found):
                yield found
        async for upload in uploads(self._ask, self._address):
            yield info_of(upload.key.removeprefix(self._address.prefix), 0, upload.begun)

    @override
    async def give_up(self, before: datetime) -> int:
        """Whoever still uploads is told so, and begins again."""
        probes = [
            f"{self._address.prefix}{found.key}"
            async for found in objects(self._ask, self._address, "")
            if _is_unfinished(found) and found.modified < before
        ]
        await delete(self._ask, self._bucket, probes)
        old = [found async for found in uploads(self._ask, self._address) if found.begun < before]
        for upload in old:
            await give_up(self._ask, self._bucket, upload)
        return len(probes) + len(old)

    @override
    async def delete(self, keys: Iterable[str]) -> None:
        await delete(self._ask, self._bucket, [self._key(key) for key in keys])

    @override
    def draft(self, prefix: str) -> Draft:
        del prefix
        return Draft.nameless()

    @override
    async def probe(self) -> None:
        """A store that ignores conditions is refused too."""
        key = f"{self._address.prefix}.tmp-{secrets.token_hex(8)}"
        proved = False
        try:
            await self._prove(Write(self._bucket, key, b"1"))
            proved = True
        finally:
            # What went wrong first is told, and not that it cannot be removed either.
            with nullcontext() if proved else suppress(StepmillError):
                await delete(self._ask, self._bucket, [key])

    async def _prove(self, write: Write) -> None:
        await carry_out(self._ask, write)
        await self._refuse_unconditional(write.key, IfNoneMatch="*")
        await self._refuse_unconditional(write.key, IfMatch=f'"{"0" * 32}"')
        if not await self._is_ours(write):
            raise Unwritable(
                f"{self.url}: the store drops the metadata of objects, by which a write whose "
                f"answer was lost is known; use another store, {SEE}"
            )

    async def _refuse_unconditional(self, key: str, **condition: str) -> None:
        """Write over an object in a way that must fail."""
        header = {"IfNoneMatch": "If-None-Match", "IfMatch": "If-Match"}[next(iter(condition))]
        try:
            await carry_out(self._ask, Write(self._bucket, key, b"2", condition))
        except Changed:
            return
        raise Unwritable(
            f"{self.url}: the store ignores {header}: of two writers of one object both would "
            f"win, and data be lost; use a store with conditional writes, {SEE}"
        )

    async def _found(self, key: str) -> "Found | None":
        try:
            return await self._get(key, {})
        except Absent:
            return None

    async def _get(self, key: str, span: Mapping[str, str]) -> "Found":
        place = {"Bucket": self._bucket, "Key": self._key(key), **span}
        return await self._ask.read(lambda client: _read(client, place), place["Key"])

    async def _is_ours(self, write: Write) -> bool | None:
        """Say whether what lies under the key is of this very write; None if nothing does."""
        place = {"Bucket": write.bucket, "Key": write.key}
        try:
            mark = await self._ask.read(lambda client: _mark(client, place), write.key)
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
        return f"{self._address.prefix}{checked_key(key)}"


class Found(NamedTuple):
    """An object as it lies there."""

    data: bytes
    """Its bytes."""
    etag: str
    """The store's name for its state."""


def _read(client: "S3Client", place: Mapping[str, str]) -> Found:
    answer = client.get_object(**place)  # type: ignore[arg-type] # names of arguments
    return Found(answer["Body"].read(), answer["ETag"])


def _mark(client: "S3Client", place: Mapping[str, str]) -> str | None:
    answer = client.head_object(**place)  # type: ignore[arg-type] # names of arguments
    return answer["Metadata"].get(MARK)


def _is_unfinished(found: ObjectInfo) -> bool:
    return UNFINISHED.fullmatch(found.key.rpartition("/")[2]) is not None
