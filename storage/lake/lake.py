"""The committed tables of a run, and the protocol by which a unit gets into them exactly once.

A unit becomes shards, put if absent under names that hold their hash. Then, table by table and
`episodes` last, its application transaction is committed if it is not in yet (see
`storage.lake.delta_table`). The row in `episodes` is the commit point. When a worker is killed
before it, the next worker finds the finished shards and uses them; when a slow worker comes after
it, the unit is committed already and nothing is left to do. The transaction's token is a hash of
the unit's episodes, so two workers that hold different attempts at one unit can never commit a
table each: the second gets a `Conflict` and reads the spool again.

A unit is written episode by episode: however many it has, one of them is in memory and one row
group of each table. The episodes come in the unit's order, so its bytes are the same whichever
worker writes it. The tasks come last, because the episodes may complete their goals.

A version pins every table at one moment; publications read from a version. A lake belongs to one event
loop.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from secrets import randbits
from typing import Self

from deltalake import Transaction

from schemas.base import content_hash
from schemas.configuration.sections import StorageSection
from schemas.episodes.call import Prompt
from schemas.episodes.episode import Episode
from schemas.errors import Conflict, Damaged, Unwritable
from schemas.ids import verdict_transaction
from schemas.tables.tables import TABLES, UNIT_TABLES, Row, episode_rows, to_row
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Verdict
from storage.lake.delta_stats import AddedFile
from storage.lake.delta_table import AsyncDeltaTable, CommitEntry, DeltaHandle
from storage.lake.file_access import access_to, table_url
from storage.lake.judged_units import JudgedMark, ResumeIndex
from storage.lake.lake_reader import LakeReader, Snapshot
from storage.lake.parquet_writer import MEGABYTE
from storage.lake.retention import keep
from storage.lake.shard_upload import TableShardWriter
from storage.lake.versions import Versions, put_version, read_version, seal, version_numbers
from storage.objects.protocol import ObjectStore

LOG = logging.getLogger(__name__)

_TOKEN_CHARS = 15
"""Hex characters of a hash that fit Delta's signed 64-bit transaction version."""

_TOKEN_BITS = 4 * _TOKEN_CHARS


