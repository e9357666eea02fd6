"""`engine.json`: how many episodes lived at each endpoint of a run's engine when it was last looked at, and why so many.

It is written again and again while a run goes, by whoever works on it; it decides nothing, and a run without it is whole.
"""

from collections.abc import Sequence
from datetime import datetime

from pydantic import ValidationError

from schemas.base import Record
from storage.objects.protocol import Missing, ObjectStore

KEY = "engine.json"
"""The key of the file."""


class EndpointLimits(Record):
    """What was allowed at one endpoint."""

    engine: str
    """The endpoint, as `calls.engine` names it."""
    live: int
    """Episodes that lived there, parked ones too."""
    live_limit: int
    """Episodes that could."""
    parked: int
    """Episodes that waited, because more lived than could."""
    requests: int
    """Requests that were under way."""
    request_limit: int
    """Requests that could be."""
    because: str
    """Why so many episodes could live, in a few words."""


class EngineLimits(Record):
    """What was allowed at a run's engine."""

    at: datetime
    """When it was looked at."""
    endpoints: tuple[EndpointLimits, ...]
    """In the order of the configuration."""


async def write_engine_limits(store: ObjectStore, limits: EngineLimits) -> None:
    """Write what is allowed now.

    Raises:
        Unwritable: the store cannot be written.
    """
    await store.put(KEY, limits.model_dump_json(indent=2).encode() + b"\n")


async def read_engine_limits(store: ObjectStore) -> EngineLimits | None:
    """Return what was allowed last; None: nobody wrote it, or what is there cannot be read."""
    try:
        return EngineLimits.model_validate_json(await store.get(KEY))
    except (Missing, ValidationError):
        return None


def limits_sentence(endpoints: Sequence[EndpointLimits]) -> str:
    """Return what is allowed at all endpoints together, for people; empty where there is none."""
    if not endpoints:
        return ""
    live, may = (sum(getattr(one, name) for one in endpoints) for name in ("live", "live_limit"))
    asked, limit = (
        sum(getattr(one, name) for one in endpoints) for name in ("requests", "request_limit")
    )
    parked = sum(one.parked for one in endpoints)
    rest = f", {parked} parked" if parked else ""
    why = min(endpoints, key=lambda one: one.live_limit).because
    return f"{live}/{may} live at the engine{rest}, {asked}/{limit} asking ({why})"
