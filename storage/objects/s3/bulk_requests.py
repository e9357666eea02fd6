"""The requests to a bucket that take several calls: listing, uploading and removing objects.

A page of a listing has at most a thousand objects and is requested on its own, so a broken connection
costs one page. Multipart uploads have a listing of their own. Times are the store's, truncated to
the second, because its other responses have no fraction.

An object is written as a whole: in one call, or in parts that are joined at the end. Until they are
joined, no listing shows the object. Every write puts a unique mark into the object's metadata. When
its response is lost the write is repeated, and the store reports that the key is taken; the mark
then shows whether the first try did that.
"""

import asyncio
import base64
import secrets
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, TypedDict, TypeVar

from botocore.exceptions import ClientError

from schemas.errors import StepmillError, Unwritable
from storage.objects.batch_get import first_error
from storage.objects.error_messages import NONSENSE, explain, is_transient_code
from storage.objects.protocol import ObjectInfo
from storage.objects.s3.address import Address
from storage.objects.s3.errors import (
    Absent,
    ExpectedResponse,
    UploadGone,
    code_of,
    expected_response,
)
from storage.objects.s3.retry import RetryingClient, pauses
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

T = TypeVar("T")

_PART_CONCURRENCY = 4
_MAX_KEYS = 1_000
"""The maximum of keys in one call."""


class _Place(TypedDict):
    """Where an object is, as arguments of a request."""

    Bucket: str
    Key: str


class _Checksum(TypedDict, total=False):
    """A checksum as an argument of a request, or none."""

    ChecksumCRC32: str


class _Page(NamedTuple, Generic[T]):
    """One page of a listing."""

    items: list[T]
    """The entries of the page."""
    next: dict[str, str] | None
    """The parameters that ask for the page after it; None: it is the last."""


class Upload(NamedTuple):
    """A multipart upload in progress."""

    key: str
    """The whole key of the object that it becomes."""
    upload_id: str
    """The store's id of the upload."""
    begun: datetime
    """When it was begun, by the store's clock."""


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


async def write_object(retrying: RetryingClient, write: Write) -> None:
    """Write an object as a whole.

    Raises:
        Changed: its condition did not hold, perhaps because its own first try was carried out.
        Absent: the object to replace does not exist.
        UploadGone: its parts were joined by its own first try, or the upload was aborted.
        Unwritable: it cannot be written.
    """
    if len(write.data) <= MULTIPART_BYTES:
        await retrying.write(lambda client: _put(client, write), write.key)
        return
    upload = await retrying.write(lambda client: _begin_parts(client, write), write.key)
    joined = False
    try:
        parts = await _put_parts(retrying, write, upload)
        await retrying.write(
            lambda client: client.complete_multipart_upload(
                Bucket=write.bucket,
                Key=write.key,
                UploadId=upload,
                MultipartUpload={"Parts": parts},
                **write.condition,  # type: ignore[arg-type] # names of arguments
            ),
            write.key,
        )
        joined = True
    finally:
        if not joined:
            # An upload that cannot be aborted stays in the listing of unfinished writes.
            with suppress(ExpectedResponse, StepmillError):
                await abort_upload(retrying, write.bucket, write.key, upload)


async def abort_upload(retrying: RetryingClient, bucket: str, key: str, upload_id: str) -> None:
    """Abort an upload, of any writer; one that has ended is not an error.

    Raises:
        Unwritable: the store denies it.
    """
    with suppress(UploadGone, Absent):
        await retrying.write(
            lambda client: client.abort_multipart_upload(
                Bucket=bucket, Key=key, UploadId=upload_id
            ),
            key,
        )


async def objects(
    retrying: RetryingClient, address: Address, prefix: str
) -> AsyncIterator[ObjectInfo]:
    """Yield every object below `address` whose key begins with `prefix`.

    Raises:
        NotFound: the bucket does not exist.
        Unwritable: the store does not answer, or denies listing.
    """
    place = {"Bucket": address.bucket, "Prefix": f"{address.prefix}{prefix}"}
    after: dict[str, str] | None = {}
    while after is not None:
        read = partial(_objects, query={**place, **after}, prefix=address.prefix)
        page = await retrying.list(read, place["Prefix"])
        for item in page.items:
            yield item
        _refuse_circle(f"{address.url}/{prefix}", after, page.next)
        after = page.next


async def uploads(retrying: RetryingClient, address: Address) -> AsyncIterator[Upload]:
    """Yield every multipart upload in progress below `address`.

    Raises:
        NotFound: the bucket does not exist.
        Unwritable: the store does not answer, or denies listing.
    """
    place = {"Bucket": address.bucket, "Prefix": address.prefix}
    after: dict[str, str] | None = {}
    while after is not None:
        page = await retrying.list(partial(_uploads, query={**place, **after}), place["Prefix"])
        for upload in page.items:
            yield upload
        _refuse_circle(address.url, after, page.next)
        after = page.next


def _refuse_circle(
    url: str, asked: dict[str, str] | None, following: dict[str, str] | None
) -> None:
    """Refuse a listing whose next page is the page just read: it would never end.

    Raises:
        Unwritable: the next page is the same.
    """
    if asked and asked == following:
        raise Unwritable(f"{url}: cannot be listed: {NONSENSE} (the same page again)")


