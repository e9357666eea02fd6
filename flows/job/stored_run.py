"""A run that is there already, opened by its URL, with the configuration it was made with.

What is given on top (a file, the environment, flags) goes over that configuration, so a command
on a run needs to be told nothing that the run knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flows.job.config_loader import Sources, load
from schemas.config import RunConfig
from storage.lake.lake import Lake
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.run_file import KEY, RunFile, open_run


@dataclass(frozen=True, slots=True)
class Stored:
    """A run that is there."""

    config: RunConfig
    """As it was made, with what was given on top."""
    run: RunFile
    """Its `run.json`."""
    store: ObjectStore
    """Where it lies."""
    lake: Lake
    """Its tables; whoever opened it closes them."""


async def open_stored(url: str, sources: Sources, environ: Mapping[str, str]) -> Stored:
    """Return the run at `url`, with what `sources` give over its own configuration.

    Raises:
        NotFound: no run lies there.
        BadConfig: a value given on top is wrong.
        Damaged: its `run.json` cannot be read.
    """
    given = sources.model_copy(update={"run": url})
    store = open_store(url, load(given, environ).storage)
    run = await open_run(store)
    config = load(given, environ, (f"{store.url}/{KEY}", run.config))
    return Stored(config=config, run=run, store=store, lake=Lake(url, store, config.storage))
