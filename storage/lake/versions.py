"""A run's versions: `versions/<N>.json`, each the Delta version of every table at one moment.

A version is put only if absent and never changed, numbers count from 1 without a gap, and within
one the version of `episodes` was read first, so that whatever an episode needs is in the tables
beside it.
"""

import json
import re
from collections.abc import Awaitable, Callable

from pydantic import TypeAdapter, ValidationError

from schemas.base import canonical_json
from schemas.errors import Damaged, NotFound
from storage.lake.retention import gone, is_let_go
from storage.objects.protocol import Missing, ObjectStore

PREFIX = "versions/"
"""What every version's key begins with."""

KEY = re.compile(r"versions/([1-9][0-9]*)\.json")
"""A version's key; its group is the number."""

Versions = dict[str, int]
"""Table name to its Delta version."""

_VERSIONS: TypeAdapter[Versions] = TypeAdapter(Versions)


def version_key(number: int) -> str:
    """Return where version `number` lies."""
    return f"{PREFIX}{number}.json"


async def version_numbers(store: ObjectStore) -> list[int]:
    """Return the numbers of the versions there are, in order."""
    found = [KEY.fullmatch(item.key) async for item in store.list(PREFIX)]
    return sorted(int(match[1]) for match in found if match)


async def read_version(store: ObjectStore, number: int) -> Versions:
    """Return version `number`.

    Raises:
        Damaged: it is missing or cannot be read.
    """
    key = version_key(number)
    try:
        return parse_version(await store.get(key), key)
    except Missing as error:
        raise Damaged(str(error)) from None


async def put_version(store: ObjectStore, number: int, versions: Versions) -> bool:
    """Make version `number`; return False if there is one of that number."""
    return await store.put_new(version_key(number), canonical_json(versions).encode() + b"\n")


def parse_version(data: bytes, key: str) -> Versions:
    """Return the version that `data`, found under `key`, holds.

    Raises:
        Damaged: it holds none.
    """
    try:
        return _VERSIONS.validate_python(json.loads(data), strict=True)
    except (ValueError, ValidationError):
        raise Damaged(f"{key}: is no version file") from None


async def seal(store: ObjectStore, look: Callable[[], Awaitable[Versions]]) -> int:
    """Make a version of what `look` sees unless the last one says the same; return its number.

    0 when there is nothing to see.

    Raises:
        Damaged: a table is older than the last version says.
        Unwritable: the store cannot be written.
    """
    while True:
        numbers = await version_numbers(store)
        number = numbers[-1] if numbers else 0
        last = await read_version(store, number) if numbers else {}
        now = await look()
        for table, version in last.items():
            if now.get(table, -1) < version:
                raise Damaged(
                    f"{store.url}/tables/{table}: the log ends before version {version}, "
                    f"which {version_key(number)} speaks of"
                )
        if now == last:
            return number
        if await put_version(store, number + 1, now):
            return number + 1


async def find_version(store: ObjectStore, number: int | None) -> tuple[int, Versions]:
    """Return version `number`, or the last one, with its number.

    Raises:
        NotFound: there is no such version (those there are are named), or it was let go.
        Damaged: it cannot be read.
    """
    numbers = await version_numbers(store)
    if not numbers:
        raise NotFound(f"{store.url}: has no version yet; let `stepmill generate` end first")
    chosen = numbers[-1] if number is None else number
    if chosen not in numbers:
        there = ", ".join(map(str, numbers))
        raise NotFound(f"{store.url}: has no version {chosen}; there are: {there}")
    if await is_let_go(store, chosen):
        raise gone(store, chosen)
    return chosen, await read_version(store, chosen)
