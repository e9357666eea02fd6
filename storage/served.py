"""The servers of a run, and the tasks of served episodes that are not committed.

A plan says which tasks a run attempts; a server draws tasks as clients ask for them, so the rows of the tasks of
spooled episodes have to lie beside them: `served/<unit>/<task>` until the unit is committed. Each server of a run has a
number, `servers/<number>.json`, taken by writing it if absent; the attempts of its episodes are counted in a block of
this number. While it lives it writes a beat into it. Another server goes on only when a beat was not followed by
another one: so no clock of any machine is compared, and a killed server stands in nobody's way.
"""

import asyncio
import os
import platform
import re
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from pydantic import ValidationError

from schemas.base import Record
from schemas.errors import Damaged, OtherRun, Unwritable
from schemas.ids import SERVED_ATTEMPTS
from schemas.tasks.task import Task
from storage.objects.protocol import Missing, ObjectStore

SERVER = re.compile(r"servers/(?P<number>\d{6})\.json")
"""The key of a server."""

TASK = re.compile(r"served/(?P<unit>[0-9a-f]{16,})/(?P<task>[0-9a-f]{16,})")
"""The key of a task of a unit that is not committed."""

BEAT_SECONDS = 3.0
"""Between two beats of a server."""

PATIENCE_SECONDS = 4 * BEAT_SECONDS
"""How long a new server waits for a beat of the one before."""


class ServerMark(Record):
    """A server of a run, as its file says it."""

    host: str
    """The name of its machine."""
    pid: int
    """Its process."""
    began_at: datetime
    """When it began, UTC by its own clock."""
    beat: str
    """Another word at each beat."""
    ended: bool = False
    """Whether it has ended by itself."""


class ServedTasks:
    """The tasks of served episodes that are not committed."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def put(self, unit_id: str, task: Task) -> None:
        """Keep a task of a unit until it is committed.

        Raises:
            Unwritable: the store cannot be written.
        """
        await self._store.put_new(_task_key(unit_id, task.task_id), task.model_dump_json().encode())

    async def listing(self) -> Mapping[str, set[str]]:
        """Return the kept tasks' ids by unit."""
        units: dict[str, set[str]] = {}
        async for item in self._store.list("served/"):
            if match := TASK.fullmatch(item.key):
                units.setdefault(match["unit"], set()).add(match["task"])
        return units

    async def get(self, unit_id: str, task_id: str) -> Task:
        """Return a kept task.

        Raises:
            Missing: it is not kept, perhaps because its unit was committed meanwhile.
            Damaged: it cannot be read.
        """
        key = _task_key(unit_id, task_id)
        try:
            return Task.model_validate_json(await self._store.get(key))
        except ValidationError as error:
            raise Damaged(f"{key}: is not a task: {error.errors()[0]['msg']}") from None

    async def discard(self, unit_id: str) -> None:
        """Remove a unit's tasks; only ever after its commit."""
        keys = [item.key async for item in self._store.list(f"served/{unit_id}/")]
        await self._store.delete(keys)


def _task_key(unit_id: str, task_id: str) -> str:
    return f"served/{unit_id}/{task_id}"


@asynccontextmanager
async def number_of_server(store: ObjectStore) -> AsyncIterator[int]:
    """Be the one server of a run while the block runs; yield the first attempt's number of its episodes.

    Raises:
        OtherRun: another server of this run lives.
        Unwritable: the store cannot be written.
    """
    taken = [int(match[1]) async for item in store.list("servers/") if (match := _mark(item.key))]
    if taken:
        await _wait_for_end(store, max(taken))
    number = max(taken, default=0) + 1
    mark = ServerMark(
        host=platform.node(), pid=os.getpid(), began_at=datetime.now(UTC), beat=secrets.token_hex(8)
    )
    key = _server_key(number)
    if not await store.put_new(key, _bytes(mark)):
        raise OtherRun(f"{store.url}: another server of this run began at this moment ({key})")
    beating = asyncio.create_task(_beat(store, key, mark))
    try:
        yield number * SERVED_ATTEMPTS
    finally:
        beating.cancel()
        await asyncio.wait([beating])
        await store.put(key, _bytes(mark.model_copy(update={"ended": True})))


def _mark(key: str) -> re.Match[str] | None:
    return SERVER.fullmatch(key)


def _server_key(number: int) -> str:
    return f"servers/{number:06d}.json"


def _bytes(mark: ServerMark) -> bytes:
    return mark.model_dump_json().encode() + b"\n"


async def _beat(store: ObjectStore, key: str, mark: ServerMark) -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        try:
            await store.put(key, _bytes(mark.model_copy(update={"beat": secrets.token_hex(8)})))
        except Unwritable:  # the next episode says so to the clients
            continue


async def _wait_for_end(store: ObjectStore, number: int) -> None:
    """Wait until the server of this number is known to be gone.

    Raises:
        OtherRun: it lives.
    """
    first = await _read(store, number)
    if first is None or first.ended:
        return
    waited = 0.0
    while waited < PATIENCE_SECONDS:
        await asyncio.sleep(BEAT_SECONDS)
        waited += BEAT_SECONDS
        now = await _read(store, number)
        if now is None or now.ended:
            return
        if now.beat != first.beat:
            raise OtherRun(
                f"{store.url}: another server serves this run, process {now.pid} on {now.host}; stop it, or "
                "give this one a run of its own (run.url)"
            )


async def _read(store: ObjectStore, number: int) -> ServerMark | None:
    try:
        return ServerMark.model_validate_json(await store.get(_server_key(number)))
    except (Missing, ValidationError):
        return None
