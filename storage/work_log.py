"""The work log of a run: for each command that worked on it, how long and at what cost.

Tables say what a run has made. They do not say how long an engine was loading, or stood by while replays ended, nor
what was paid for episodes that a kill cut off. So each command that makes episodes writes one object of its own,
`work/<id>.json`, and writes it again every few seconds. After a `kill -9` the last writing stands. No command changes
another one's object, and nothing but limits and reports reads them.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime

from pydantic import Field, ValidationError

from schemas.base import Record
from schemas.errors import Damaged
from storage.objects.batch_get import get_many
from storage.objects.protocol import ObjectStore

_PREFIX = "work/"

KEY = re.compile(rf"{_PREFIX}[0-9a-f]{{32}}\.json")
"""The key of one command's record."""


class Work(Record):
    """The work of one command on a run, until it was last written."""

    began_at: datetime
    """When the command began, UTC."""
    seconds: float = Field(ge=0)
    """Seconds since then."""
    server_seconds: float | None = Field(default=None, ge=0)
    """Seconds of the servers that the command started, from their start; None: it started none."""
    server_gpus: int = Field(default=0, ge=0)
    """GPUs of these servers together; 0: it started none."""
    dollars: float | None = Field(default=None, ge=0)
    """Dollars spent on engines; None where nothing has a price."""
    accepted: tuple[str, ...] = ()
    """Accepted episodes that were not committed, whose verdicts stand nowhere else."""
    panel: str = ""
    """The panel that accepted them."""


class WorkLog:
    """The work log of one run."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._key = f"{_PREFIX}{secrets.token_hex(16)}.json"

    async def write(self, work: Work) -> None:
        """Write this command's record, over its earlier one.

        Raises:
            Unwritable: the store cannot be written.
        """
        await self._store.put(self._key, work.model_dump_json().encode() + b"\n")

    async def read(self) -> Sequence[Work]:
        """Return the records of all other commands, the earliest first.

        Raises:
            Damaged: one cannot be read; the error names it.
        """
        keys = sorted([item.key async for item in self._store.list(_PREFIX)])
        found = list[Work]()
        async for key, data in get_many(self._store, [key for key in keys if key != self._key]):
            try:
                if data is not None:
                    found.append(Work.model_validate_json(data))
            except ValidationError as error:
                raise Damaged(
                    f"{self._store.url}/{key}: cannot be read: {error.errors()[0]['msg']}"
                ) from None
        return sorted(found, key=lambda work: work.began_at)
