"""A run's versions: `versions/<N>.json`, each the Delta version of every table at one moment.

A version is put only if absent and never changed. Numbers count from 1 without a gap. The Delta
version of `episodes` is read first, so the other tables have every row that its episodes need.
"""

import re
from collections.abc import Awaitable, Callable

from pydantic import TypeAdapter, ValidationError

from schemas.base import canonical_json, parse_json
from schemas.errors import Damaged, NotFound
from storage.lake.retention import is_released, released_error
from storage.objects.protocol import Missing, ObjectStore

PREFIX = "versions/"
"""The prefix of every version's key."""

KEY = re.compile(r"versions/([1-9][0-9]*)\.json")
"""The key of a version; its group is the number."""

Versions = dict[str, int]
"""Table name to its Delta version."""

_VERSIONS: TypeAdapter[Versions] = TypeAdapter(Versions)


def version_key(number: int) -> str:
    """Return the key of version `number`."""
    return f"{PREFIX}{number}.json"


async def version_numbers(store: ObjectStore) -> list[int]:
    """Return the numbers of all versions, in order."""
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
    """Write version `number`; return False if it exists already."""
    return await store.put_new(version_key(number), canonical_json(versions).encode() + b"\n")


def parse_version(data: bytes, key: str) -> Versions:
    """Return the version in `data`, which was read from `key`.

    Raises:
        Damaged: it is not a version file.
    """
    try:
        return _VERSIONS.validate_python(parse_json(data), strict=True)
    except (ValueError, ValidationError):
        raise Damaged(f"{key}: expected a Delta version for each table") from None


async def seal(store: ObjectStore, read: Callable[[], Awaitable[Versions]]) -> int:
    """Write what `read` returns as a new version unless the last one is the same.

    Return the number of that version; 0 if there are no tables.

    Raises:
        Damaged: a table is older than in the last version.
        Unwritable: the store cannot be written.
    """
    while True:
        numbers = await version_numbers(store)
        number = numbers[-1] if numbers else 0
        last = await read_version(store, number) if numbers else {}
        now = await read()
        for table, version in last.items():
            if now.get(table, -1) < version:
                raise Damaged(
                    f"{store.url}/tables/{table}: the log ends before version {version}, "
                    f"which {version_key(number)} names"
                )
        if now == last:
            return number
        if await put_version(store, number + 1, now):
            return number + 1


async def find_version(store: ObjectStore, number: int | None) -> tuple[int, Versions]:
    """Return version `number`, or the last one, with its number.

    Raises:
        NotFound: the run has no such version (the error names those it has), or it was released.
        Damaged: it cannot be read.
    """
    numbers = await version_numbers(store)
    if not numbers:
        raise NotFound(f"{store.url}: has no version yet; let `stepmill generate` end first")
    chosen = numbers[-1] if number is None else number
    if chosen not in numbers:
        existing = ", ".join(map(str, numbers))
        raise NotFound(f"{store.url}: has no version {chosen}; there are: {existing}")
    if await is_released(store, chosen):
        raise released_error(store, chosen)
    return chosen, await read_version(store, chosen)
