"""A publication that is stopped anywhere, and the next one that completes it."""

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from effort import THOROUGH
from support.runs.memory_run import (
    RULE,
    STORAGE,
    MemorySnapshot,
    contents,
    findings,
    make_run_file,
    published,
    small_run,
    two_versions,
)

from schemas.configuration.sections import PublishSection
from storage.objects.temp_object import Draft, Source
from storage.publish.destinations.ownership import Listing, OwnedListing
from storage.publish.destinations.store import FolderDestination
from storage.publish.publish import PublishReport, publish, publish_to

STRIDE = 1 if THOROUGH else 4
"""From one write at which a publication is stopped to the next."""


class _Stopped(Exception):
    """The power went."""


class _Interrupted:
    """A folder that goes dark at a write, before it or just after."""

    def __init__(self, root: Path, *, writes: int, after: bool) -> None:
        self._folder = FolderDestination(root)
        self._left = writes
        self._after = after
        self.address = self._folder.address
        self.name, self.local_name = self._folder.name, self._folder.local_name
        self.has_tags = self._folder.has_tags
        self.one_writer = self._folder.one_writer

    async def listing(self) -> Listing:
        return await self._folder.listing()

    async def digest(self, path: str) -> str | None:
        return await self._folder.digest(path)

    async def owned_listing(self, run_id: str) -> OwnedListing:
        return await self._folder.owned_listing(run_id)

    async def read(self, path: str) -> bytes:
        return await self._folder.read(path)

    def hold(self, *, wait: bool = False) -> AbstractAsyncContextManager[None]:
        return self._folder.hold(wait=wait)

    def draft(self, folder: str) -> Draft:
        return self._folder.draft(folder)

    async def put(self, path: str, data: Source) -> None:
        self._count(before=True)
        await self._folder.put(path, data)
        self._count(before=False)

    async def claim(self, path: str, data: bytes) -> bool:
        return await self._folder.claim(path, data)

    async def delete(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._count(before=True)
            await self._folder.delete([path])
            self._count(before=False)

    async def finish(self, version: int) -> None:
        await self._folder.finish(version)

    async def probe(self) -> None:
        await self._folder.probe()

    def _count(self, *, before: bool) -> None:
        if before:
            self._left -= 1
        if self._left < 0 and before is not self._after:
            raise _Stopped


def _publish_interrupted(
    snapshot: MemorySnapshot, to: Path, *, writes: int, after: bool
) -> PublishReport | None:
    """Publish until so many writes are done; return None if it was stopped."""
    try:
        return asyncio.run(
            publish_to(
                snapshot,
                make_run_file(),
                RULE,
                _Interrupted(to, writes=writes, after=after),
                terms=PublishSection(),
                shard_mb=64,
            )
        )
    except _Stopped:
        return None


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(False, id="before", marks=pytest.mark.full),  # as after the write before it
        pytest.param(True, id="after"),
    ],
)
def test_interrupted_at_any_write_and_run_again_it_ends_in_the_same_bytes(
    tmp_path: Path, *, after: bool
) -> None:
    _, snapshot = two_versions()
    published(snapshot, tmp_path / "whole" / "to")
    whole = contents(tmp_path / "whole/to")

    writes = 0
    while True:
        to = tmp_path / str(writes) / "to"
        if _publish_interrupted(snapshot, to, writes=writes, after=after) is not None:
            break
        assert findings(to) == []
        published(snapshot, to)
        assert contents(to) == whole
        writes += STRIDE

    assert writes - STRIDE < len(whole) + 2 <= writes  # the mark comes and goes


def test_an_interrupted_update_leaves_a_version_that_loads(tmp_path: Path) -> None:
    before, after = two_versions()
    published(before, tmp_path / "before" / "to")
    published(after, tmp_path / "after" / "to")
    old, new = contents(tmp_path / "before/to"), contents(tmp_path / "after/to")

    writes = 0
    while True:
        to = tmp_path / str(writes) / "to"
        shutil.copytree(tmp_path / "before/to", to)
        if _publish_interrupted(after, to, writes=writes, after=True) is not None:
            break
        there = contents(to)
        version = old if there["README.md"] == old["README.md"] else new
        data = {path: text for path, text in version.items() if path.startswith("data/")}
        assert {path: there.get(path) for path in data} == data
        assert findings(to) == []
        published(after, to)
        assert contents(to) == new
        writes += STRIDE

    assert writes > 5


def test_a_half_written_file_that_a_kill_left_is_cleared_away(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    published(snapshot, tmp_path)
    original = contents(tmp_path)
    for folder in (tmp_path, tmp_path / "data/steps"):
        (folder / f".tmp-{'0' * 16}").write_bytes(b"half")

    published(snapshot, tmp_path)

    assert contents(tmp_path) == original


def test_cancelling_leaves_what_the_next_publication_completes(tmp_path: Path) -> None:
    snapshot = small_run().seal()
    published(snapshot, tmp_path / "whole" / "to")
    to = tmp_path / "cancelled" / "to"

    async def cancelled() -> None:
        def stop_after_three(done: int, _: int) -> None:
            if done == 3:
                task.cancel()

        task = asyncio.create_task(
            publish(
                snapshot,
                make_run_file(),
                RULE,
                str(to),
                terms=PublishSection(),
                storage=STORAGE,
                progress=stop_after_three,
            )
        )
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert not (to / "manifest.json").exists()

    published(snapshot, to)
    assert contents(to) == contents(tmp_path / "whole/to")
