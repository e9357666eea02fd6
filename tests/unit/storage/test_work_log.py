"""The work log: a record for each command, which nothing else depends on."""

from datetime import UTC, datetime, timedelta

import pytest
from support.stores.memory_store import MemoryStore

from schemas.errors import Damaged
from storage.work_log import KEY, Work, WorkLog

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


async def test_a_command_reads_what_the_others_wrote_last_and_not_its_own() -> None:
    store = MemoryStore()
    first, second, third = WorkLog(store), WorkLog(store), WorkLog(store)
    late = Work(began_at=BEGAN + timedelta(hours=1), seconds=5.0)
    early = Work(began_at=BEGAN, seconds=7.0, server_seconds=6.0, server_gpus=2, dollars=1.5)
    await first.write(late)
    await second.write(early.model_copy(update={"seconds": 3.0}))
    await second.write(early)
    await third.write(early)

    assert await third.read() == [early, late]
    assert await WorkLog(MemoryStore()).read() == []
    assert all([KEY.fullmatch(item.key) async for item in store.list()])


@pytest.mark.parametrize("data", [b"", b"{", b'{"began_at":"2026-01-01T00:00:00Z","seconds":-1}'])
async def test_a_record_that_cannot_be_read_is_named(data: bytes) -> None:
    store = MemoryStore()
    key = f"work/{'0' * 32}.json"
    await store.put(key, data)

    with pytest.raises(Damaged, match=key):
        await WorkLog(store).read()
