"""Changes a record that others change at the same time: read, decide, and write only over what was read."""

from collections.abc import Callable

from schemas.errors import Conflict
from storage.objects.protocol import Missing, ObjectStore


async def change_record(
    store: ObjectStore, key: str, decide: Callable[[bytes | None], bytes | None]
) -> None:
    """Write what `decide` makes of a record, None where there is none yet; None of `decide` leaves it as it is.

    Where another writer comes first, `decide` is asked again with what that one wrote.

    Raises:
        Unwritable: the store cannot be written.
    """
    while True:
        try:
            before = await store.get(key)
        except Missing:
            before = None
        data = decide(before)
        if data is None:
            return
        if before is None:
            if await store.put_new(key, data):
                return
            continue
        try:
            await store.replace(key, data, expected=before)
        except Conflict:
            continue
        return
