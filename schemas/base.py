"""The record every other record is, and the one canonical form that identities are hashed from.

A record is frozen and refuses unknown fields, so that a misspelt key is an error where it is
written and not a silent default where it is read. `canonical_json` is the only serialisation that
identities may depend on: sorted keys, no spaces, no escapes beyond JSON's own.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue

HASH_CHARS = 32
"""Hex characters kept of a SHA-256 for an id: 128 bits, past any accidental collision."""


class Record(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        ser_json_bytes="base64",
        val_json_bytes="base64",
        ser_json_inf_nan="constants",
    )


def _plain(value: object) -> object:
    """Return `value` with tuples as lists, as JSON has only those."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return value


JsonObject = Annotated[dict[str, JsonValue], BeforeValidator(_plain)]
"""A JSON object kept as such in memory and as a canonical JSON string in a table."""


def canonical_json(value: object) -> str:
    """Return the one JSON text of `value`: sorted keys, no spaces, real Unicode.

    Raises:
        ValueError: `value` holds a NaN or an infinity, which JSON cannot say.
        TypeError: `value` holds something JSON has no form for.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def content_hash(value: object) -> str:
    """Return the hex id (128 bits of SHA-256) of `value`'s canonical JSON."""
    return sha256_hex(canonical_json(value).encode("utf-8", "surrogatepass"))[:HASH_CHARS]


def sha256_hex(data: bytes) -> str:
    """Return the whole SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()
