"""The units of a run in the order of their commits, from the log of `episodes`.

The log keeps every entry for ten years, and an entry never changes: so the order is the same for every reader, whenever
it reads, and after a compaction too, whose own entries name no unit.
"""

import json
import re
from typing import Any

from schemas.errors import Damaged
from storage.lake.file_access import entry_key
from storage.objects.batch_get import get_many
from storage.objects.protocol import ObjectStore

_BATCH = 64

_UNIT = re.compile(r"[0-9a-f]{16,}")
"""The id of a unit; a compaction's transaction has another name."""


class UnitOrder:
    """The committed units of one run, in order, as far as they were read."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._entries = 0
        self.units: list[str] = []
        """Each once."""
        self._known = set[str]()

    async def refresh(self) -> list[str]:
        """Read what was committed since; return the new units.

        Raises:
            Damaged: an entry of the log cannot be read.
            Unwritable: the store does not answer.
        """
        before = len(self.units)
        while await self._read_batch():
            pass
        return self.units[before:]

    async def _read_batch(self) -> bool:
        """Read the next entries; return whether there may be more."""
        keys = [entry_key("episodes", self._entries + place) for place in range(_BATCH)]
        async for key, data in get_many(self._store, keys):
            if data is None:
                return False
            for unit_id in _units_of(data, f"{self._store.url}/{key}"):
                if unit_id not in self._known:
                    self._known.add(unit_id)
                    self.units.append(unit_id)
            self._entries += 1
        return True


def _units_of(data: bytes, where: str) -> list[str]:
    try:
        actions: list[Any] = [json.loads(line) for line in data.splitlines() if line.strip()]
        names = [str(one["txn"]["appId"]) for one in actions if "txn" in one]
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{where}: is no entry of a log: {error}") from None
    return [name for name in names if _UNIT.fullmatch(name)]
