"""Makes a run in this process, as `stepmill generate --no-prefect` does."""

from collections.abc import Mapping
from os import environ
from pathlib import Path

from pydantic import JsonValue

from flows.job.config_loader import Sources, load
from flows.job.open_job import open_generation
from flows.job.report import Report
from flows.job.validate import validate
from flows.resources.authorities import trust_authorities
from stepmill.waiting import wait_for


def make_run(
    config: str | Path | None = None,
    *,
    run: str | Path | None = None,
    settings: Mapping[str, JsonValue] | None = None,
) -> Report:
    """Make a run, or go on where it was left, publish it as it is configured, and return its report.

    No Prefect server is asked or started. What went wrong on the way is in the report's `problems`.

    Args:
        config: a TOML file, or the name of a configuration that ships, as `smoke`; None: the defaults.
        run: the run's folder or URL; None: as configured.
        settings: values of keys, as `{"browser.sessions": 4}`, over the file and the environment.

    Raises:
        BadConfig: a value is wrong or cannot be honoured.
        BadTasks: no task can be attempted.
        NotFound: a verifier does not exist.
        OtherRun: there is a run of another configuration.
        Unwritable: the run or a destination cannot be written.
        NoBrowser: no browser starts.
        Damaged: the run cannot be read.
        KeyboardInterrupt: the caller was interrupted; the same call goes on.
    """
    sources = Sources(
        config=None if config is None else str(config), run=None if run is None else str(run)
    )
    return wait_for(_make(sources, settings or {}))


async def _make(sources: Sources, settings: Mapping[str, JsonValue]) -> Report:
    trust_authorities(environ)
    async with open_generation(validate(load(sources, environ, over=settings))) as job:
        return await job.report()
