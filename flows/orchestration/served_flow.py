"""Flows that may be called from anywhere, as the command line calls them.

A call finds the server that is set, else runs an embedded one beside the work for as long as it
takes; Prefect by itself would start one that it waits for only briefly. A flow's work ends in a
state that holds its report, and a call returns that report. Prefect keeps nothing of it.
"""

import contextlib
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Generic, ParamSpec, TypeVar, cast

from prefect import Flow
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.events.worker import EventsWorker
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.orchestration.server import embedded_server

P = ParamSpec("P")
R = TypeVar("R")

FLUSH_SECONDS = 5.0
"""How long Prefect may take to send its last events to the server."""


class ServedFlow(Flow[P, Coroutine[Any, Any, State[R]]], Generic[P, R]):
    """A flow that finds or starts a server when it is called."""

    async def __call__(  # type: ignore[override] # the state that the function returns holds an R
        self, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Run the flow; return its report, or its state where `return_state=True` asks for it."""
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
