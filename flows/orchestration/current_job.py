"""The work that goes on in this process, for the flow that shows it to Prefect.

A flow is called with small plain parameters, as from a deployment. Where the command line has
already begun the same work, the flow finds it here and joins it; elsewhere it begins it itself.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Current:
    """Work that goes on."""

    work: object
    """What is being done."""
    listen: Callable[[], None]
    """Listens to signals again; whoever else takes them is to call it."""


_CURRENT: ContextVar[Current] = ContextVar("current")


def current(kind: type[W]) -> W:
    """Return the work that goes on, which must be of this kind.

    Raises:
        LookupError: there is none.
    """
    there = _CURRENT.get().work
    if isinstance(there, kind):
        return there
    raise LookupError(f"there is no {kind.__name__} at work")


@contextlib.contextmanager
def at_work(work: object, listen: Callable[[], None]) -> Iterator[None]:
    """Let flows called in here join `work`."""
    token = _CURRENT.set(Current(work, listen))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextlib.asynccontextmanager
async def joined(
    kind: type[W], begin: Callable[[], AbstractAsyncContextManager[W]]
) -> AsyncIterator[W]:
    """Yield the work of this kind that goes on, or `begin` it."""
    there = _CURRENT.get(None)
    if there is not None and isinstance(there.work, kind):
        there.listen()
        yield there.work
        return
    async with begin() as work:
        with at_work(work, _nothing):
            yield work


def _nothing() -> None:
    """Leave signals to whoever has them."""
