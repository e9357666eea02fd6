"""Takes episodes out of a published dataset: their rows and pictures leave the files of its newest version at once.

Only files that hold such rows are written anew. What older versions of a collection have stays until the place is
compacted; tags on the Hub and copies elsewhere cannot be taken back. The manifest remembers the ids, so that no later
publication brings them back.
"""

import asyncio
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow.parquet as pq

from schemas.base import Record, content_hash
from schemas.configuration.select_section import SelectKey
from schemas.errors import Conflict, NotFound, Unfinished, Unwritable
from storage.lake.parquet_writer import shards
from storage.lake.withdrawals import Withdrawal
from storage.publish.collection.index import SCHEMA as INDEX_SCHEMA
from storage.publish.collection.index import index_bytes, index_file
from storage.publish.collection.restate import (
    Contents,
    Shown,
    collection_texts,
    texts_of_run,
)
from storage.publish.collection.rows_left import has_rows, rows_left, without
from storage.publish.collection.tidy import HUB_KEEPS
from storage.publish.collection.versions import (
    check_unchanged,
    claim_version,
    end_version,
    unlisted_versions,
)
from storage.publish.destinations.ownership import OwnedListing
from storage.publish.destinations.protocol import Destination, is_version
from storage.publish.plan.build import GROUP_BYTES, Outcome
from storage.publish.plan.config_columns import config_schema
from storage.publish.plan.manifest import (
    CARD,
    CONTACT_SHEET,
    FILMSTRIP,
    MANIFEST,
    Manifest,
    Night,
    PublishedFile,
    Tally,
    read_manifest,
)

MAX_TRIES = 20
"""How often a withdrawal begins anew because a publication ended meanwhile."""

_LEFT_OUT_BY = "left_out_by"
"""The column that says what of a selection left an attempt out; datasets of earlier versions lack it."""

_ATTEMPT_COLUMNS = (
    *("episode_id", "task_id", "template_id", "site", "policy", "policy_kind", "model"),
    *("trainable", "success", "accepted", "status", "split"),
)


class WithdrawReport(Record):
    """The result of a withdrawal."""

    place: str
    """The dataset's or the run's place."""
    version: int | None
    """The version that has them no more; None: a run, whose next publications leave them out."""
    withdrawn: tuple[str, ...]
    """The episodes that were withdrawn now."""
    before: tuple[str, ...]
    """Those that had been withdrawn before."""
    rewritten: int
    """Files that were written anew."""
    bytes: int
    """Their size."""
    remains: tuple[str, ...]
    """What cannot be taken back, in sentences."""


Place = tuple[int | None, str | None]
"""The number of a night, and a split."""


@dataclass
class _Found:
    """The rows of `attempts` that are withdrawn, and those that stay beside them."""

    gone: list[dict[str, Any]] = field(default_factory=list)
    """The attempts that are withdrawn."""
    stay: defaultdict[Place, list[Outcome]] = field(default_factory=lambda: defaultdict(list))
    """The other attempts, where one is withdrawn."""
    places: set[Place] = field(default_factory=set)
    """Where one is withdrawn."""


async def withdraw(
    open_place: Callable[[], Destination], ids: Sequence[str], reason: str
) -> WithdrawReport:
    """Take episodes out of the dataset at a place; `open_place` opens it anew for each try.

    Raises:
        NotFound: there is no dataset, or it has no such episode; nothing was changed.
        Unwritable: the place cannot be written.
        Unfinished: it had begun, and the place cannot be written any longer; run again, it goes on.
        Damaged: a file of the dataset cannot be read.
        Conflict: publications ended there again and again, or one did where one writer is taken at a time, or
            somebody changed a file that was published.
    """
    for left in reversed(range(MAX_TRIES)):
        place = open_place()
        withdrawing = _Withdrawing(place, ids, reason)
        existing = await withdrawing.read_listing()
        try:
            return await withdrawing.run(existing)
        except Conflict:
            if not left or place.one_writer:
                raise
    raise AssertionError("a loop without an end has ended")


