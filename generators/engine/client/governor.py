"""How much an engine is asked at the same time, decided from what is seen of it.

A governor is a pure state machine: signals in, an allowance out. Reading the signals and keeping to
the allowance is done by others. The one here has a fixed answer.
"""

from collections.abc import Iterable
from typing import Protocol

from pydantic import Field

from generators.engine.client.metrics import EngineMetrics
from schemas.base import Record


class Signals(Record):
    """What is seen of an engine at one moment, all its endpoints together."""

    endpoints: int = Field(default=0, ge=0)
    """Endpoints that live."""
    in_flight: int = Field(default=0, ge=0)
    """Requests of ours on their way."""
    queued: int = Field(default=0, ge=0)
    """Requests of ours that wait for leave to go."""
    running: float | None = None
    """Requests that the servers work on; None if one does not say."""
    waiting: float | None = None
    """Requests that wait inside the servers; None if one does not say."""
    kv_usage: float | None = None
    """Share of its cache that the fullest server uses; None if none says."""
    preemptions: float | None = None
    """Requests thrown out of the servers' batches so far; None if one does not say."""


class Allowance(Record):
    """What may go on at the same time."""

    requests: int = Field(ge=1)
    """On their way to one endpoint, at most."""
    live_episodes: int | None = Field(default=None, ge=1)
    """Episodes; None: as many as there are browsers for."""


class Governor(Protocol):
    """Decides how much an engine is asked at the same time."""

    def decide(self, signals: Signals) -> Allowance:
        """Return what may go on from now, after these signals."""
        ...


class FixedGovernor:
    """Always allows the same."""

    def __init__(self, *, requests: int = 256, live_episodes: int | None = None) -> None:
        self._allowance = Allowance(requests=requests, live_episodes=live_episodes)

    def decide(self, signals: Signals) -> Allowance:  # noqa: ARG002 - whatever they are
        """Return the allowance it was made with."""
        return self._allowance


def signals_of(
    metrics: Iterable[EngineMetrics | None], *, endpoints: int, in_flight: int, queued: int
) -> Signals:
    """Return the signals of servers that say this of themselves; None: one said nothing."""
    pages = [page or EngineMetrics() for page in metrics]
    usages = [page.kv_usage for page in pages if page.kv_usage is not None]
    return Signals(
        endpoints=endpoints,
        in_flight=in_flight,
        queued=queued,
        running=_sum(page.running for page in pages),
        waiting=_sum(page.waiting for page in pages),
        kv_usage=max(usages, default=None),
        preemptions=_sum(page.preemptions for page in pages),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum; None where a part of it is unknown, or there is none."""
    known = list(values)
    found = [value for value in known if value is not None]
    return sum(found) if found and len(found) == len(known) else None
