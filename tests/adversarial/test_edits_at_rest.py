"""Whatever is changed in a stored run, with nothing recomputed, is found by a deep audit.

The sweep changes each object of a small run in turn, in each way, and asks that the finding name it; `make test`
changes one of each kind, in every other way.
The bytes of rows, pictures and verdicts are under a digest, and so are episodes that wait, so no change
of them escapes. A log, the run's own file and a version's are held by what they say.
"""

import asyncio
import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import CopyRun
from effort import THOROUGH, TIMEOUT
from support.stores.memory_store import MemoryStore

from schemas.tables.tables import UNIT_TABLES
from storage.audit import audit
from storage.spool import Spool, spool_key

pytestmark = pytest.mark.timeout(TIMEOUT)

PLACES = 40 if THOROUGH else 1
"""In each object, where a byte is changed."""

Objects = dict[str, bytes]
Edit = Callable[[bytes, bytes, Random], bytes | None]
"""Given an object and another of its kind, what lies there instead; None: nothing."""


def _flip(data: bytes, _: bytes, draw: Random) -> bytes:
    out = bytearray(data)
    out[draw.randrange(len(out))] ^= 1 << draw.randrange(8)
    return bytes(out)


def _zero(data: bytes, _: bytes, draw: Random) -> bytes:
    start = draw.randrange(len(data))
    stop = min(len(data), start + 16)
    return data[:start] + bytes(stop - start) + data[stop:]


