"""Writing one object as a whole: in one request, or in parts that are joined at the end.

Every write puts a unique mark into the object's metadata. A write whose response was lost is
repeated, and then the store reports that the key is taken; the mark shows whether its own first try
did that. Until its parts are joined an upload is not an object: no listing shows it.
"""

import asyncio
import base64
import secrets
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.errors import StepmillError
from storage.objects.batch_get import first_error
from storage.objects.s3.errors import Absent, Answer, UploadGone
from storage.objects.s3.listing import Upload
from storage.objects.s3.retry import RetryingClient
from storage.objects.temp_object import Source

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import CompletedPartTypeDef

MARK = "stepmill-write"
"""The metadata key of a write's mark."""

MULTIPART_BYTES = 64 << 20
"""An object larger than this is uploaded in parts."""

PART_BYTES = 16 << 20
"""The size of a part; S3 allows 10,000 parts."""

_PART_CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class Write:
    """One object to write."""

    bucket: str
    """The bucket."""
    key: str
    """Its whole key."""
    data: Source = field(repr=False)
    """Its bytes, read in parts."""
    condition: Mapping[str, str] = field(default_factory=dict)
    """`IfNoneMatch` or `IfMatch`; empty: unconditional."""
    mark: str = field(default_factory=lambda: secrets.token_hex(16))
    """Identifies this write among all."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """The object's metadata."""
        return {MARK: self.mark}


async def write_object(ask: RetryingClient, write: Write) -> None:
    """Write an object as a whole.

    Raises:
        Changed: its condition did not hold, perhaps because its own first try was carried out.
        Absent: the object to replace does not exist.
        UploadGone: its parts were joined by its own first try, or the upload was aborted.
        Unwritable: it cannot be written.
    """
    if len(write.data) <= MULTIPART_BYTES:
        await ask.write(lambda client: _put(client, write), write.key)
        return
    upload = await ask.write(lambda client: _begin(client, write), write.key)
    joined = False
    try:
        parts = await _put_parts(ask, write, upload)
        await ask.write(lambda client: _join(client, write, upload, parts), write.key)
        joined = True
    finally:
        if not joined:
            await _give_up(ask, write, upload)


async def _put_parts(
    ask: RetryingClient, write: Write, upload: str
) -> "list[CompletedPartTypeDef]":
    turns = asyncio.Semaphore(_PART_CONCURRENCY)

    async def put(number: int) -> "CompletedPartTypeDef":
        async with turns:
            return await ask.write(
                lambda client: _put_part(client, write, upload, number), write.key
            )

    count = -(-len(write.data) // PART_BYTES)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(put(number)) for number in range(1, count + 1)]
    except* (Answer, StepmillError) as errors:
        raise first_error(errors) from None
    return [task.result() for task in tasks]


async def _give_up(ask: RetryingClient, write: Write, upload: str) -> None:
    """Abort the upload; if that fails, `unfinished` lists it."""
    try:
        await ask.write(lambda client: _abort(client, write, upload), write.key)
    except (Answer, StepmillError):
        return


async def abort_upload(ask: RetryingClient, bucket: str, upload: Upload) -> None:
    """Abort an upload, of any writer; one that has ended is not an error.

    Raises:
        Unwritable: the store denies it.
    """
    with suppress(UploadGone, Absent):
        await ask.write(
            lambda client: client.abort_multipart_upload(
                Bucket=bucket, Key=upload.key, UploadId=upload.upload_id
            ),
            upload.key,
        )


def _put(client: "S3Client", write: Write) -> None:
    data = write.data[:]
    client.put_object(
        Bucket=write.bucket,
        Key=write.key,
        Body=data,
        ChecksumCRC32=_crc32(data),
        Metadata=write.metadata,
        **write.condition,  # type: ignore[arg-type] # names of arguments
    )


def _begin(client: "S3Client", write: Write) -> str:
    return client.create_multipart_upload(
        Bucket=write.bucket, Key=write.key, Metadata=write.metadata, ChecksumAlgorithm="CRC32"
    )["UploadId"]


def _put_part(client: "S3Client", write: Write, upload: str, number: int) -> "CompletedPartTypeDef":
    part = write.data[(number - 1) * PART_BYTES : number * PART_BYTES]
    checksum = _crc32(part)
    answer = client.upload_part(
        Bucket=write.bucket,
        Key=write.key,
        UploadId=upload,
        PartNumber=number,
        Body=part,
        ChecksumCRC32=checksum,
    )
    return {"ETag": answer["ETag"], "PartNumber": number, "ChecksumCRC32": checksum}


def _join(
    client: "S3Client", write: Write, upload: str, parts: "list[CompletedPartTypeDef]"
) -> None:
    client.complete_multipart_upload(
        Bucket=write.bucket,
        Key=write.key,
        UploadId=upload,
        MultipartUpload={"Parts": parts},
        **write.condition,  # type: ignore[arg-type] # names of arguments
    )


def _abort(client: "S3Client", write: Write, upload: str) -> None:
    client.abort_multipart_upload(Bucket=write.bucket, Key=write.key, UploadId=upload)


def _crc32(data: bytes) -> str:
    return base64.b64encode(zlib.crc32(data).to_bytes(4)).decode()
