"""Several objects of a store asked for at the same time, and told of in their order.

One by one a few hundred small objects of a bucket take half a minute.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from schemas.errors import StepmillError
from storage.objects.protocol import Missing, ObjectStore

_AT_ONCE = 16


async def get_several(
    store: ObjectStore, keys: Sequence[str]
) -> AsyncIterator[tuple[str, bytes | None]]:
    """Yield each of `keys` with its object, None for one that is missing; few are held at once.

    Raises:
        Unwritable: the store does not answer, or does not let us in.
        Damaged: an object cannot be read.
    """
    for first in range(0, len(keys), _AT_ONCE):
        some = keys[first : first + _AT_ONCE]
        for key, data in zip(some, await _at_once(store, some), strict=True):
            yield key, data


async def _at_once(store: ObjectStore, keys: Sequence[str]) -> list[bytes | None]:
    async def get(key: str) -> bytes | None:
        try:
            return await store.get(key)
        except Missing:
            return None

    try:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(get(key)) for key in keys]
    except* StepmillError as several:
        raise first(several) from None
    return [task.result() for task in asked]


def first(group: BaseException) -> BaseException:
    """Return the first error of a group, however deep it lies."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group
