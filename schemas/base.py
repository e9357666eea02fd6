"""The base of every record, and the one canonical form that identities are hashed from.

A record is frozen and refuses unknown fields, so that a misspelt key is an error where it is written and
not a silent default where it is read. `canonical_json` is the only serialisation that
identities may depend on: sorted keys, no spaces, no escapes beyond JSON's own.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    JsonValue,
    ValidationError,
)

HASH_CHARS = 32
"""Hex characters of a SHA-256 that make an id: 128 bits, enough against accidental collisions."""


_ANY_LENGTH = 2**31 - 1


class Record(BaseModel):
    """A frozen value that refuses unknown fields, and values that no table or JSON text can hold.

    Pages and models do send half a surrogate pair, NaN or an infinity. A record refuses them while the
    sender is still known; at the commit, one such value would fail its whole unit.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        str_max_length=_ANY_LENGTH,  # with any limit pydantic checks that a string is valid Unicode
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )


def _without_tuples(value: object) -> object:
    """Return `value` with tuples as lists, because JSON has no tuples."""
    if value is None or isinstance(
        value, str | int | float
    ):  # the common case; the checks below are slow
        return value
    if isinstance(value, Mapping):
        return {str(key): _without_tuples(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_without_tuples(item) for item in value]
    return value


def _to_utc(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise ValueError(
            f"expected a time with its zone, as 2026-01-02T03:04:05Z, got {value.isoformat()}"
        )
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("expected a time from year 1 to 9999 in UTC") from error


Moment = Annotated[datetime, AfterValidator(_to_utc)]
"""A point in time with microseconds, always in UTC, so that it reads back as it was written."""

JsonObject = Annotated[dict[str, JsonValue], BeforeValidator(_without_tuples)]
"""A JSON object; in a table it is a canonical JSON string."""


def canonical_json(value: object) -> str:
    """Return the one JSON text of `value`: sorted keys, no spaces, real Unicode.

    Raises:
        ValueError: `value` has a NaN or an infinity, which JSON cannot express.
        TypeError: `value` has an object of a type that JSON lacks.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def parse_json(text: str | bytes) -> JsonValue:
    """Return the value of a JSON text from outside.

    Raises:
        ValueError: the text is not JSON, its brackets are nested too deep, or a number has too many
            digits.
    """
    try:
        value: JsonValue = json.loads(text)
    except RecursionError:
        raise ValueError("brackets are nested too deep in each other") from None
    return value


def content_hash(value: object) -> str:
    """Return the hex id (128 bits of SHA-256) of `value`'s canonical JSON."""
    return sha256_hex(canonical_json(value).encode("utf-8", "surrogatepass"))[:HASH_CHARS]


def sha256_hex(data: bytes) -> str:
    """Return the full SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()


def first_mistake(error: ValidationError) -> str:
    """Return the place and the reason of the first mistake in a record, on one line."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "[key]")
    reason = first["msg"].removeprefix("Value error, ")
    return f"{place}: {reason}" if place else reason
