"""Flows that may be called from anywhere, as the command line calls them.

A call finds the server that is set, else runs an embedded one beside the work for as long as it
takes; Prefect by itself would start one that it waits for only briefly. A flow's work ends in a
state that holds its report, and a call returns that report. Prefect keeps nothing of it.

A flow that is scheduled again and again with the same parameters may have dates in them. The day is
that of the time its run was scheduled for, by UTC, and never that of when it really began: one that
is late, or started again the next day, goes on with the same run.
"""

import contextlib
import inspect
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from datetime import UTC, datetime
from typing import Any, Generic, ParamSpec, TypeVar, cast

from prefect import Flow
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.events.worker import EventsWorker
from prefect.runtime import flow_run
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.orchestration.server import embedded_server
from flows.resources.authorities import trust_authorities

P = ParamSpec("P")
R = TypeVar("R")

FLUSH_SECONDS = 5.0
"""How long Prefect may take to send its last events to the server."""

DATE = "{date}"
"""Stands for the day, as 2026-11-21."""

DAY = "{day}"
"""Stands for the day's number: it grows by one every day and is never used twice."""


class ServedFlow(Flow[P, Coroutine[Any, Any, State[R]]], Generic[P, R]):
    """A flow that finds or starts a server when it is called."""

    async def __call__(  # type: ignore[override] # the state that the function returns holds an R
        self, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Run the flow; return its report, or its state where `return_state=True` asks for it."""
        trust_authorities(os.environ)
        async with _server():
            return cast("R", await super().__call__(*args, **kwargs))


def served_flow(
    name: str,
) -> Callable[[Callable[P, Coroutine[Any, Any, State[R]]]], ServedFlow[P, R]]:
    """Make a flow of a function that returns the state its work ended in."""

    def decorate(function: Callable[P, Coroutine[Any, Any, State[R]]]) -> ServedFlow[P, R]:
        return ServedFlow(function, name=name, persist_result=False)

    return decorate


@contextlib.asynccontextmanager
async def _server() -> AsyncIterator[None]:
    """Provide a server: the calling flow's, the one that is set, or an embedded one."""
    if FlowRunContext.get() is not None:
        yield
        return
    async with contextlib.AsyncExitStack() as stack:
        if not PREFECT_API_URL.value():
            url = await stack.enter_async_context(embedded_server())
            stack.enter_context(temporary_settings({PREFECT_API_URL: url}))
        try:
            yield
        finally:  # send the last events before the server may end
            sending: object = EventsWorker.drain_all(timeout=FLUSH_SECONDS)
            if inspect.isawaitable(sending):
                await sending


def fill_date(text: str, day: datetime) -> str:
    """Return `text` with the day in place of `{date}` and its number in place of `{day}`."""
    return text.replace(DATE, f"{day:%Y-%m-%d}").replace(DAY, str(day.toordinal()))


def fill_dates(texts: Iterable[str] | None, day: datetime) -> tuple[str, ...]:
    """Return every text with the day in its places."""
    return tuple(fill_date(text, day) for text in texts or ())


def scheduled_day() -> datetime:
    """Return the day this flow run was scheduled for; today outside of a flow run."""
    scheduled: datetime | None = flow_run.scheduled_start_time
    return (scheduled or datetime.now(UTC)).astimezone(UTC)
