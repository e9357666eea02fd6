"""The section of a configuration about seats: who may step into the sites of a run, by which doors, and for how long.

A seat is a policy whose decisions come from a client, such as a trainer. `stepmill serve` opens the doors.
"""

from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from schemas.base import Record
from schemas.tasks.task import SPLITS


class DoorName(StrEnum):
    """The ways in which a client may take part."""

    RUN = "run"
    """`POST /run`: the program plays a whole episode with the client's engine and returns what came of it."""
    STEP = "step"
    """OpenEnv's WebSocket, `/ws`: the client decides each action."""
    STREAM = "stream"
    """`GET /episodes`: episodes as they end."""


def _check_origin(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"expected an address as http://127.0.0.1:8000, got '{url}'")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
        raise ValueError(f"expected scheme, host and port alone, got '{url}'")
    return url.rstrip("/")


def _check_split(split: str) -> str:
    if split not in SPLITS:
        raise ValueError(f"there is no split '{split}'; there are {', '.join(SPLITS)}")
    return split


EngineAddress = Annotated[str, AfterValidator(_check_origin)]
"""An origin at which a client's engine may be; without a port any port of that host."""

Split = Annotated[str, AfterValidator(_check_split)]
"""The name of a split."""


class SeatClient(Record):
    """A client that may take seats."""

    seats: int | None = Field(default=None, ge=1)
    """The maximum number of seats that it holds at a time; None: as many as there are."""
    token_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    """The environment variable with its token; None: one is drawn when the server starts, and printed."""


ClientName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
"""The name of a client: small letters, digits, `-` and `_`, at most 40."""


class SeatsSection(Record):
    """The seats that clients take: doors, clients, leases."""

    host: str = "127.0.0.1"
    """The address at which the doors are; another than loopback lets other machines in."""
    port: int = Field(default=8321, ge=0, le=65_535)
    """Their port; 0: a free one, which the command prints."""
    doors: Annotated[tuple[DoorName, ...], Field(min_length=1)] = tuple(DoorName)
    """The doors that are open."""
    clients: dict[ClientName, SeatClient] = Field(default_factory=dict)
    """The clients by name; empty: one, `trainer`, whose token is printed."""
    engines: tuple[EngineAddress, ...] = ("http://127.0.0.1", "http://localhost")
    """The origins at which a client's engine may be; without a port, any port there."""
    splits: Annotated[tuple[Split, ...], Field(min_length=1)] = SPLITS
    """The splits from which tasks are given. Tasks of `test` are given only to a client that asks for `test`."""
    lease_seconds: float = Field(default=3_600.0, gt=0)
    """The maximum time for which a client has a seat. The time in which it thinks counts here, and not in
    `limits.seconds`."""
    silence_seconds: float = Field(default=30.0, ge=0.1)
    """How long a connection may be silent, pings unanswered, until its client counts as gone."""
    return_seconds: float = Field(default=1.0, ge=0, le=60)
    """How long a seat is kept for a client whose connection broke; it returns with the id of its lease."""
    wait_seconds: float = Field(default=20.0, ge=0)
    """How long a client waits for a seat before it is told to come again."""
    max_waiting: int = Field(default=1_000, ge=0)
    """The maximum number of clients that wait; any other is told to come again at once."""
    commit_seconds: float = Field(default=30.0, gt=0)
    """The maximum time between the end of an episode and its commit."""
    max_staleness: int | None = Field(default=None, ge=0)
    """How many versions of the weights a call may be behind the newest one of its client; an episode with an older one
    is said to be stale. None: any."""