class LakeWriter:
    """Writes to the tables of one run."""

    def __init__(
        self, store: ObjectStore, tables: Mapping[str, AsyncDeltaTable], *, shard_bytes: int
    ) -> None:
        self._store = store
        self._tables = tables
        self._shard_bytes = shard_bytes
        self._existing: set[str] = set()

    def unit(self, unit_id: str) -> "UnitWriter":
        """Return the writer of one unit, which may be committed already: see `has`."""
        return UnitWriter(unit_id, self)

    async def has(self, unit_id: str) -> bool:
        """Return whether a unit is committed.

        Raises:
            Damaged: the log cannot be read.
        """
        return await self._tables["episodes"].transaction_token(unit_id) is not None

    async def commit_verdicts(
        self,
        unit_id: str,
        *,
        verifier: str,
        version: str,
        round_: int,
        verdicts: Sequence[Verdict],
        mark: JudgedMark | None = None,
    ) -> bool:
        """Commit a verifier's verdicts on a unit in a round; return False if they are in already.

        With `mark` the unit is marked as judged in the same commit.

        Raises:
            Unwritable: the run cannot be written.
        """
        address = (unit_id, verifier, version, round_)
        for verdict in verdicts:
            own = (verdict.unit_id, verdict.verifier, verdict.verifier_version, verdict.round)
            if own != address:
                raise ValueError(f"verdict on {verdict.episode_id} is not of {address}")
        transaction = verdict_transaction(*address)
        if (
            not verdicts
            or await self._tables["verdicts"].transaction_token(transaction) is not None
        ):
            return False
        ordered = sorted(verdicts, key=lambda v: v.episode_id)
        files = await self.put_shards("verdicts", unit_id, rows=list(map(to_row, ordered)))
        token = token_of([[v.episode_id, v.status, v.judged_at] for v in ordered])
        also = None if mark is None else Transaction(mark.transaction(unit_id), mark.rows)
        committed = await self.commit("verdicts", CommitEntry(transaction, token, files, also))
        return committed == token

    def shard_writer(self, table: str, unit_id: str) -> TableShardWriter:
        """Return the writer of a unit's rows in a table; nothing is written yet."""
        return TableShardWriter(self._store, table, unit_id, shard_bytes=self._shard_bytes)

    async def put_shards(self, table: str, unit_id: str, *, rows: Sequence[Row]) -> list[AddedFile]:
        """Write `rows` of a unit as shards; no reader sees them before they are committed.

        Raises:
            Unwritable: the run cannot be written.
            Damaged: the store does not hold the bytes it was given.
        """
        with self.shard_writer(table, unit_id) as writer:
            await writer.add(rows)
            return await writer.finish()

    async def commit(self, table: str, entry: CommitEntry) -> int:
        """Commit the files of `entry` unless its transaction is in; return the token that is.

        Raises:
            Conflict: other writers kept committing first.
            Unwritable: the log cannot be written.
            Damaged: the log cannot be read, or is gone.
        """
        await self._check_log(table)
        return await self._tables[table].commit(entry)

    async def commit_rows(self, table: str, ids: Sequence[str], rows: Sequence[Row]) -> set[str]:
        """Commit `rows` to a table of no units, each once by its id; return the ids that were new.

        Whichever other writers commit some of the same rows meanwhile, the table has each of them once.

        Raises:
            Conflict, Unwritable, Damaged: as `commit`.
        """
        wanted = dict(zip(ids, rows, strict=True))
        while wanted:
            await self._check_log(table)
            name = content_hash([table, list(wanted)])
            files = await self.put_shards(table, name, rows=list(wanted.values()))
            token = randbits(_TOKEN_BITS)  # by which our own commit is known if its answer was lost
            found = await self._tables[table].commit_rows(list(wanted), token, files)
            if set(found.values()) == {token} and found.keys() == wanted.keys():
                return set(wanted)
            wanted = {id_: row for id_, row in wanted.items() if id_ not in found}
        return set()

    async def _check_log(self, table: str) -> None:
        """Check that the commit would not create a table that existed.

        Raises:
            Damaged: the log is gone.
        """
        if table not in self._existing and await self._tables[table].version() is None:
            # The commit would create the table, so no version may say that it existed.
            for number in await version_numbers(self._store):
                if table in await read_version(self._store, number):
                    raise Damaged(
                        f"{self._store.url}/tables/{table}: the log is missing, but "
                        f"versions/{number}.json names the table"
                    )
        self._existing.add(table)


class UnitWriter:
    """Writes the episodes of one unit, in its order."""

    def __init__(self, unit_id: str, lake: LakeWriter) -> None:
        self._unit_id = unit_id
        self._lake = lake
        self._stack = ExitStack()
        self._writers = {
            table: self._stack.enter_context(lake.shard_writer(table, unit_id))
            for table in UNIT_TABLES
        }
        self._prompts: dict[str, Prompt] = {}
        self._contents: list[tuple[object, ...]] = []
        self._addresses: list[tuple[str, int]] = []

    async def __aenter__(self) -> Self:
        """Return the writer itself."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Discard the rows that are in no shard yet."""
        self._stack.close()

    async def add(self, episode: Episode) -> None:
        """Write the unit's next episode.

        Raises:
            Unwritable: the run cannot be written.
        """
        if episode.unit_id != self._unit_id:
            raise ValueError(f"episode {episode.episode_id} is not of unit {self._unit_id}")
        self._addresses.append((episode.task_id, episode.attempt))
        self._contents.append((episode.episode_id, episode.content_sha256, episode.started_at))
        self._prompts |= {prompt.prompt_sha256: prompt for prompt in episode.prompts}
        for table, rows in episode_rows(episode).items():
            await self._writers[table].add(rows)

    async def commit(self, tasks: Sequence[Task]) -> bool:
        """Commit the unit, of `tasks` in their order; return False if it is committed already.

        Raises:
            Conflict: a table holds other episodes of the unit: read the spool again.
            Unwritable: the run cannot be written.
        """
        self._check_order(tasks)
        await self._writers["tasks"].add([to_row(task) for task in tasks])
        prompts = [self._prompts[key] for key in sorted(self._prompts)]
        await self._writers["prompts"].add([to_row(prompt) for prompt in prompts])
        added = {table: await self._writers[table].finish() for table in UNIT_TABLES}
        token = token_of(self._contents)
        for table, files in added.items():
            if not files:
                continue
            committed = await self._lake.commit(table, CommitEntry(self._unit_id, token, files))
            if committed != token:
                if await self._lake.has(self._unit_id):
                    return False
                raise Conflict(f"unit {self._unit_id}: {table} was committed with other episodes")
        return True

    def _check_order(self, tasks: Sequence[Task]) -> None:
        """Check that every task has an episode, and that the episodes came in order."""
        order = {task.task_id: number for number, task in enumerate(tasks)}
        known = [(order[task], attempt) for task, attempt in self._addresses if task in order]
        whole = {task for task, _ in self._addresses} == order.keys()
        if not tasks or len(order) < len(tasks) or not whole:
            raise ValueError(
                f"unit {self._unit_id}: expected different tasks, each with an episode"
            )
        if known != sorted(set(known)):
            raise ValueError(f"unit {self._unit_id}: an episode came twice, or out of order")


