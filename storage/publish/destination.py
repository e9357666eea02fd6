"""A place a dataset is published to, and how a plan is carried out there.

Every kind of destination does the same few things: say what lies there, put a file whole, remove
one, and finish. `carry_out` holds the order, which is the same for all: data files that are
missing, then plots and the card, then the manifest, then what the plan no longer has goes.
Whatever is there already is left alone, to the byte and the time of day. Killed anywhere, the next
publication finds what is missing and ends in the same bytes; until the card is replaced, readers
of the card see the version before.

A place that has commits may hold back what it was told until `finish`, and make the card, the
manifest and what goes visible in one of them.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from schemas.base import Record
from storage.publish.build import build
from storage.publish.loading import Called
from storage.publish.manifest import MANIFEST, TEXTS, Manifest, PublishedFile
from storage.publish.owned import MARK
from storage.publish.plan import CONFIGS, Plan, PlannedFile
from storage.publish.rows import Tables
from storage.shards import Shard

Progress = Callable[[int, int], None]
"""Told how many of how many planned files are at the destination."""

Describe = Callable[[Sequence[PublishedFile]], Mapping[str, bytes]]
"""Makes the texts that go with the data files, by path, the manifest last."""

_OURS = re.compile(
    rf"data/({'|'.join(CONFIGS)})/(train|validation|test)-\d{{5,}}-\d{{3,}}-[0-9a-f]{{16}}\.parquet"
)


def is_ours(path: str) -> bool:
    """Tell whether a file is one that publications write."""
    return path in TEXTS or path == MARK or _OURS.fullmatch(path) is not None


@dataclass(frozen=True)
class Stock:
    """What lies at a destination."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of every file, by path."""
    manifest: Manifest | None = None
    """The manifest; None before the first publication has ended."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the files whose place tells it for nothing, by path."""
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """The very bytes of what lies there of `TEXTS`."""
    unfinished: int = 0
    """Files that a killed publication left half written."""


class Destination(Protocol):
    """A place a dataset is published to."""

    @property
    def address(self) -> str:
        """Where it is, for messages."""
        ...

    @property
    def called(self) -> Called:
        """What readers call the dataset there; no path of a machine."""
        ...

    @property
    def called_here(self) -> Called:
        """What whoever publishes calls it."""
        ...

    async def stock(self, run_id: str) -> Stock:
        """Return what lies there; nothing is written.

        Raises:
            OtherRun: the dataset of another run lies there.
            Unwritable: something else lies there, or it cannot be read.
            BadConfig: no dataset may lie there.
        """
        ...

    def hold(self) -> AbstractAsyncContextManager[None]:
        """Keep other publications out and clear away what a killed one left half written.

        Raises:
            Unwritable: nothing can be written there, or another publication goes on.
        """
        ...

    async def put(self, path: str, data: bytes) -> None:
        """Write a file whole, over whatever was there.

        Raises:
            Unwritable: it cannot be written, or the place is full.
        """
        ...

    async def delete(self, paths: Sequence[str]) -> None:
        """Remove files; one that is not there is no error.

        Raises:
            Unwritable: one cannot be removed.
        """
        ...

    async def finish(self, version: int) -> None:
        """End the publication of a version: everything is there for all to see when this returns.

        It is also called where there was nothing to do.

        Raises:
            Unwritable: it cannot be ended.
            Conflict: somebody else changed the dataset meanwhile.
        """
        ...

    async def probe(self) -> None:
        """Prove that something can be written, and leave nothing behind.

        Raises:
            BadConfig: whoever asks is not allowed to.
            Unwritable: nothing can be written.
        """
        ...


