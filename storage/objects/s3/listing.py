"""What lies below a prefix, a page of a thousand at a time; and removing it by the thousand.

A listing shows objects; what is being uploaded in parts is listed apart. Each page is asked for
on its own, so that a broken connection costs one page. What a listing says of the time is the
store's, cut to the second, which is all that its other answers say.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from schemas.errors import Unwritable
from storage.objects.error_messages import passing_code, words_for
from storage.objects.protocol import ObjectInfo
from storage.objects.s3.address import Address
from storage.objects.s3.retry import Asker, pauses

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import (
        ErrorTypeDef,
        ListMultipartUploadsOutputTypeDef,
        ListObjectsV2OutputTypeDef,
    )

_AT_ONCE = 1_000
"""Keys in one request to remove them: the most there may be."""


async def objects(ask: Asker, address: Address, prefix: str) -> AsyncIterator[ObjectInfo]:
    """Yield every object below `address` whose key begins with `prefix`.

    Raises:
        NotFound: there is no such bucket.
        Unwritable: the store does not answer, or does not let us list.
    """
    place = {"Bucket": address.bucket, "Prefix": f"{address.prefix}{prefix}"}
    after: dict[str, str] | None = {}
    while after is not None:
        page = await ask.list(partial(_objects, asked={**place, **after}), place["Prefix"])
        for found in page.get("Contents", ()):
            key = found["Key"].removeprefix(address.prefix)
            if key:  # some tools make an empty object to stand for the folder
                yield info_of(key, found["Size"], found["LastModified"])
        more = page.get("IsTruncated")
        after = {"ContinuationToken": page["NextContinuationToken"]} if more else None


class Upload(NamedTuple):
    """An upload in parts that has not ended."""

    key: str
    """What it is to become, whole."""
    upload_id: str
    """The store's name for it."""
    begun: datetime
    """When it was begun, by the store's clock."""


async def uploads(ask: Asker, address: Address) -> AsyncIterator[Upload]:
    """Yield every upload in parts below `address` that has not ended.

    Raises:
        NotFound: there is no such bucket.
        Unwritable: the store does not answer, or does not let us list.
    """
    place = {"Bucket": address.bucket, "Prefix": address.prefix}
    after: dict[str, str] | None = {}
    while after is not None:
        page = await ask.list(partial(_uploads, asked={**place, **after}), place["Prefix"])
        for found in page.get("Uploads", ()):
            yield Upload(found["Key"], found["UploadId"], found["Initiated"].astimezone(UTC))
        after = None
        if page.get("IsTruncated"):
            after = {
                "KeyMarker": page["NextKeyMarker"],
                "UploadIdMarker": page["NextUploadIdMarker"],
            }


async def delete(ask: Asker, bucket: str, keys: Sequence[str]) -> None:
    """Remove objects; one that is not there is no error.

    Raises:
        Unwritable: one cannot be removed.
    """
    for first in range(0, len(keys), _AT_ONCE):
        left = list(keys[first : first + _AT_ONCE])
        for pause in pauses():
            errors = await ask.write(partial(_delete, bucket=bucket, keys=tuple(left)), left[0])
            left = [error["Key"] for error in errors if passing_code(error["Code"])]
            stuck = [error for error in errors if error["Key"] not in left or pause is None]
            if stuck:
                raise _unremoved(bucket, stuck)
            if not left:
                break
            await asyncio.sleep(pause or 0.0)


def info_of(key: str, size: int, modified: datetime) -> ObjectInfo:
    """Return what is known of an object."""
    return ObjectInfo(key=key, size=size, modified=modified.astimezone(UTC).replace(microsecond=0))


def _objects(client: "S3Client", asked: Mapping[str, str]) -> "ListObjectsV2OutputTypeDef":
    return client.list_objects_v2(**asked)  # type: ignore[arg-type] # names of arguments


def _uploads(client: "S3Client", asked: Mapping[str, str]) -> "ListMultipartUploadsOutputTypeDef":
    return client.list_multipart_uploads(**asked)  # type: ignore[arg-type] # names of arguments


def _delete(client: "S3Client", bucket: str, keys: Sequence[str]) -> "list[ErrorTypeDef]":
    answer = client.delete_objects(
        Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
    )
    return answer.get("Errors", [])


def _unremoved(bucket: str, errors: "Sequence[ErrorTypeDef]") -> Unwritable:
    first = errors[0]
    words = words_for(first["Code"]) or "the store refuses it"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return Unwritable(
        f"s3://{bucket}/{first['Key']}: cannot be removed: {words} ({first['Code']}){more}"
    )
