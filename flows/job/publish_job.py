"""The publication of a stored run's version to one destination, as work that a flow can show."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from os import environ

from flows.job.config_loader import Sources
from flows.job.stored_run import Stored, open_stored
from flows.job.used_keys import check_settings
from flows.job.validate_destination import check_destination
from schemas.errors import NotFound, Refusal, StepmillError, Unfinished, Unwritable
from storage.lake.lake import Lake, Snapshot
from storage.publish.publish import PublishReport, publish

LOG = logging.getLogger(__name__)


class Publication:
    """A publication at work."""

    def __init__(self, working: asyncio.Task[PublishReport]) -> None:
        self._working = working

    async def report(self) -> PublishReport:
        """Wait until it has ended, and return what it came to."""
        return await asyncio.shield(self._working)


@contextlib.asynccontextmanager
async def open_publication(
    url: str, sources: Sources, to: str, version: int | None
) -> AsyncIterator[Publication]:
    """Begin to publish a version of the run at `url`, the last one by default.

    Raises:
        NotFound: there is no such run or version, or nothing in it.
        BadConfig: this version of the program cannot publish there, or a setting is of a key that
            publishing does not use.
        OtherRun: the dataset of another run lies there.
        Unwritable: nothing can be written there, or something else lies there.
        Damaged: the run cannot be read.
    """
    check_settings("publish", sources.settings)
    stored = await open_stored(url, sources, environ)
    config = stored.config
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(stored.lake.close)
        snapshot = await stored.lake.snapshot(version)
        if await snapshot.dataset("episodes") is None:
            raise NotFound(f"{stored.store.url}: version {snapshot.version} holds no episode")
        await check_destination(to, config, stored.run.run_id)
        await _keep(stored.lake, snapshot.version)
        async with asyncio.TaskGroup() as group:
            working = group.create_task(_publish(snapshot, stored, to))
            yield Publication(working)


async def _publish(snapshot: Snapshot, stored: Stored, to: str) -> PublishReport:
    """Publish, and name what ends it for what it is once work has begun.

    Raises:
        Refusal: the destination takes nothing.
        Unfinished: the publication had begun and cannot be ended now.
    """
    try:
        return await publish(
            snapshot,
            stored.run,
            stored.config.accept,
            to,
            terms=stored.config.publish,
            storage=stored.config.storage,
        )
    except (Refusal, Unfinished):
        raise
    except StepmillError as error:
        raise Unfinished(str(error)) from error


async def _keep(lake: Lake, version: int) -> None:
    """Keep a version that is about to be published; whoever may only read the run cannot."""
    try:
        await lake.keep(version)
    except Unwritable as error:
        LOG.warning(
            "version %s is published but not kept for ever, `stepmill compact` may let it go: %s",
            version,
            error,
        )
