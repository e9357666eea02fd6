"""Listing and removing the objects below a prefix, a thousand per request.

Multipart uploads are listed separately. Each page is requested on its own, so that a broken
connection costs one page. Times are the store's, truncated to the second, because its other
responses have no fraction.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from schemas.errors import Unwritable
from storage.objects.error_messages import explain, is_transient_code
from storage.objects.protocol import ObjectInfo
from storage.objects.s3.address import Address
from storage.objects.s3.retry import RetryingClient, pauses

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import (
        ErrorTypeDef,
        ListMultipartUploadsOutputTypeDef,
        ListObjectsV2OutputTypeDef,
    )

_MAX_KEYS = 1_000
"""The maximum of keys in one request."""


async def objects(ask: RetryingClient, address: Address, prefix: str) -> AsyncIterator[ObjectInfo]:
    """Yield every object below `address` whose key begins with `prefix`.

    Raises:
        NotFound: the bucket does not exist.
        Unwritable: the store does not answer, or denies listing.
    """
    place = {"Bucket": address.bucket, "Prefix": f"{address.prefix}{prefix}"}
    after: dict[str, str] | None = {}
    while after is not None:
        page = await ask.list(partial(_objects, query={**place, **after}), place["Prefix"])
        for item in page.get("Contents", ()):
            key = item["Key"].removeprefix(address.prefix)
            if key:  # some tools make an empty object to stand for the folder
                yield info_of(key, item["Size"], item["LastModified"])
        more = page.get("IsTruncated")
        after = {"ContinuationToken": page["NextContinuationToken"]} if more else None


class Upload(NamedTuple):
    """A multipart upload in progress."""

    key: str
    """The whole key of the object that it becomes."""
    upload_id: str
    """The store's id of the upload."""
    begun: datetime
    """When it was begun, by the store's clock."""


async def uploads(ask: RetryingClient, address: Address) -> AsyncIterator[Upload]:
    """Yield every multipart upload in progress below `address`.

    Raises:
        NotFound: the bucket does not exist.
        Unwritable: the store does not answer, or denies listing.
    """
    place = {"Bucket": address.bucket, "Prefix": address.prefix}
    after: dict[str, str] | None = {}
    while after is not None:
        page = await ask.list(partial(_uploads, query={**place, **after}), place["Prefix"])
        for item in page.get("Uploads", ()):
            yield Upload(item["Key"], item["UploadId"], item["Initiated"].astimezone(UTC))
        after = None
        if page.get("IsTruncated"):
            after = {
                "KeyMarker": page["NextKeyMarker"],
                "UploadIdMarker": page["NextUploadIdMarker"],
            }


async def delete(ask: RetryingClient, bucket: str, keys: Sequence[str]) -> None:
    """Remove objects; a key without an object is not an error.

    Raises:
        Unwritable: one cannot be removed.
    """
    for first in range(0, len(keys), _MAX_KEYS):
        left = list(keys[first : first + _MAX_KEYS])
        for pause in pauses():
            errors = await ask.write(partial(_delete, bucket=bucket, keys=tuple(left)), left[0])
            left = [error["Key"] for error in errors if is_transient_code(error["Code"])]
            stuck = [error for error in errors if error["Key"] not in left or pause is None]
            if stuck:
                raise _removal_error(bucket, stuck)
            if not left:
                break
            await asyncio.sleep(pause or 0.0)


def info_of(key: str, size: int, modified: datetime) -> ObjectInfo:
    """Return an object's entry, its time truncated to the second."""
    return ObjectInfo(key=key, size=size, modified=modified.astimezone(UTC).replace(microsecond=0))


def _objects(client: "S3Client", query: Mapping[str, str]) -> "ListObjectsV2OutputTypeDef":
    return client.list_objects_v2(**query)  # type: ignore[arg-type] # names of arguments


def _uploads(client: "S3Client", query: Mapping[str, str]) -> "ListMultipartUploadsOutputTypeDef":
    return client.list_multipart_uploads(**query)  # type: ignore[arg-type] # names of arguments


def _delete(client: "S3Client", bucket: str, keys: Sequence[str]) -> "list[ErrorTypeDef]":
    answer = client.delete_objects(
        Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
    )
    return answer.get("Errors", [])


def _removal_error(bucket: str, errors: "Sequence[ErrorTypeDef]") -> Unwritable:
    first = errors[0]
    words = explain(first["Code"]) or "the store refuses it"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return Unwritable(
        f"s3://{bucket}/{first['Key']}: cannot be removed: {words} ({first['Code']}){more}"
    )
