"""The decision whether a run's version stays readable: `keeping/<N>.json`, put once and never changed.

A version that is about to be published is kept for ever. An unpublished version may be released once it
is old, and then its files may be removed. The first decision about a version stands: a publication that
comes too late is refused, and a clean-up that comes too late leaves the files. Most versions have no
such file, and are readable.

One thing overrules a decision: rows of withdrawn episodes must go, and the versions that have them go too.
"""

import re
import secrets

from schemas.base import canonical_json, parse_json
from schemas.errors import Damaged, NotFound
from storage.objects.protocol import Missing, ObjectStore

PREFIX = "keeping/"
"""The prefix of every key of this module."""

KEY = re.compile(r"keeping/([1-9][0-9]*)\.json")
"""The key of the decision about a version; its group is the number."""

CLOCK = re.compile(r"keeping/clock-[0-9a-f]{16}")
"""An object that is written to read the store's clock, and removed at once."""


def retention_key(number: int) -> str:
    """Return the key of the decision about version `number`."""
    return f"{PREFIX}{number}.json"


def clock_key() -> str:
    """Return a new key of an object that is written to read the store's clock."""
    return f"{PREFIX}clock-{secrets.token_hex(8)}"


async def keep(store: ObjectStore, number: int) -> None:
    """Keep version `number` for ever.

    Raises:
        NotFound: it was released.
        Unwritable: the store cannot be written.
    """
    if not await _decide(store, number, kept=True):
        raise released_error(store, number)


async def release(store: ObjectStore, number: int) -> bool:
    """Release version `number`; return False if it is kept.

    Raises:
        Unwritable: the store cannot be written.
    """
    return not await _decide(store, number, kept=False)


async def take_back(store: ObjectStore, number: int) -> None:
    """Release version `number`, which has rows of withdrawn episodes, even if it was to be kept.

    Raises:
        Unwritable: the store cannot be written.
    """
    await store.put(retention_key(number), _record(kept=False))


async def is_released(store: ObjectStore, number: int) -> bool:
    """Return whether version `number` was released."""
    try:
        return not parse_decision(await store.get(retention_key(number)), retention_key(number))
    except Missing:
        return False


def parse_decision(data: bytes, key: str) -> bool:
    """Return whether a version is kept, from `data`, which was read from `key`.

    Raises:
        Damaged: `data` is not such a decision.
    """
    try:
        decision = parse_json(data)
    except ValueError:
        decision = None
    kept = decision.get("kept") if isinstance(decision, dict) else None
    if not isinstance(kept, bool):
        raise Damaged(f'{key}: expected {{"kept": true}} or {{"kept": false}}')
    return kept


def released_error(store: ObjectStore, number: int) -> NotFound:
    """Return why version `number` cannot be read."""
    return NotFound(
        f"{store.url}: version {number} was released: it was never published, and `stepmill compact` keeps "
        "such versions for 30 days, or it had episodes that were withdrawn since; take a later one"
    )


async def _decide(store: ObjectStore, number: int, *, kept: bool) -> bool:
    """Record whether version `number` is kept unless that is decided; return the decision."""
    key = retention_key(number)
    if await store.put_new(key, _record(kept=kept)):
        return kept
    return parse_decision(await store.get(key), key)


def _record(*, kept: bool) -> bytes:
    return canonical_json({"kept": kept}).encode() + b"\n"
