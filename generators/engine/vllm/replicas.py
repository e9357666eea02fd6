"""Several vLLM servers on the GPUs of one machine, each supervised for itself.

Every replica has GPUs, a port and a log of its own. They start at the same time. One that does not start is
left out, with a note that names its log, and so is one that is given up later; the others go on. Only where
none starts, or all are given up, is there no engine left.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Self

from generators.engine.vllm.gpus import VISIBLE, place_replicas
from generators.engine.vllm.restart_policy import RestartPolicy
from generators.engine.vllm.supervisor import VllmServer
from schemas.configuration.sections import EngineSection
from schemas.errors import NoEngine


class VllmReplicas:
    """The vLLM servers of a run, which run while the context is open."""

    def __init__(
        self,
        section: EngineSection,
        *,
        report: Callable[[str], None] = lambda _: None,
        environ: Mapping[str, str] | None = None,
        restart_policy: RestartPolicy | None = None,
    ) -> None:
        """`report` is called with each step of a start, and with the reason why a server is left out.

        Raises:
            NoEngine: this machine has too few GPUs for them.
        """
        own = dict(os.environ if environ is None else environ)
        self._report = report
        self._places = place_replicas(section, own)
        self._servers = [
            VllmServer(
                section,
                report=partial(self._say, number),
                environ=own if place is None else own | {VISIBLE: place},
                restart_policy=restart_policy,
            )
            for number, place in enumerate(self._places, 1)
        ]
        self._stack = AsyncExitStack()
        self.live: dict[str, VllmServer] = {}
        """The servers that started and were not given up, by URL."""

    async def __aenter__(self) -> Self:
        """Start the servers and wait until each answers or is left out.

        Raises:
            NoEngine: none can be started; the message says why, with the last words of the first one.
        """
        async with AsyncExitStack() as stack:
            async with asyncio.TaskGroup() as group:
                starts = [
                    group.create_task(self._start(number, server, stack))
                    for number, server in enumerate(self._servers, 1)
                ]
            refusals = [refusal for start in starts if (refusal := start.result()) is not None]
            self.live = {
                server.url: server
                for server, start in zip(self._servers, starts, strict=True)
                if start.result() is None
            }
            if not self.live:
                raise refusals[0]
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop every process of every server."""
        await self._stack.aclose()

    def count_requests(self, under_way: Callable[[str], int]) -> None:
        """Have each server told by `under_way`, by its URL, how many requests to it have no answer yet."""
        for url, server in self.live.items():
            server.count_requests(partial(under_way, url))

    def forgive_deaths(self) -> None:
        """Count the deaths of the servers so far no more: a request was their cause, and is not sent again."""
        for server in self.live.values():
            server.forgive_deaths()

    @property
    def count(self) -> int:
        """The number of servers, those that do not start too."""
        return len(self._servers)

    @property
    def urls(self) -> Sequence[str]:
        """The bases of the OpenAI interfaces of the live servers, in the order of their GPUs."""
        return tuple(self.live)

    async def wait_given_up(self, lose: Callable[[str, str], None]) -> str:
        """Wait until every server is given up, which may be never; return why the last one was.

        `lose` is called with the URL of each server that is given up, and why.
        """
        watches = {
            asyncio.create_task(server.wait_given_up()): url for url, server in self.live.items()
        }
        why, pending = "", set(watches)
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for watch in done:
                    url = watches[watch]
                    why = str(watch.exception() or "the server was stopped")
                    del self.live[url]
                    if self.live:
                        self._report(f"{url} is given up, and {len(self.live)} go on: {why}")
                    lose(url, why)
        finally:
            for watch in pending:
                watch.cancel()
        return why

    async def _start(
        self, number: int, server: VllmServer, stack: AsyncExitStack
    ) -> NoEngine | None:
        """Start a server, which `stack` stops; return why it does not start, None if it did."""
        try:
            await stack.enter_async_context(server)
        except NoEngine as error:
            if len(self._servers) > 1:
                self._say(number, f"left out, because it does not start: {error}")
            return error
        return None

    def _say(self, number: int, line: str) -> None:
        """Report a line of one server; of several, with its number and its GPUs."""
        if len(self._servers) > 1:
            place = self._places[number - 1]
            line = f"replica {number} of {len(self._servers)} (GPU {place}): {line}"
        self._report(line)