class _Withdrawing:
    """One try of a withdrawal."""

    def __init__(self, destination: Destination, ids: Sequence[str], reason: str) -> None:
        self._destination, self._reason = destination, reason
        self._ids = tuple(dict.fromkeys(ids))
        self._put = Counter[str]()

    async def read_listing(self) -> OwnedListing:
        """Return the files of the dataset."""
        destination = self._destination
        content = await destination.listing()
        if MANIFEST not in content.texts:
            raise NotFound(f"{destination.address}: holds no published dataset (no {MANIFEST})")
        owner = read_manifest(content.texts[MANIFEST], destination.address).run
        return await destination.owned_listing(owner)

    async def run(self, existing: OwnedListing) -> WithdrawReport:
        destination, there = self._destination, existing.manifest
        if there is None:
            raise NotFound(f"{destination.address}: holds no published dataset")
        known = {one.episode for one in there.withdrawn}
        new = [id_ for id_ in self._ids if id_ not in known]
        found = await self._find(there, new)
        missing = sorted(set(new) - {row["episode_id"] for row in found.gone})
        if missing:
            raise NotFound(
                f"{destination.address}: has no episode {missing[0]}; "
                "`attempts` of the dataset has the ids, and nothing was changed"
            )
        if not new:
            return self._report(there, [], there.version)
        async with destination.hold(wait=True):
            await check_unchanged(destination, existing, there.run)
            try:
                await end_version(destination, existing)
                return await self._write(existing, there, new, found)
            except Unwritable as error:
                raise Unfinished(str(error)) from error

    async def _find(self, there: Manifest, new: Collection[str]) -> _Found:
        """Return the attempts that are withdrawn, and those beside them."""
        found = _Found()
        by_place: defaultdict[Place, list[dict[str, Any]]] = defaultdict(list)
        for file in there.files:
            if file.config == "attempts" and new:
                data = await self._destination.read(file.path)
                source = pq.ParquetFile(io.BytesIO(data))
                table = source.read(columns=[*_ATTEMPT_COLUMNS, _LEFT_OUT_BY])
                by_place[file.night, file.split] += table.to_pylist()
        for place, rows in by_place.items():
            gone = [row | {"night": place[0]} for row in rows if row["episode_id"] in new]
            if gone:
                found.places.add(place)
                found.gone += gone
                found.stay[place] += [_outcome(row) for row in rows if row["episode_id"] not in new]
        return found

    async def _write(
        self, existing: OwnedListing, there: Manifest, new: Sequence[str], found: _Found
    ) -> WithdrawReport:
        destination, version = self._destination, there.version
        files = list[PublishedFile]()
        for file in there.files:
            if file.config is None:
                continue
            if (file.night, file.split) in found.places:
                files += await self._rewrite(file, new, found.stay[file.night, file.split])
            else:
                files.append(file)
        files.sort(
            key=lambda file: (file.night or 0, file.path)
        )  # rows stay in the order of the nights
        if there.nights:
            version = await claim_version(destination, existing, files)
        nights = [await self._renew(night, found, new, version) for night in there.nights]
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        withdrawn = (
            *there.withdrawn,
            *(Withdrawal(episode=id_, reason=self._reason, day=day) for id_ in new),
        )
        if there.nights:
            state = Contents(version, files, nights, there.empty, withdrawn)
            texts = collection_texts(state, there, destination, Shown(there.nights[-1].name))
        else:
            tally = Tally(**Counter(row["status"] for row in found.gone))
            texts = texts_of_run(existing.texts[CARD], there, files, withdrawn, tally)
        for path, text in texts.items():
            if not is_version(path):
                await destination.put(path, text)
        kept = {*texts} | {file.path for file in files}
        await destination.delete(
            [
                file.path
                for file in there.files
                if file.path in (FILMSTRIP, CONTACT_SHEET)  # they may show what was withdrawn
                or (file.config and not there.nights and file.path not in kept)
            ]
            + (unlisted_versions(existing, version) if there.nights else [])
        )
        await destination.finish(version)
        return self._report(there, new, version)

    async def _rewrite(
        self, file: PublishedFile, gone: Collection[str], stay: Sequence[Outcome]
    ) -> list[PublishedFile]:
        """Return a file without rows of some episodes; itself where it has none, nothing where no row is left."""
        config = file.config or ""
        data = await self._destination.read(file.path)
        source = pq.ParquetFile(io.BytesIO(data))
        if not await asyncio.to_thread(has_rows, source, config, gone):
            return [file]
        recipe = content_hash([file.recipe, "without", *sorted(gone)])
        rows = rows_left(source, config, gone, stay)
        made = await asyncio.to_thread(
            lambda: [
                (shard.sha256, shard.rows, shard.data)
                for shard in shards(
                    config_schema(config), rows, shard_bytes=1 << 62, group_bytes=GROUP_BYTES
                )
            ]
        )
        out = list[PublishedFile]()
        for sha256, count, text in made:
            if not count:
                continue
            head, _, _ = file.path.rpartition("-")
            path = f"{head}-{sha256[:16]}.parquet"
            await self._destination.put(path, text)
            self._put[path] = len(text)
            change = {
                "path": path,
                "rows": count,
                "bytes": len(text),
                "sha256": sha256,
                "recipe": recipe,
            }
            out.append(file.model_copy(update=change))
        return out

    async def _renew(
        self, night: Night, found: _Found, gone: Collection[str], version: int
    ) -> Night:
        """Return the record of a night without some episodes."""
        own = [row for row in found.gone if row["night"] == night.number]
        if not own:
            return night
        table = pq.read_table(io.BytesIO(await self._destination.read(night.index.path)))
        published = set(map(str, table["episode_id"].to_pylist())) & {*gone}
        table = without(table.select(INDEX_SCHEMA.names), gone)
        data = index_bytes(table.cast(INDEX_SCHEMA))
        index = index_file(night.run, data, rows=table.num_rows, night=night.number)
        await self._destination.put(index.path, data)
        return night.model_copy(
            update={
                "added": version,
                "published": night.published - len(published),
                "left_out": _fewer(night.left_out, [row.get(_LEFT_OUT_BY) for row in own]),
                "capped": _fewer(
                    night.capped, [row["template_id"] for row in own if _counts(row, published)]
                ),
                "templates": _less(night.templates, own, "template_id"),
                "policies": _less(night.policies, own, "policy"),
                "sites": _fewer(
                    night.sites, [row["site"] for row in own if row["episode_id"] in published]
                ),
                "index": index,
                "withdrawn": night.withdrawn + len(own),
            }
        )

    def _report(self, there: Manifest, new: Sequence[str], version: int) -> WithdrawReport:
        remains = []
        if new and there.nights:
            remains.append(
                "earlier versions still have the rows: `stepmill compact PLACE` removes what the newest has no more"
            )
        if new and self._destination.has_tags:
            remains.append(HUB_KEEPS)
        if new:
            remains.append("copies that others have made cannot be taken back")
        return WithdrawReport(
            place=self._destination.address,
            version=version,
            withdrawn=tuple(new),
            before=tuple(id_ for id_ in self._ids if id_ not in new),
            rewritten=len(self._put),
            bytes=self._put.total(),
            remains=tuple(remains),
        )


def _outcome(row: Mapping[str, Any]) -> Outcome:
    return Outcome(**{name: row[name] for name in Outcome._fields})


def _less(
    tallies: Mapping[str, Tally], gone: Sequence[Mapping[str, Any]], name: str
) -> dict[str, Tally]:
    """Return tallies without some attempts."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in gone:
        counts[row[name]][row["status"]] += 1
    left = {
        key: Tally(
            **{status: count - counts[key][status] for status, count in tally.model_dump().items()}
        )
        for key, tally in tallies.items()
    }
    return {key: tally for key, tally in left.items() if tally.total}


def _fewer(counts: Mapping[str, int], gone: Sequence[str | None]) -> dict[str, int]:
    """Return counts by name without some, of which those without a name were never counted."""
    less = Counter(gone)
    return {name: left for name, count in counts.items() if (left := count - less[name])}


def _counts(row: Mapping[str, Any], published: Collection[str]) -> bool:
    """Return whether the caps of a selection count an attempt."""
    return row["episode_id"] in published or row.get(_LEFT_OUT_BY) == SelectKey.SHARES