class Outcome(Record):
    """What carrying out a plan changed."""

    files: tuple[PublishedFile, ...]
    """Every data file there is now."""
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
    """What should lie at a destination."""
    tables: Tables
    """The rows it is made of."""
    describe: Describe
    """Makes the texts."""

    async def carry_out(
        self, destination: Destination, *, progress: Progress | None = None
    ) -> Outcome:
        """Make `destination` hold exactly what the plan says, by as few writes as that takes."""
        stock = await destination.stock(self.plan.run_id)
        settled = self._settled(stock)
        if settled is not None:
            await destination.finish(self.plan.version)
            return settled
        async with destination.hold():
            stock = await destination.stock(self.plan.run_id)
            outcome = await self._apply(destination, stock, progress)
            await destination.finish(self.plan.version)
            return outcome

    def _settled(self, stock: Stock) -> Outcome | None:
        """Return the outcome if there is nothing to do."""
        kept = _kept(stock)
        files = [file for planned in self.plan.files for file in kept.get(planned.recipe, ())]
        complete = all(planned.recipe in kept for planned in self.plan.files)
        if not complete or stock.unfinished or _stale(stock, files):
            return None
        texts = self.describe(files)
        return _outcome(files, texts, stock) if stock.texts == texts else None

    async def _apply(
        self, destination: Destination, stock: Stock, progress: Progress | None
    ) -> Outcome:
        if stock.manifest is None and MARK not in stock.sizes:
            await destination.put(MARK, self.plan.run_id.encode())
        kept = _kept(stock)
        files: list[PublishedFile] = []
        for number, planned in enumerate(self.plan.files, start=1):
            files += kept.get(planned.recipe) or await self._make(planned, destination, stock)
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
        self, planned: PlannedFile, destination: Destination, stock: Stock
    ) -> list[PublishedFile]:
        """Build a planned file and put whatever part of it is not there."""
        files: list[PublishedFile] = []
        parts = build(self.tables, planned, shard_bytes=self.plan.shard_bytes)
        while (shard := await asyncio.to_thread(next, parts, None)) is not None:
            files.append(_described(planned, len(files), shard))
            if not _is_there(stock, files[-1]):
                await destination.put(files[-1].path, shard.data)
        return files


def _described(planned: PlannedFile, part: int, shard: Shard) -> PublishedFile:
    sha256 = shard.sha256
    return PublishedFile(
        path=planned.path(part, sha256),
        config=planned.config,
        split=planned.split,
        rows=shard.rows,
        bytes=len(shard.data),
        sha256=sha256,
        recipe=planned.recipe,
    )


def _kept(stock: Stock) -> dict[str, list[PublishedFile]]:
    """Return the files that are there whole, by the recipe they were made by."""
    recipes: defaultdict[str, list[PublishedFile]] = defaultdict(list)
    for file in stock.manifest.files if stock.manifest else ():
        if file.recipe is not None:
            recipes[file.recipe].append(file)
    return {
        recipe: parts
        for recipe, parts in recipes.items()
        if all(_is_there(stock, part) for part in parts)
    }


def _is_there(stock: Stock, file: PublishedFile) -> bool:
    """Tell whether a file lies there whole, as far as its place tells."""
    digest = stock.digests.get(file.path, file.sha256)
    return stock.sizes.get(file.path) == file.bytes and digest == file.sha256


def _stale(stock: Stock, files: Sequence[PublishedFile]) -> list[str]:
    """Return what a publication of ours left there and the plan does not have."""
    listed = {file.path for file in stock.manifest.files} if stock.manifest else set()
    keep = {*TEXTS} | {file.path for file in files}
    return sorted(
        path
        for path in stock.sizes
        if path not in keep and (path in listed or path == MARK or _OURS.fullmatch(path))
    )


def _outcome(files: Sequence[PublishedFile], texts: Mapping[str, bytes], stock: Stock) -> Outcome:
    put = [file for file in files if not _is_there(stock, file)]
    described = [text for path, text in texts.items() if path != MANIFEST]
    return Outcome(
        files=tuple(files),
        texts=len(described),
        text_bytes=sum(map(len, described)),
        put=len(put) + sum(stock.texts.get(path) != text for path, text in texts.items()),
        deleted=sum(path != MARK for path in _stale(stock, files)),
    )
