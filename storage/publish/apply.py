"""Applies a plan to a destination, with as few writes as possible.

The order is the same for every kind of destination: missing data files, then plots and the card, then
the manifest, then the files that the plan no longer has are removed. A file that exists already is not
written again. After a kill the next publication writes what is missing, and ends in the same bytes;
until the card is replaced, readers of the card see the previous version.

A file is built in a draft and put from there: only a row group is in memory, however large the file.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from schemas.base import Record
from schemas.errors import Unfinished, Unwritable
from storage.lake.parquet_writer import Shard
from storage.publish.destinations.listing import OwnedListing
from storage.publish.destinations.ownership import MARK
from storage.publish.destinations.protocol import Destination, hash_in_name
from storage.publish.plan.build import build
from storage.publish.plan.manifest import MANIFEST, TEXTS, PublishedFile
from storage.publish.plan.plan import Plan, PlannedFile
from storage.publish.plan.rows import Tables

Progress = Callable[[int, int], None]
"""Called with the number of planned files at the destination and the number of all."""

Describe = Callable[[Sequence[PublishedFile]], Mapping[str, bytes]]
"""Makes the texts that go with the data files, by path, the manifest last."""


class Outcome(Record):
    """What a publication changed."""

    files: tuple[PublishedFile, ...]
    """Every data file of the destination."""
    texts: int
    """How many files describe them, the manifest not counted."""
    text_bytes: int
    """Their size."""
    put: int = 0
    """Files written, the texts and the manifest included."""
    deleted: int = 0
    """Files removed."""


@dataclass(frozen=True)
class Publication:
    """A plan, what it is made from, and how it is described."""

    plan: Plan
    """The files that the destination should have."""
    tables: Tables
    """The rows it is made of."""
    describe: Describe
    """Makes the texts."""

    async def apply(self, destination: Destination, *, progress: Progress | None = None) -> Outcome:
        """Make `destination` hold exactly the planned files, with as few writes as possible.

        Raises:
            Unfinished: it cannot be written any longer.
        """
        stock = await destination.owned_listing(self.plan.run_id)
        unchanged = self._unchanged(stock)
        if unchanged is not None:
            await destination.finish(self.plan.version)
            return unchanged
        async with destination.hold():
            stock = await destination.owned_listing(self.plan.run_id)
            try:
                outcome = await self._apply(destination, stock, progress)
                await destination.finish(self.plan.version)
            except Unwritable as error:
                raise Unfinished(str(error)) from error
            return outcome

    def _unchanged(self, stock: OwnedListing) -> Outcome | None:
        """Return the outcome if nothing has to be written; else None."""
        existing = _complete_files(stock)
        files = [file for planned in self.plan.files for file in existing.get(planned.recipe, ())]
        complete = all(planned.recipe in existing for planned in self.plan.files)
        if not complete or stock.unfinished or _stale(stock, files):
            return None
        texts = self.describe(files)
        return _outcome(files, texts, stock) if stock.texts == texts else None

    async def _apply(
        self, destination: Destination, stock: OwnedListing, progress: Progress | None
    ) -> Outcome:
        if stock.manifest is None and MARK not in stock.sizes:
            await destination.put(MARK, self.plan.run_id.encode())
        existing = _complete_files(stock)
        files: list[PublishedFile] = []
        for number, planned in enumerate(self.plan.files, start=1):
            files += existing.get(planned.recipe) or await self._make(planned, destination, stock)
            if progress is not None:
                progress(number, len(self.plan.files))
        texts = self.describe(files)
        for path, text in texts.items():
            if stock.texts.get(path) != text:
                await destination.put(path, text)
        stale = _stale(stock, files)
        mark = [MARK] if stock.manifest is None and MARK not in stale else []
        await destination.delete([*stale, *mark])
        return _outcome(files, texts, stock)

    async def _make(
        self, planned: PlannedFile, destination: Destination, stock: OwnedListing
    ) -> list[PublishedFile]:
        """Build a planned file and put those parts of it that do not exist yet."""
        files: list[PublishedFile] = []
        parts = build(
            self.tables,
            planned,
            shard_bytes=self.plan.shard_bytes,
            begin=partial(destination.draft, planned.folder),
        )
        with closing(parts):
            while (shard := await _next(parts)) is not None:
                with closing(shard.draft):
                    files.append(_published_file(planned, len(files), shard))
                    if not _has_file(stock, files[-1]):
                        await destination.put(files[-1].path, shard.draft)
        return files


async def _next(parts: Iterator[Shard]) -> Shard | None:
    """Return the next of `parts`; a thread cannot be stopped, so a cancellation waits for it."""
    making = asyncio.ensure_future(asyncio.to_thread(next, parts, None))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        await asyncio.wait([making])
        made = None if making.exception() else making.result()
        if made is not None:
            made.draft.close()
        raise


def _published_file(planned: PlannedFile, part: int, shard: Shard) -> PublishedFile:
    sha256 = shard.sha256
    return PublishedFile(
        path=planned.path(part, sha256),
        config=planned.config,
        split=planned.split,
        rows=shard.rows,
        bytes=len(shard.draft),
        sha256=sha256,
        recipe=planned.recipe,
    )


def _complete_files(stock: OwnedListing) -> dict[str, list[PublishedFile]]:
    """Return the complete files, by the recipe they were built by."""
    recipes: defaultdict[str, list[PublishedFile]] = defaultdict(list)
    for file in stock.manifest.files if stock.manifest else ():
        if file.recipe is not None:
            recipes[file.recipe].append(file)
    return {
        recipe: parts
        for recipe, parts in recipes.items()
        if all(_has_file(stock, part) for part in parts)
    }


def _has_file(stock: OwnedListing, file: PublishedFile) -> bool:
    """Return whether the destination has a complete file, by what its listing shows."""
    digest = stock.digests.get(file.path, file.sha256)
    return stock.sizes.get(file.path) == file.bytes and digest == file.sha256


def _stale(stock: OwnedListing, files: Sequence[PublishedFile]) -> list[str]:
    """Return the files of earlier publications that the plan does not have."""
    listed = {file.path for file in stock.manifest.files} if stock.manifest else set()
    keep = {*TEXTS} | {file.path for file in files}
    return sorted(
        path
        for path in stock.sizes
        if path not in keep and (path in listed or path == MARK or hash_in_name(path))
    )


def _outcome(
    files: Sequence[PublishedFile], texts: Mapping[str, bytes], stock: OwnedListing
) -> Outcome:
    put = [file for file in files if not _has_file(stock, file)]
    described = [text for path, text in texts.items() if path != MANIFEST]
    return Outcome(
        files=tuple(files),
        texts=len(described),
        text_bytes=sum(map(len, described)),
        put=len(put) + sum(stock.texts.get(path) != text for path, text in texts.items()),
        deleted=sum(path != MARK for path in _stale(stock, files)),
    )
