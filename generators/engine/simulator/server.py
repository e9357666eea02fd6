"""A scripted engine that listens on this machine, started and stopped by its owner."""

from collections.abc import Sequence
from typing import Self

from aiohttp import web

from generators.engine.simulator.app import Pages
from generators.engine.simulator.chat_handler import Desk
from generators.engine.simulator.faults import Fault
from generators.engine.simulator.options import ScriptedOptions
from generators.engine.simulator.request_log import Ledger

SHUTDOWN_SECONDS = 0.1
"""How long requests in flight may take when it stops; some would never end."""

READ_AHEAD = 2**21
"""Bytes of a body that are taken in before reading pauses; pictures make bodies large."""


class ScriptedEngineServer:
    """Serves a scripted engine on 127.0.0.1 for as long as it is entered."""

    def __init__(
        self, options: ScriptedOptions | None = None, *, port: int = 0, faults: Sequence[Fault] = ()
    ) -> None:
        """`port` 0 takes a free one; `faults` are posted from the start."""
        self._desk: Desk | None = None
        self._options = options or ScriptedOptions()
        self._faults = tuple(faults)
        self._runner: web.AppRunner | None = None
        self.port = port
        """Where it listens, once entered."""

    @property
    def url(self) -> str:
        """Where it is, without a path; OpenAI's API is at `/v1` below."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def ledger(self) -> Ledger:
        """What it was asked."""
        return self._opened.ledger

    def fault(self, fault: Fault) -> None:
        """Misbehave so from now on, as `POST /fault` does."""
        self._opened.faults.post(fault)

    def behave(self) -> None:
        """Forget every fault, as `DELETE /fault` does."""
        self._opened.faults.clear()

    def tell(self, session: str, text: str) -> None:
        """Have a text said in reply to the session's next request, as `PUT /puppet` does."""
        self._opened.puppet.tell(session, text)

    @property
    def _opened(self) -> Desk:
        if self._desk is None:
            raise RuntimeError("the scripted engine is not running; use `async with`")
        return self._desk

    async def __aenter__(self) -> Self:
        """Listen."""
        self._desk = Desk(self._options)
        for fault in self._faults:
            self._desk.faults.post(fault)
        self._runner = web.AppRunner(
            Pages(self._desk).app(),
            access_log=None,
            handler_cancellation=True,
            shutdown_timeout=SHUTDOWN_SECONDS,
            read_bufsize=READ_AHEAD,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1_024)
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        self.port = int(self._runner.addresses[0][1])
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop; requests that never end are dropped."""
        if self._runner is not None:
            await self._runner.cleanup()
