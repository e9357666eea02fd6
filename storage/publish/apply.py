"""Applies a plan to a destination, with as few writes as possible.

The order is the same for every kind of destination: missing data files, then plots and the card, then
the manifest; files that the plan no longer has are removed last. A file that exists already is not
written again. After a kill the next publication writes the missing files, and ends in the same bytes;
until the card is replaced, readers of the card see the previous version.

A file is built in a draft and put from there, so only a row group is in memory, however large the file.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from schemas.base import Record
from schemas.errors import Unfinished, Unwritable
from storage.lake.parquet_writer import Shard
from storage.publish.destinations.ownership import MARK, OwnedListing
from storage.publish.destinations.protocol import Destination, hash_in_name
from storage.publish.plan.build import NullColumns, build, null_columns
from storage.publish.plan.manifest import MANIFEST, PublishedFile
from storage.publish.plan.plan import PlannedFile, PublishPlan
from storage.publish.plan.rows import Tables

Progress = Callable[[int, int], None]
"""Called with the number of planned files at the destination and the number of all."""

Describe = Callable[[Sequence[PublishedFile]], Mapping[str, bytes]]
"""Makes the texts that go with the data files, by path, the manifest last."""


class Applied(Record):
    """The changes that a publication made."""

    files: tuple[PublishedFile, ...]
    """Every data file of the destination."""
    texts: int
    """The number of files that describe them, without the manifest."""
    text_bytes: int
    """The size of these."""
    put: int = 0
    """Files written, the texts and the manifest included."""
    deleted: int = 0
    """Files removed."""


@dataclass(frozen=True)
class Publication:
    """A plan, the tables it is made from, and its description."""

    plan: PublishPlan
    """The files that the destination should have."""
    tables: Tables
    """The tables with their rows."""
    describe: Describe
    """Makes the texts."""
    night: str = ""
    """The part of file names that tells a night of a collection from others; empty for the dataset of one run."""

    async def apply(self, destination: Destination, *, progress: Progress | None = None) -> Applied:
        """Make `destination` hold exactly the planned files, with as few writes as possible.

        Raises:
            Unfinished: the publication had begun, and the destination cannot be written any longer.
        """
        unchanged = self._if_complete(await destination.owned_listing(self.plan.run_id))
        if unchanged is not None:
            await destination.finish(self.plan.version)
            return unchanged
        async with destination.hold():
            existing = await destination.owned_listing(self.plan.run_id)
            try:
                applied = await self._write(destination, existing, progress)
                await destination.finish(self.plan.version)
            except Unwritable as error:
                raise Unfinished(str(error)) from error
            return applied

    def _if_complete(self, existing: OwnedListing) -> Applied | None:
        """Return the result if the destination is complete; None if anything has to be written."""
        built = _files_by_recipe(existing)
        files = [file for planned in self.plan.files for file in built.get(planned.recipe, ())]
        known = {*built, *_empty(existing)}
        complete = all(planned.recipe in known for planned in self.plan.files)
        complete = complete and all(file.nulls is not None for file in files)
        if not complete or existing.unfinished:
            return None
        texts = self.describe(files)
        if existing.texts != texts or _stale(existing, files, texts):
            return None
        return _result(files, texts, existing)

    async def _write(
        self, destination: Destination, existing: OwnedListing, progress: Progress | None
    ) -> Applied:
        if existing.manifest is None and MARK not in existing.sizes:
            await destination.put(MARK, self.plan.run_id.encode())
        files = await self.put_data(destination, existing, progress)
        texts = self.describe(files)
        for path, text in texts.items():
            if existing.texts.get(path) != text:
                await destination.put(path, text)
        stale = _stale(existing, files, texts)
        mark = [MARK] if existing.manifest is None and MARK not in stale else []
        await destination.delete([*stale, *mark])
        return _result(files, texts, existing)

    async def put_data(
        self, destination: Destination, existing: OwnedListing, progress: Progress | None = None
    ) -> list[PublishedFile]:
        """Put the planned files that do not exist yet, and return all of them.

        Raises:
            Unwritable: the destination cannot be written.
            Damaged: the tables lack a row, or hold one that differs from the record.
        """
        built: dict[str, list[PublishedFile]] = {recipe: [] for recipe in _empty(existing)}
        built |= _files_by_recipe(existing)
        files: list[PublishedFile] = []
        for number, planned in enumerate(self.plan.files, start=1):
            there = built.get(planned.recipe)
            if there is None:
                files += await self._build(planned, destination, existing)
            else:
                files += await self._keep(planned, there)
            if progress is not None:
                progress(number, len(self.plan.files))
        return files

    async def _keep(
        self, planned: PlannedFile, parts: Sequence[PublishedFile]
    ) -> Sequence[PublishedFile]:
        """Return the parts of a file that is there, with its null columns if its manifest lacks them."""
        if all(part.nulls is not None for part in parts):
            return parts
        nulls = await asyncio.to_thread(null_columns, self.tables, planned)
        return [part.model_copy(update={"nulls": nulls}) for part in parts]

    async def _build(
        self, planned: PlannedFile, destination: Destination, existing: OwnedListing
    ) -> list[PublishedFile]:
        """Build a planned file and put those parts of it that do not exist yet."""
        files: list[PublishedFile] = []
        nulls = NullColumns(planned.config)
        parts = build(
            self.tables,
            planned,
            shard_bytes=self.plan.shard_bytes,
            begin=partial(destination.draft, planned.folder),
            nulls=nulls,
            renderer=None if self.plan.training is None else self.plan.training.renderer,
        )
        with closing(parts):
            while (shard := await _next(parts)) is not None:
                with closing(shard.draft):
                    file = PublishedFile(
                        path=planned.path(len(files), shard.sha256, self.night),
                        config=planned.config,
                        split=planned.split,
                        rows=shard.rows,
                        bytes=len(shard.draft),
                        sha256=shard.sha256,
                        recipe=planned.recipe,
                    )
                    files.append(file)
                    if not has_file(existing, file):
                        await destination.put(file.path, shard.draft)
        return [file.model_copy(update={"nulls": nulls.names}) for file in files]


async def _next(parts: Iterator[Shard]) -> Shard | None:
    """Return the next of `parts`; a thread cannot be stopped, so a cancellation waits for it."""
    building = asyncio.ensure_future(asyncio.to_thread(next, parts, None))
    try:
        return await asyncio.shield(building)
    except asyncio.CancelledError:
        await asyncio.wait([building])
        shard = None if building.exception() else building.result()
        if shard is not None:
            shard.draft.close()
        raise


def _empty(existing: OwnedListing) -> Collection[str]:
    """Return the recipes that were found to give no row."""
    return existing.manifest.empty if existing.manifest else ()


def _files_by_recipe(existing: OwnedListing) -> dict[str, list[PublishedFile]]:
    """Return the complete files by their recipe."""
    recipes: defaultdict[str, list[PublishedFile]] = defaultdict(list)
    for file in existing.manifest.files if existing.manifest else ():
        if file.recipe is not None:
            recipes[file.recipe].append(file)
    return {
        recipe: parts
        for recipe, parts in recipes.items()
        if all(has_file(existing, part) for part in parts)
    }


def has_file(existing: OwnedListing, file: PublishedFile) -> bool:
    """Return whether the listing shows a complete file."""
    digest = existing.digests.get(file.path, file.sha256)
    return existing.sizes.get(file.path) == file.bytes and digest == file.sha256


def _stale(
    existing: OwnedListing, files: Sequence[PublishedFile], texts: Collection[str]
) -> list[str]:
    """Return the files of earlier publications that are neither among `files` nor among `texts`."""
    listed = {file.path for file in existing.manifest.files} if existing.manifest else set()
    keep = {*texts} | {file.path for file in files}
    return sorted(
        path
        for path in existing.sizes
        if path not in keep and (path in listed or path == MARK or hash_in_name(path))
    )


def _result(
    files: Sequence[PublishedFile], texts: Mapping[str, bytes], existing: OwnedListing
) -> Applied:
    put = [file for file in files if not has_file(existing, file)]
    described = [text for path, text in texts.items() if path != MANIFEST]
    return Applied(
        files=tuple(files),
        texts=len(described),
        text_bytes=sum(map(len, described)),
        put=len(put) + sum(existing.texts.get(path) != text for path, text in texts.items()),
        deleted=sum(path != MARK for path in _stale(existing, files, texts)),
    )
