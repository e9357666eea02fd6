"""Several objects of a store, requested at the same time and returned in order.

Requested one by one, a few hundred small objects of a bucket take half a minute.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from schemas.errors import StepmillError
from storage.objects.protocol import Missing, ObjectStore

_CONCURRENCY = 16


async def get_many(
    store: ObjectStore, keys: Sequence[str]
) -> AsyncIterator[tuple[str, bytes | None]]:
    """Yield each of `keys` with its object, None for a missing one; at most 16 are in memory.

    Raises:
        Unwritable: the store does not answer, or denies access.
        Damaged: an object cannot be read.
    """
    for first in range(0, len(keys), _CONCURRENCY):
        batch = keys[first : first + _CONCURRENCY]
        for key, data in zip(batch, await _get_all(store, batch), strict=True):
            yield key, data


async def _get_all(store: ObjectStore, keys: Sequence[str]) -> list[bytes | None]:
    async def get(key: str) -> bytes | None:
        try:
            return await store.get(key)
        except Missing:
            return None

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(get(key)) for key in keys]
    except* StepmillError as errors:
        raise first_error(errors) from None
    return [task.result() for task in tasks]


def first_error(group: BaseException) -> BaseException:
    """Return the first error of a group, however deeply it is nested."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group