EDITS: dict[str, Edit] = {
    "deleted": lambda *_: None,
    "emptied": lambda *_: b"",
    "cut in half": lambda data, *_: data[: len(data) // 2],
    "cut by a byte": lambda data, *_: data[:-1],
    "twice in a row": lambda data, *_: data * 2,
    "swapped for another": lambda _, other, __: other,
    "zeroed in part": _zero,
    "a bit flipped": _flip,
}
"""What is done to an object."""

SHARD = re.compile(r"tables/\w+/[^/]*\.parquet")

UNMISSED = re.compile(
    r"deleted: (spool/.*|versions/1\.json)"
    r"|swapped for another: tables/verdicts/_delta_log/0{19}1\.json"
    r"|a bit flipped: run\.json"
)
"""What is not missed. Nobody knows that a spooled episode or the last version was there: the one is rolled
out again, the other sealed again. The first verdicts may be gone where the entry that creates their table
stands in the place of their own, as it does when its answer was lost; they are asked for again. A key of a run's identity with a letter changed
may be one of an earlier version; its values and the run's id are held by tests of the audit."""

UNHELD = ("commitInfo",)
"""Actions of a log that no reader of a run asks: who committed, and when."""

UNHELD_OF_VERDICTS = (*UNHELD, "txn")
"""The same of the log of `verdicts`: what is judged is told by its rows, and by its transactions sooner. One
that is lost costs the time of reading the rows."""

READ = {
    "add": ("path", "size", "stats"),
    "remove": ("path",),
    "txn": ("appId", "version"),
    "protocol": ("minReaderVersion",),
    "metaData": ("schemaString", "partitionColumns"),
}
"""What a reader of a run asks of the other actions."""


@pytest.fixture(scope="module")
def objects(copy_run: CopyRun, tmp_path_factory: pytest.TempPathFactory) -> Objects:
    """Return a finished run, and an episode that waits in its spool."""
    place: Path = tmp_path_factory.mktemp("rest") / "run"
    run = copy_run(place, units=2)
    waiting = run.unit(50).episodes[0]
    asyncio.run(Spool(run.store).put(waiting))
    assert (place / spool_key(waiting.unit_id, waiting.episode_id)).is_file()
    files = [path for path in sorted(place.rglob("*")) if path.is_file()]
    return {str(path.relative_to(place)): path.read_bytes() for path in files}


async def _named(objects: Objects) -> set[str]:
    """Return the objects that a deep audit names."""
    store = MemoryStore()
    for key, data in objects.items():
        await store.put(key, data)
    found = (await audit(store, deep=True)).findings
    return {finding.partition(": ")[0] for finding in found}


def _kin(key: str, objects: Objects) -> bytes:
    """Return another object of the same folder and kind; of its own bytes some, if there is none."""
    folder, _, name = key.rpartition("/")
    kind = name.rpartition(".")[2]
    kin = [
        data
        for other, data in objects.items()
        if other != key and other.startswith(folder + "/") and other.endswith("." + kind)
    ]
    kin = [data for data in kin if data != objects[key]]
    return kin[0] if kin else objects[key][::-1]


def _first_of_each(keys: Iterable[str]) -> list[str]:
    """Return the keys; where there is little time, of those of one folder and kind the first, and of a log two."""
    ordered, kept = sorted(keys), dict[tuple[str, str], list[str]]()
    for key in ordered:
        folder, _, name = key.rpartition("/")
        kept.setdefault((folder, name.rpartition(".")[2]), []).append(key)
    few = [key for (folder, _), own in kept.items() for key in own[: 1 + ("_log" in folder)]]
    return ordered if THOROUGH else few


def _tried(keys: Iterable[str], edit: str) -> list[str]:
    """Return the objects that an edit is made in: every other one where there is little time."""
    first = 0 if THOROUGH else list(EDITS).index(edit) % 2
    return _first_of_each(keys)[first :: 1 if THOROUGH else 2]


async def _unseen(objects: Objects, key: str, edit: str) -> list[str]:
    """Return what is not named of the edits of an object."""
    out: list[str] = []
    chance = edit in {"zeroed in part", "a bit flipped"}
    for number in range(PLACES if chance else 1):
        draw = Random(f"{key.rpartition('-')[0]} {edit} {number}")
        made = EDITS[edit](objects[key], _kin(key, objects), draw)
        if made == objects[key]:
            continue
        edited = {name: data for name, data in objects.items() if name != key}
        if made is not None:
            edited[key] = made
            if not SHARD.fullmatch(key) and _said(key, made) == _said(key, objects[key]):
                continue
        found = await _named(edited)
        # A log entry that is altered, and a version that names others, show in what is missed.
        elsewhere = "_delta_log" in key or key.startswith("versions/")
        if key not in found and not (elsewhere and found):
            out.append(f"{edit}: {key}")
    return out


@pytest.mark.parametrize("edit", EDITS)
async def test_an_edited_shard_is_named(objects: Objects, edit: str) -> None:
    shards = [key for key in objects if SHARD.fullmatch(key)]
    assert {key.split("/")[1] for key in shards} == {*UNIT_TABLES, "verdicts"}

    tried = _tried(shards, edit)
    assert [text for key in tried for text in await _unseen(objects, key, edit)] == []


@pytest.mark.parametrize("edit", EDITS)
async def test_another_edited_object_is_found_unless_it_says_the_same(
    objects: Objects, edit: str
) -> None:
    """A log, the run's file and a version are held by what they say and not by a digest.

    An entry of a log that says something else is found where what it says is missed.
    """
    others = [key for key in objects if not SHARD.fullmatch(key)]
    tried = _tried(others, edit)
    unseen = [text for key in tried for text in await _unseen(objects, key, edit)]

    assert [text for text in unseen if not UNMISSED.fullmatch(text)] == []


def _fields(told: object) -> object:
    """Return the names and types of the columns, if it is a schema that is told."""
    if not isinstance(told, str) or not told.startswith('{"type":"struct"'):
        return told
    return [(column["name"], column["type"]) for column in json.loads(told)["fields"]]


def _said(key: str, data: bytes) -> object:
    """Return what an object says that a reader of the run asks; its bytes if it cannot be read."""
    try:
        if "_delta_log" in key:
            lines = [json.loads(line) for line in data.splitlines()]
            unheld = UNHELD_OF_VERDICTS if "/verdicts/" in key else UNHELD
            return [
                (kind, [_fields(body.get(name)) for name in READ[kind]])
                for line in lines
                for kind, body in line.items()
                if kind not in unheld
            ]
        parsed = json.loads(data)
        return (parsed["run_id"], parsed["identity"]) if key == "run.json" else parsed
    except (ValueError, KeyError, AttributeError):
        return data


async def test_a_changed_value_of_any_column_is_named(objects: Objects) -> None:
    """The shard is written again with one value changed, under the name that it had."""
    tried = 0
    for key in _first_of_each(key for key in objects if SHARD.fullmatch(key)):
        table = pq.read_table(io.BytesIO(objects[key]))
        for name in table.column_names if THOROUGH else table.column_names[::6]:
            values = table[name].to_pylist()
            other = [values[-1], *values[1:]] if values[0] != values[-1] else [None, *values[1:]]
            if other == values:
                continue
            tried += 1
            column = pa.chunked_array([pa.array(other, table.schema.field(name).type)])
            at = table.column_names.index(name)
            out = io.BytesIO()
            pq.write_table(table.set_column(at, name, column), out)
            assert key in await _named(objects | {key: out.getvalue()}), f"{name} of {key}"
    assert tried > 20


async def test_untouched_it_is_whole(objects: Objects) -> None:
    assert await _named(objects) == set()
    assert json.loads(objects["run.json"])
