"""One visit of an application while it is open."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from generators.sites.application.server import Server
from generators.sites.application.values import Values
from generators.sites.protocol import Outcome
from generators.sites.state import ServerState
from schemas.task import Task


@dataclass(slots=True)
class Lease:
    """One visit: its task, its server, and how far it is."""

    task: Task
    """What is to be done."""
    server: Server
    """The server that has the visit's state."""
    session: str
    """The visit's own id."""
    values: Values
    """What the application's texts name in this visit."""
    start_path: str
    """The path of the task's start."""
    start_status: int | None = None
    """The HTTP status of the start page; None before it was asked for."""
    requests: int = 0
    """Requests of the session's pages so far."""
    pending: int = 0
    """Those that are not answered yet."""
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while all are answered."""
    before: ServerState | None = None
    """The state when the problem began; None before that."""
    outcome: Outcome | None = None
    """How the problem ended; None while it goes on."""
    read: tuple[int, ServerState] | None = None
    """The state that was read last, and after how many requests; None: none was."""

    def __post_init__(self) -> None:
        self.quiet.set()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request while it is answered."""
        self.requests, self.pending = self.requests + 1, self.pending + 1
        self.quiet.clear()
        try:
            yield
        finally:
            self.pending -= 1
            if not self.pending:
                self.quiet.set()
