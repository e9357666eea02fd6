"""An existing run, opened by its URL, with the configuration it was made with.

What the user sets (a file, the environment, flags) goes over that configuration, so a command on a
run needs no setting that the run has already.
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
    """An existing run."""

    config: RunConfig
    """The run's own, under what the user sets now."""
    run: RunFile
    """Its `run.json`."""
    store: ObjectStore
    """Where the run is stored."""
    lake: Lake
    """Its tables; the caller closes them."""


async def open_stored(url: str, sources: Sources, environ: Mapping[str, str]) -> Stored:
    """Return the run at `url`, with `sources` over its own configuration.

    Raises:
        NotFound: there is no run at `url`.
        BadConfig: a value in `sources` or the environment is wrong.
        Damaged: its `run.json` cannot be read.
    """
    located = sources.model_copy(update={"run": url})
    store = open_store(url, load(located, environ).storage)
    run = await open_run(store)
    config = load(located, environ, (f"{store.url}/{KEY}", run.config))
    return Stored(config=config, run=run, store=store, lake=Lake(url, store, config.storage))
