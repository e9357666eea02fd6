"""The publication of a run's version: to each destination of the run, or to one as a job."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from os import environ
from pathlib import PurePosixPath

from flows.job.config_loader import Sources
from flows.job.min_reward_warnings import warn_of_stored_thresholds
from flows.job.stored_run import open_stored_run
from flows.job.used_keys import check_settings
from generators.training.dialect_renderer import make_renderer
from schemas.configuration.config import RunConfig
from schemas.errors import (
    BadConfig,
    NotFound,
    OtherRun,
    Refusal,
    StepmillError,
    Unfinished,
    Unwritable,
)
from schemas.tables.training_renderer import Renderer
from storage.lake.lake import Lake
from storage.lake.lake_reader import Snapshot
from storage.objects.protocol import Missing
from storage.objects.urls import folder, open_store
from storage.publish.card.licences import refuse_unknown_licence
from storage.publish.collection.append import NightSource, append
from storage.publish.plan.manifest import COLLECTION, MANIFEST
from storage.publish.plan.where import columns_of_words
from storage.publish.publish import PublishReport, open_destination, publish
from storage.run_file import KEY, RunFile

_NO_RUN = "none yet"

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes versions of one run."""

    lake: Lake
    """The run's tables."""
    run: RunFile
    """The run's `run.json`."""
    config: RunConfig
    """The rule, the published configs, the dialect, and the access to destinations."""

    async def publish(self, snapshot: Snapshot, to: str) -> PublishReport:
        """Publish a version of the run at `to`, or add it to the collection there."""
        config = self.config
        if config.publish.append:
            source = NightSource(
                snapshot,
                self.run,
                config.accept,
                config.publish,
                config.storage.shard_mb,
                config.select,
                _renderer(config),
            )
            return await append(
                source, lambda: open_destination(to, config.publish, config.storage)
            )
        return await publish(
            snapshot,
            self.run,
            config.accept,
            to,
            terms=config.publish,
            storage=config.storage,
            section=config.select,
            renderer=_renderer(config),
        )

    async def publish_last(self, to: str) -> PublishReport:
        """Publish the last version at `to`, and keep it for ever."""
        snapshot = await self.lake.snapshot()
        await self.lake.keep(snapshot.version)
        return await self.publish(snapshot, to)


class PublishJob:
    """A running publication."""

    def __init__(self, publishing: asyncio.Task[PublishReport], run: str) -> None:
        self._publishing = publishing
        self.run = run
        """The run's URL."""

    async def report(self) -> PublishReport:
        """Wait until the publication has ended, and return its report."""
        return await asyncio.shield(self._publishing)


@contextlib.asynccontextmanager
async def open_publication(
    url: str, sources: Sources, to: str, version: int | None
) -> AsyncIterator[PublishJob]:
    """Begin to publish a version of the run at `url`, the last one by default.

    Raises:
        NotFound: there is no such run or version, or nothing in it.
        BadConfig: this version of the program cannot publish there, or a setting is of a key that
            publishing does not use.
        OtherRun: the destination holds the dataset of another run.
        Unwritable: the destination cannot be written, or holds something else.
        Damaged: the run cannot be read.
    """
    check_settings("publish", sources.settings)
    stored = await open_stored_run(url, sources, environ)
    config = stored.config
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(stored.lake.close)
        snapshot = await stored.lake.reviewed_snapshot(version)
        if await snapshot.dataset("episodes") is None:
            raise NotFound(f"{stored.store.url}: version {snapshot.version} holds no episode")
        await check_destination(to, config, stored.run.run_id)
        await warn_of_stored_thresholds(snapshot, config.accept)
        await _keep(stored.lake, snapshot.version)
        publisher = Publisher(stored.lake, stored.run, config)
        async with asyncio.TaskGroup() as group:
            yield PublishJob(group.create_task(_publish(publisher, snapshot, to)), url)


async def _publish(publisher: Publisher, snapshot: Snapshot, to: str) -> PublishReport:
    """Publish; an error that is not a refusal becomes `Unfinished`, so that the command exits 1.

    Raises:
        Refusal: nothing can be published there.
        Unfinished: the publication cannot be ended now. That includes damaged tables of the run and a
            conflict with another writer, also if no file had been written yet.
    """
    try:
        return await publisher.publish(snapshot, to)
    except (Refusal, Unfinished):
        raise
    except StepmillError as error:
        raise Unfinished(str(error)) from error


async def _keep(lake: Lake, version: int) -> None:
    """Keep a version that is about to be published; a user who may only read the run cannot."""
    try:
        await lake.keep(version)
    except Unwritable as error:
        LOG.warning(
            "version %s is published but not kept for ever, `stepmill compact` may discard it: %s",
            version,
            error,
        )


async def check_destination(to: str, config: RunConfig, run_id: str | None) -> None:
    """Refuse a destination that could not be published to; `run_id` is None for a new run.

    Raises:
        BadConfig: nothing can be published there, the user may not, it and the run contain each
            other, the Hub does not know the licence, there is no such dialect, or `select.where` is no expression.
        OtherRun: the destination holds the dataset of another run.
        Unwritable: the destination cannot be written, or holds something else.
        Conflict: another program changed the dataset there.
    """
    refuse_unknown_licence(config.publish.license)
    _renderer(config)
    if config.select.where is not None:
        await asyncio.to_thread(columns_of_words, config.select.where)
    destination = open_destination(to, config.publish, config.storage)
    dataset_path, run_path = _path_of(to), _path_of(config.run.url)
    if dataset_path.is_relative_to(run_path) or run_path.is_relative_to(dataset_path):
        raise BadConfig(
            f"{to}: a dataset and its run cannot contain each other ({config.run.url}); "
            "publish to a folder outside the run"
        )
    try:
        await destination.owned_listing(COLLECTION if config.publish.append else run_id or _NO_RUN)
    except OtherRun as error:
        if run_id is not None or config.publish.append:
            raise
        raise OtherRun(
            f"{to}: holds the dataset of another run, and {config.run.url} is a new one; "
            "publish to another place, or remove that one"
        ) from error
    await destination.probe()


async def holds_dataset(url: str, config: RunConfig) -> bool:
    """Return whether a published dataset is at `url`, and no run."""
    if url.partition("://")[0].lower() == "hf":
        return True
    store = open_store(url, config.storage)
    for key, holds in ((KEY, False), (MANIFEST, True)):
        with contextlib.suppress(Missing):
            await store.get(key)
            return holds
    return False


def _renderer(config: RunConfig) -> Renderer | None:
    """Return the renderer of training rows; None if no training rows are published.

    Raises:
        BadConfig: there is no such dialect.
    """
    if not config.publish.training_rows:
        return None
    return make_renderer(config, config.publish.dialect)


def _path_of(url: str) -> PurePosixPath:
    """Return the path of `url` in a bucket, on the Hub or on this machine, its scheme first."""
    scheme, _, rest = url.partition("://")
    if rest and scheme.lower() != "file":
        return PurePosixPath(scheme.lower(), rest)
    return PurePosixPath("file", *folder(url).absolute().parts[1:])