def token_of(contents: Sequence[Sequence[object]]) -> int:
    """Return the hash that distinguishes the rows of two workers for one unit."""
    texts = [[str(value) for value in content] for content in contents]
    return int(content_hash(["token", texts])[:_TOKEN_CHARS], 16)


class Lake(LakeReader, LakeWriter, ResumeIndex):
    """The tables of one run, open for everything; a part that only reads takes a `LakeReader`."""

    def __init__(self, url: str, store: ObjectStore, storage: StorageSection) -> None:
        access = access_to(store)
        urls = {name: table_url(url, name) for name in TABLES}
        tables = {
            name: AsyncDeltaTable(DeltaHandle(name, place, access)) for name, place in urls.items()
        }
        LakeReader.__init__(self, store, tables, urls=urls, access=access)
        LakeWriter.__init__(self, store, tables, shard_bytes=storage.shard_mb * MEGABYTE)
        ResumeIndex.__init__(self, store, tables)

    async def seal(self) -> int:
        """Make a version of the tables as they are; return its number.

        If nothing is newer than the last version, return that one's number; 0 if nothing was ever
        written.

        Raises:
            Damaged: a table is older than the last version says.
            Unwritable: the run cannot be written.
        """
        return await seal(self._store, self._versions)

    async def reviewed_snapshot(self, version: int | None = None) -> Snapshot:
        """Return a sealed version; the last one has every review, if nothing but reviews was added to it.

        Then a version is sealed. A reader who may not write gets the last one as it is.

        Raises:
            NotFound: the run has no such version.
            Damaged: it cannot be read.
        """
        if version is None:
            await self._seal_reviews()
        return await self.snapshot(version)

    async def _seal_reviews(self) -> None:
        numbers = await version_numbers(self._store)
        if not numbers:
            return
        last = await read_version(self._store, numbers[-1])
        now = await self._versions()
        newer = now.get("reviews", -1) > last.get("reviews", -1)
        if not newer or now != last | {"reviews": now["reviews"]}:
            return
        try:
            await put_version(self._store, numbers[-1] + 1, now)
        except Unwritable as error:
            LOG.warning("reviews since version %s are left out: %s", numbers[-1], error)

    async def current(self) -> tuple[Snapshot, bool]:
        """Return the tables as they are, and whether the last version pins the same.

        The snapshot has the last version's number, 0 where nothing was sealed yet.

        Raises:
            Damaged: the last version or a table's log cannot be read.
        """
        numbers = await version_numbers(self._store)
        number = numbers[-1] if numbers else 0
        last = await read_version(self._store, number) if numbers else {}
        tables = await self._versions()
        return self._snapshot(number, tables), tables == last

    async def keep(self, version: int) -> None:
        """Keep a sealed version readable for ever; do so before it is published.

        Raises:
            NotFound: it was released.
            Unwritable: the run cannot be written.
        """
        await keep(self._store, version)

    async def close(self) -> None:
        """Close the tables, after the work that has begun."""
        for table in self._tables.values():
            await asyncio.to_thread(table.close)

    async def _versions(self) -> Versions:
        """Return the Delta version of every table that exists, `episodes` read first."""
        names = ("episodes", *(name for name in TABLES if name != "episodes"))
        versions = {name: await self._tables[name].version() for name in names}
        return {name: version for name, version in versions.items() if version is not None}
