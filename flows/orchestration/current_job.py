"""The job that runs in this process, for the flow that shows it to Prefect.

A flow is called with small plain parameters, as from a deployment. Where the command line has
already started the job, the flow finds it here and joins it; elsewhere the flow starts it itself.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from flows.job.job import RunJob
from flows.resources.authorities import trust_authorities
from flows.signals import handle_signals

W = TypeVar("W")

CANCEL_SECONDS = 15.0
"""How long work in flight may take to end in a cancelled flow run, in seconds."""


@dataclass(frozen=True, slots=True)
class CurrentJob:
    """A running job."""

    work: object
    """A `RunJob` or a `PublishJob`."""
    listen: Callable[[], None]
    """Installs the job's signal handlers again, after a library has replaced them."""


_CURRENT: ContextVar[CurrentJob] = ContextVar("current")


def current_job(kind: type[W]) -> W:
    """Return the running job, which must be of this kind.

    Raises:
        LookupError: no such job is running.
    """
    work = _CURRENT.get().work
    if isinstance(work, kind):
        return work
    raise LookupError(f"no {kind.__name__} is running")


@contextlib.contextmanager
def set_current(work: object, listen: Callable[[], None]) -> Iterator[None]:
    """Let flows that are called in this context join `work`."""
    token = _CURRENT.set(CurrentJob(work, listen))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextlib.asynccontextmanager
async def get_or_start(
    kind: type[W], begin: Callable[[], AbstractAsyncContextManager[W]]
) -> AsyncIterator[W]:
    """Yield the running job of this kind, or `begin` one."""
    running = _CURRENT.get(None)
    if running is not None and isinstance(running.work, kind):
        running.listen()
        yield running.work
        return
    trust_authorities(os.environ)
    async with begin() as work:
        with _interruptible(work), set_current(work, lambda: None):
            yield work


@contextlib.contextmanager
def _interruptible(work: object) -> Iterator[None]:
    """Let signals interrupt a job that a deployment's flow run began; elsewhere the caller keeps their handlers.

    A worker that cancels a flow run tells its process to end, and kills it half a minute later. Prefect's own handler
    would break off every task with an error.
    """
    # The command line imports this module before it silences Prefect; in a flow Prefect is loaded
    # already.
    from prefect.runtime import deployment  # noqa: PLC0415

    if deployment.id is None or not isinstance(work, RunJob):
        yield
        return
    job, loop = work, asyncio.get_running_loop()

    def interrupt() -> None:
        job.interrupt()
        if not job.stopping_now:
            loop.call_later(CANCEL_SECONDS, stop)

    def stop() -> None:
        if not job.stopping_now:
            job.interrupt()

    with handle_signals(interrupt):
        yield
