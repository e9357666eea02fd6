"""Which of a run's versions stay readable: `keeping/<N>.json`, put once and never changed.

A version that is about to be published is kept for ever; one that nobody published may be let go
once it is old, and then its files may go. Whichever is said first of a version stands: a
publication that comes too late is refused, and a clean-up that comes too late leaves the files.
Of most versions nothing is said, and they are readable.
"""

import json
import re
import secrets

from schemas.base import canonical_json
from schemas.errors import Damaged, NotFound
from storage.objects.protocol import Missing, ObjectStore

PREFIX = "keeping/"
"""What the key of everything here begins with."""

KEY = re.compile(r"keeping/([1-9][0-9]*)\.json")
"""What is said of a version; its group is the number."""

CLOCK = re.compile(r"keeping/clock-[0-9a-f]{16}")
"""What is written to learn the time by the store's clock, and removed at once."""


def keeping_key(number: int) -> str:
    """Return where it is said whether version `number` is kept."""
    return f"{PREFIX}{number}.json"


def clock_key() -> str:
    """Return a key that nobody else writes to."""
    return f"{PREFIX}clock-{secrets.token_hex(8)}"


async def keep(store: ObjectStore, number: int) -> None:
    """Keep version `number` for ever.

    Raises:
        NotFound: it was let go.
        Unwritable: the store cannot be written.
    """
    if not await _say(store, number, kept=True):
        raise gone(store, number)


async def let_go(store: ObjectStore, number: int) -> bool:
    """Let version `number` go; False if it is kept.

    Raises:
        Unwritable: the store cannot be written.
    """
    return not await _say(store, number, kept=False)


async def is_let_go(store: ObjectStore, number: int) -> bool:
    """Say whether version `number` was let go."""
    try:
        return not parse_keeping(await store.get(keeping_key(number)), keeping_key(number))
    except Missing:
        return False


def parse_keeping(data: bytes, key: str) -> bool:
    """Return whether `data`, found under `key`, says that a version is kept.

    Raises:
        Damaged: it says nothing.
    """
    try:
        told = json.loads(data)
    except ValueError:
        told = None
    if not isinstance(told, dict) or not isinstance(told.get("kept"), bool):
        raise Damaged(f"{key}: does not say whether the version is kept")
    kept: bool = told["kept"]
    return kept


def gone(store: ObjectStore, number: int) -> NotFound:
    """Return why version `number` cannot be read."""
    return NotFound(
        f"{store.url}: version {number} was let go: it was never published, and `stepmill compact` "
        "keeps such versions for 30 days; take a later one"
    )


async def _say(store: ObjectStore, number: int, *, kept: bool) -> bool:
    """Say whether version `number` is kept unless it is said already; return what is said."""
    key = keeping_key(number)
    if await store.put_new(key, canonical_json({"kept": kept}).encode() + b"\n"):
        return kept
    return parse_keeping(await store.get(key), key)
