"""A place a dataset is published to, and how a plan is carried out there.

Every kind of destination does the same few things: say what lies there, put a file whole, remove
one. `carry_out` holds the order, which is the same for all: data files that are missing, then the
card, then the manifest, then what the plan no longer has goes. Whatever is there already is left
alone, to the byte and the time of day. Killed anywhere, the next publication finds what is missing
and ends in the same bytes; until the card is replaced, readers of the card see the version before.
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
from storage.publish.manifest import CARD, MANIFEST, Manifest, PublishedFile
from storage.publish.plan import CONFIGS, Plan, PlannedFile
from storage.publish.rows import Tables
from storage.shards import Shard

MARK = ".publishing"
"""Lies at a destination until its first publication has ended, and holds the run's id."""

Progress = Callable[[int, int], None]
"""Told how many of how many planned files are at the destination."""

Describe = Callable[[Sequence[PublishedFile]], tuple[bytes, bytes]]
"""Makes the card and the manifest of the data files."""

_OURS = re.compile(
    rf"data/({'|'.join(CONFIGS)})/(train|validation|test)-\d{{5,}}-\d{{3,}}-[0-9a-f]{{16}}\.parquet"
)


@dataclass(frozen=True)
class Stock:
    """What lies at a destination."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of every file, by path."""
    manifest: Manifest | None = None
    """The manifest; None before the first publication has ended."""
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """The very bytes of the card and the manifest."""
    unfinished: int = 0
    """Files that a killed publication left half written."""


class Destination(Protocol):
    """A place a dataset is published to."""

    @property
    def address(self) -> str:
        """Where it is, for messages."""
        ...

    @property
    def name(self) -> str:
        """What readers call the dataset there; no path of a machine."""
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


class Outcome(Record):
    """What carrying out a plan changed."""

    files: tuple[PublishedFile, ...]
    """Every data file there is now."""
    card_bytes: int
    """The size of the card."""
    put: int = 0
    """Files written, card and manifest included."""
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
    """Makes the card and the manifest."""

    async def carry_out(
        self, destination: Destination, *, progress: Progress | None = None
    ) -> Outcome:
        """Make `destination` hold exactly what the plan says, by as few writes as that takes."""
        stock = await destination.stock(self.plan.run_id)
        settled = self._settled(stock)
        if settled is not None:
            return settled
        async with destination.hold():
            stock = await destination.stock(self.plan.run_id)
            return await self._apply(destination, stock, progress)

    def _settled(self, stock: Stock) -> Outcome | None:
        """Return the outcome if there is nothing to do."""
        kept = _kept(stock)
        files = [file for planned in self.plan.files for file in kept.get(planned.recipe, ())]
        complete = all(planned.recipe in kept for planned in self.plan.files)
        if not complete or stock.unfinished or _stale(stock, files):
            return None
        texts = self._texts(files)
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
        texts = self._texts(files)
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
            if stock.sizes.get(files[-1].path) != len(shard.data):
                await destination.put(files[-1].path, shard.data)
        return files

    def _texts(self, files: Sequence[PublishedFile]) -> dict[str, bytes]:
        """Return the card and the manifest, in the order they are written."""
        card, manifest = self.describe(files)
        return {CARD: card, MANIFEST: manifest}


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
        if all(stock.sizes.get(part.path) == part.bytes for part in parts)
    }


def _stale(stock: Stock, files: Sequence[PublishedFile]) -> list[str]:
    """Return what a publication of ours left there and the plan does not have."""
    listed = {file.path for file in stock.manifest.files} if stock.manifest else set()
    keep = {CARD, MANIFEST} | {file.path for file in files}
    return sorted(
        path
        for path in stock.sizes
        if path not in keep and (path in listed or path == MARK or _OURS.fullmatch(path))
    )


def _outcome(files: Sequence[PublishedFile], texts: Mapping[str, bytes], stock: Stock) -> Outcome:
    put = [file for file in files if stock.sizes.get(file.path) != file.bytes]
    return Outcome(
        files=tuple(files),
        card_bytes=len(texts[CARD]),
        put=len(put) + sum(stock.texts.get(path) != text for path, text in texts.items()),
        deleted=sum(path != MARK for path in _stale(stock, files)),
    )