async def delete(retrying: RetryingClient, bucket: str, keys: Sequence[str]) -> None:
    """Remove objects; a key without an object is not an error.

    Raises:
        Unwritable: one cannot be removed.
    """
    for first in range(0, len(keys), _MAX_KEYS):
        left = list(keys[first : first + _MAX_KEYS])
        for pause in pauses():
            errors = await retrying.write(
                partial(_delete, bucket=bucket, keys=tuple(left)), left[0]
            )
            left = [key for key, code in errors if is_transient_code(code)]
            stuck = [(key, code) for key, code in errors if key not in left or pause is None]
            if stuck:
                (key, code), more = stuck[0], len(stuck) - 1
                raise Unwritable(
                    f"s3://{bucket}/{key}: cannot be removed: "
                    f"{explain(code) or 'the store refuses it'} ({code})"
                    + (f" (and {more} more)" if more else "")
                )
            if not left:
                break
            await asyncio.sleep(pause or 0.0)


def object_info(key: str, size: int, modified: datetime) -> ObjectInfo:
    """Return an object's entry, its time truncated to the second."""
    return ObjectInfo(key=key, size=size, modified=modified.astimezone(UTC).replace(microsecond=0))


def _objects(client: "S3Client", query: Mapping[str, str], *, prefix: str) -> "_Page[ObjectInfo]":
    page = client.list_objects_v2(**query)  # type: ignore[arg-type] # names of arguments
    items = [
        object_info(key, item["Size"], item["LastModified"])
        for item in page.get("Contents", ())
        if (key := item["Key"].removeprefix(prefix))  # some tools make one to stand for the folder
    ]
    more = page.get("IsTruncated")
    return _Page(items, {"ContinuationToken": page["NextContinuationToken"]} if more else None)


def _uploads(client: "S3Client", query: Mapping[str, str]) -> "_Page[Upload]":
    page = client.list_multipart_uploads(**query)  # type: ignore[arg-type] # names of arguments
    items = [
        Upload(item["Key"], item["UploadId"], item["Initiated"].astimezone(UTC))
        for item in page.get("Uploads", ())
    ]
    if not page.get("IsTruncated"):
        return _Page(items, None)
    after = {"KeyMarker": page["NextKeyMarker"], "UploadIdMarker": page["NextUploadIdMarker"]}
    return _Page(items, after)


def _delete(client: "S3Client", bucket: str, keys: Sequence[str]) -> list[tuple[str, str]]:
    """Remove objects; return the keys that were not removed, each with the store's code.

    A request that removes several always has a checksum, so without one they are removed singly.
    """
    if not _sends_checksums(client):
        return [(key, code) for key in keys if (code := _delete_one(client, bucket, key))]
    response = client.delete_objects(
        Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
    )
    return [(error["Key"], error["Code"]) for error in response.get("Errors", ())]


def _delete_one(client: "S3Client", bucket: str, key: str) -> str:
    """Remove an object; return the store's code if it was not removed, else nothing."""
    try:
        client.delete_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if isinstance(expected_response(error), Absent):
            return ""
        return code_of(error) or str(error.response["ResponseMetadata"]["HTTPStatusCode"])
    return ""


async def _put_parts(
    retrying: RetryingClient, write: Write, upload: str
) -> "list[CompletedPartTypeDef]":
    turns = asyncio.Semaphore(_PART_CONCURRENCY)

    async def put(number: int) -> "CompletedPartTypeDef":
        async with turns:
            return await retrying.write(
                lambda client: _put_part(client, write, upload, number), write.key
            )

    count = -(-len(write.data) // PART_BYTES)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(put(number)) for number in range(1, count + 1)]
    except* (ExpectedResponse, StepmillError) as errors:
        raise first_error(errors) from None
    return [task.result() for task in tasks]


def _put(client: "S3Client", write: Write) -> None:
    data = write.data[:]
    client.put_object(
        Bucket=write.bucket,
        Key=write.key,
        Body=data,
        **_checksum(client, data),
        Metadata=write.metadata,
        **write.condition,  # type: ignore[arg-type] # names of arguments
    )


def _begin_parts(client: "S3Client", write: Write) -> str:
    """Begin an upload in parts; return its id."""
    where: _Place = {"Bucket": write.bucket, "Key": write.key}
    if not _sends_checksums(client):
        return client.create_multipart_upload(**where, Metadata=write.metadata)["UploadId"]
    begun = client.create_multipart_upload(
        **where, Metadata=write.metadata, ChecksumAlgorithm="CRC32"
    )
    return begun["UploadId"]


def _put_part(client: "S3Client", write: Write, upload: str, number: int) -> "CompletedPartTypeDef":
    part = write.data[(number - 1) * PART_BYTES : number * PART_BYTES]
    checksum = _checksum(client, part)
    response = client.upload_part(
        Bucket=write.bucket,
        Key=write.key,
        UploadId=upload,
        PartNumber=number,
        Body=part,
        **checksum,
    )
    done: CompletedPartTypeDef = {"ETag": response["ETag"], "PartNumber": number}
    if "ChecksumCRC32" in checksum:
        done["ChecksumCRC32"] = checksum["ChecksumCRC32"]
    return done


def _checksum(client: "S3Client", data: bytes) -> _Checksum:
    """Return the checksum that goes with data; none where the user says that the store knows none."""
    if not _sends_checksums(client):
        return {}
    return {"ChecksumCRC32": base64.b64encode(zlib.crc32(data).to_bytes(4)).decode()}


def _sends_checksums(client: "S3Client") -> bool:
    """Return whether requests have checksums: `AWS_REQUEST_CHECKSUM_CALCULATION=when_required` asks for none."""
    asked: object = getattr(client.meta.config, "request_checksum_calculation", None)
    return asked != "when_required"
