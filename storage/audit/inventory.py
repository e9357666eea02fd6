"""All objects of a run, sorted by their names, from one flat listing.

A run has a handful of kinds of objects, each with names of its own. An object with any other name is
foreign.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from schemas.tables.tables import TABLES
from storage import engine_limits, run_file, served, work_log
from storage.audit.report import Notes
from storage.lake import retention, split_record, versions, withdrawals
from storage.lake.delta_table import STAGED
from storage.lake.shard_upload import COMPACT
from storage.objects.protocol import ObjectStore

_TABLE = rf"tables/(?P<table>{'|'.join(TABLES)})"
_ENTRY = re.compile(rf"{_TABLE}/_delta_log/(?P<number>\d{{20}})\.json")
_CHECKPOINT = re.compile(rf"{_TABLE}/_delta_log/(?P<number>\d{{20}})\.checkpoint\.parquet")
_POINTER = re.compile(rf"{_TABLE}/_delta_log/_last_checkpoint")
_SHARD = re.compile(
    rf"{_TABLE}/(?P<path>(?:[0-9a-f]{{16,}}|{COMPACT})-\d+-[0-9a-f]{{64}}\.parquet)"
)
_SPOOLED = re.compile(r"spool/(?P<unit>[0-9a-f]{16,})/[0-9a-f]{16,}")


@dataclass
class Inventory:
    """The objects of a run, by kind."""

    files: set[str] = field(default_factory=set)
    """The existing ones of `run.json` and `splits.json`."""
    versions: set[int] = field(default_factory=set)
    """Numbers of the versions."""
    keeping: set[int] = field(default_factory=set)
    """Numbers of the versions for which it is decided whether they are kept."""
    entries: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Numbers of the log entries, by table."""
    checkpoints: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Numbers of the log's checkpoints, by table."""
    pointers: set[str] = field(default_factory=set)
    """Tables whose log has a pointer to its last checkpoint."""
    shards: defaultdict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """Size of every shard, by table and path."""
    spooled: dict[str, str] = field(default_factory=dict)
    """The unit of every spooled episode, by key."""


async def take_inventory(store: ObjectStore, notes: Notes) -> Inventory:
    """Return the objects in `store`; note those that are foreign and writes that never ended."""
    inventory = Inventory()
    objects = size = 0
    async for found in store.list():
        objects += 1
        size += found.size
        if not _add(inventory, found.key, found.size, notes):
            notes.finding(found.key, "is foreign: no part of a run has such a name")
    notes.count("objects", objects)
    notes.count("bytes", size)
    async for found in store.unfinished_writes():
        notes.leftover(found.key, "is a write that never ended")
    return inventory


def _add(inventory: Inventory, key: str, size: int, notes: Notes) -> bool:
    """Add an object; return False if no object of a run has such a name."""
    # Nearly everything is a shard or an entry.
    if match := _SHARD.fullmatch(key):
        inventory.shards[match["table"]][match["path"]] = size
    elif match := _ENTRY.fullmatch(key):
        inventory.entries[match["table"]].add(int(match["number"]))
    elif key in (run_file.KEY, split_record.KEY, withdrawals.KEY):
        inventory.files.add(key)
    elif match := versions.KEY.fullmatch(key):
        inventory.versions.add(int(match[1]))
    elif match := retention.KEY.fullmatch(key):
        inventory.keeping.add(int(match[1]))
    elif match := _CHECKPOINT.fullmatch(key):
        inventory.checkpoints[match["table"]].add(int(match["number"]))
    elif match := _POINTER.fullmatch(key):
        inventory.pointers.add(match["table"])
    elif match := _SPOOLED.fullmatch(key):
        inventory.spooled[key] = match["unit"]
    elif STAGED.fullmatch(key) or retention.CLOCK.fullmatch(key):
        notes.leftover(key, "is a write that never ended")
    else:
        # Nothing depends on these.
        return key == engine_limits.KEY or any(
            name.fullmatch(key) for name in (work_log.KEY, served.SERVER, served.TASK)
        )
    return True


def shard_key(table: str, path: str) -> str:
    """Return the key of a table's shard."""
    return f"tables/{table}/{path}"
