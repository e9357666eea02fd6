"""The run that is at work in this process, for the flow that shows it to Prefect.

A flow is called with small plain parameters, as from a deployment. Where the command line has
already begun the same run, the flow finds it here and joins it; elsewhere it opens the run itself.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from os import environ

from flows.generation import Generation
from flows.prepare import prepare
from flows.run import open_generation
from flows.settings import Sources, load


@dataclass(frozen=True, slots=True)
class Current:
    """A run at work."""

    generation: Generation
    """Its work."""
    listen: Callable[[], None]
    """Listens to signals again; whoever else takes them is to call it."""


_CURRENT: ContextVar[Current] = ContextVar("current")


def current() -> Generation:
    """Return the run at work.

    Raises:
        LookupError: there is none.
    """
    return _CURRENT.get().generation


@contextlib.contextmanager
def at_work(generation: Generation, listen: Callable[[], None]) -> Iterator[None]:
    """Make `generation` the run at work."""
    token = _CURRENT.set(Current(generation, listen))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextlib.asynccontextmanager
async def joined(sources: Sources) -> AsyncIterator[Generation]:
    """Yield the run at work, or open the one that `sources` tell of.

    Raises:
        Refusal: it cannot be opened; see `prepare` and `open_generation`.
    """
    there = _CURRENT.get(None)
    if there is not None:
        there.listen()
        yield there.generation
        return
    async with open_generation(prepare(load(sources, environ))) as generation:
        with at_work(generation, lambda: None):
            yield generation
