"""How the command line shows Prefect a flow, beside the job: set up, import, call.

Prefect is heavy and its server slow to start, so all of it happens while the job runs. Where Prefect
fails the job does not: only Prefect's record of it is missing then, and a warning says so.
"""

import asyncio
import importlib
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, cast

from flows.orchestration.inert_text import inert
from flows.orchestration.server import check_server
from flows.orchestration.settings import HOME, has_profiles, set_up
from schemas.redaction import redact_values

if TYPE_CHECKING:
    from pydantic import JsonValue

RECORD_SECONDS = 180.0
"""How long Prefect may take to record the end of a flow whose work has ended."""

BRIEF_SECONDS = 3.0
"""The same limit after an interrupt."""

LOG = logging.getLogger(__name__)


class _Flow(Protocol):
    async def __call__(self, *, return_state: bool, **parameters: object) -> object: ...


class ObservedFlow:
    """A flow that shows the running job to Prefect."""

    def __init__(self, calling: asyncio.Task[None] | None) -> None:
        self.task = calling
        """The call of the flow; None where no flow is called."""
        self.seconds = RECORD_SECONDS
        """How long to wait for its end."""

    @property
    def is_unrecorded(self) -> bool:
        """Its end is not recorded yet."""
        return self.task is not None and not self.task.done()

    def wait_briefly(self) -> None:
        """Wait for it only briefly."""
        self.seconds = BRIEF_SECONDS

    def do_not_wait(self) -> None:
        """Do not wait for it: there is nothing to record."""
        self.seconds = 0.0


@asynccontextmanager
async def observe_flow(
    flow: str, parameters: Mapping[str, object] | None
) -> AsyncIterator[ObservedFlow]:
    """Show Prefect the flow that module `flow` is named after; nothing if it has no parameters.

    Prefect stores and shows the parameters, so credentials are removed from them, and characters that
    would reverse or hide a part of them. At the end the flow is awaited, so that its end is recorded. An
    error in it is a warning: by then the work is done.
    """
    if parameters is None:
        yield ObservedFlow(None)
        return
    kept = {
        name: inert(redact_values(cast("JsonValue", value))) for name, value in parameters.items()
    }
    calling = asyncio.create_task(_call(flow, kept))
    observed = ObservedFlow(calling)
    try:
        yield observed
        await asyncio.wait([calling], timeout=observed.seconds)
    finally:
        calling.cancel()
        await asyncio.wait([calling])
    if not calling.cancelled() and (error := calling.exception()) is not None:
        LOG.warning(
            "Prefect's record of this command is incomplete: %s: %s", type(error).__name__, error
        )


async def _call(flow: str, parameters: Mapping[str, object]) -> None:
    set_up(os.environ, silent=True)
    # Whole before Prefect loads it in a thread: the engines' client looks at each request whether
    # there is one, and breaks on half of one.
    importlib.import_module("httpx")
    module = await asyncio.to_thread(importlib.import_module, flow)
    called = cast("_Flow", getattr(module, flow.rpartition(".")[2]))
    await called(return_state=True, **parameters)


async def check_server_setting() -> None:
    """Refuse a server that the user set but that does not answer; one's own is not started here.

    Raises:
        NoServer: it does not answer.
    """
    if os.environ.get("PREFECT_API_URL") or HOME in os.environ or has_profiles():
        set_up(os.environ, silent=True)
        settings = await asyncio.to_thread(importlib.import_module, "prefect.settings")
        url = os.environ.get("PREFECT_API_URL") or settings.PREFECT_API_URL.value()
        if url:
            await check_server(url)
