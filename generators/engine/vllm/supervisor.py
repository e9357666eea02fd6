"""vLLM under supervision: started, watched, restarted, stopped.

`VllmServer` is a context. Entering it starts the server and waits until it answers; a server that
cannot be started is refused before anything else is done. From then on a task supervises it: a
server that died, hangs or computes nothing is stopped to its last process and restarted at the same address, so that
clients have only to retry. Leaving the context stops every process of the server.
"""

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn, Self

import aiohttp

from generators.engine.vllm.command import (
    ServeCommand,
    configured_port,
    hold_port,
    serve_command,
    server_environment,
)
from generators.engine.vllm.process import (
    ServerProcess,
    StartupLog,
    adapted_command,
    health_status,
    is_broken,
    is_healthy,
)
from generators.engine.vllm.restart_policy import RestartCounter, RestartPolicy
from generators.engine.vllm.work_watch import WorkWatch
from schemas.configuration.sections import EngineSection
from schemas.errors import NoEngine

_POLL_SECONDS = 0.25
"""Between two health checks of a server that is starting."""

_GONE = "the server was stopped"


class _Death(Exception):
    """The server died: how, and after how many seconds of serving, if it served."""

    def __init__(self, how: str, served_seconds: float | None = None) -> None:
        super().__init__(how)
        self.how = how
        self.served_seconds = served_seconds


class VllmServer:
    """A vLLM that runs while the context is open."""

    def __init__(
        self,
        section: EngineSection,
        *,
        report: Callable[[str], None] = lambda _: None,
        environ: Mapping[str, str] | None = None,
        log: Path | None = None,
        restart_policy: RestartPolicy | None = None,
    ) -> None:
        """`report` is called with each step of a start; `log` is the file of the server's log."""
        self._section = section
        self._report = report
        self._environ = server_environment(os.environ if environ is None else environ)
        self._log = log
        self._restart_policy = restart_policy or RestartPolicy()
        self._deaths = RestartCounter(self._restart_policy)
        self._ready = asyncio.Event()
        self._stack = contextlib.AsyncExitStack()
        self._supervision: asyncio.Task[NoReturn] | None = None
        self._command: ServeCommand | None = None
        self._under_way: Callable[[], int] | None = None
        self.restarts = 0
        """Restarts so far."""

    async def __aenter__(self) -> Self:
        """Start the server and wait until it answers.

        Raises:
            NoEngine: it cannot be started, or died; the message says why, with its last words.
        """
        async with contextlib.AsyncExitStack() as stack:
            holder = hold_port(configured_port(self._section))
            stack.callback(holder.close)
            command = serve_command(self._section, holder.getsockname()[1])
            log = self._log or _new_log()
            http = await stack.enter_async_context(aiohttp.ClientSession())
            self._command = command
            for note in command.notes:
                self._report(note)
            self._report(f"vLLM starts; its log is {log}")
            self._supervision = asyncio.create_task(self._keep_running(command, http, log))
            stack.push_async_callback(_stop, self._supervision)
            await self.wait_ready()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop the server and every process of it."""
        await self._stack.aclose()

    @property
    def url(self) -> str:
        """The base of its OpenAI interface; the same for as long as the context is open."""
        if self._command is None:
            raise NoEngine("the server was not started")
        return f"{self._command.origin}/v1"

    @property
    def is_ready(self) -> bool:
        """Its last health check was good."""
        return self._ready.is_set()

    def count_requests(self, under_way: Callable[[], int]) -> None:
        """Have a client say how many requests it has here, whatever the server says."""
        self._under_way = under_way

    def _requests_here(self) -> int | None:
        return None if self._under_way is None else self._under_way()

    async def wait_ready(self) -> None:
        """Wait until it serves, during a restart too.

        Raises:
            NoEngine: it was given up.
        """
        if self._supervision is None:
            raise NoEngine("the server was not started")
        waiting = asyncio.ensure_future(self._ready.wait())
        try:
            await asyncio.wait({waiting, self._supervision}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if not self.is_ready:
            await self.wait_given_up()

    def forgive_deaths(self) -> None:
        """Count its deaths so far no more: a request was their cause, and is not sent again."""
        self._deaths.forgive()

    async def wait_given_up(self) -> NoReturn:
        """Wait until the server is given up, which may be never.

        Raises:
            NoEngine: it is; the message says why, with its last words.
        """
        if self._supervision is None:
            raise NoEngine("the server was not started")
        await asyncio.wait({self._supervision})
        if self._supervision.cancelled():
            raise NoEngine(_GONE)
        raise self._supervision.exception() or NoEngine(_GONE)

    async def _keep_running(
        self, command: ServeCommand, http: aiohttp.ClientSession, log: Path
    ) -> NoReturn:
        """Start the server whenever it died, until it is given up."""
        deaths = self._deaths
        while True:
            startup = StartupLog(log)
            try:
                async with ServerProcess(command, self._environ, log) as server:
                    await self._watch(server, command, http=http, startup=startup)
            except _Death as error:
                death = error
            finally:
                self._ready.clear()
            list(startup.read())
            if death.served_seconds is None and (adapted := adapted_command(command, startup)):
                command, reason = adapted
                self._report(reason)
                continue
            seconds, count = deaths.count_death(death.served_seconds), deaths.deaths_in_a_row
            if seconds is None:
                times = f", {count} times in a row" if count > 1 else ""
                head, *log_lines = startup.summary()
                raise NoEngine(f"vLLM {death.how}{times}; {head}", *log_lines)
            self._report(f"vLLM {death.how}; starting it again in {seconds:g} s")
            await asyncio.sleep(seconds)
            self.restarts += 1

    async def _watch(
        self,
        server: ServerProcess,
        command: ServeCommand,
        *,
        http: aiohttp.ClientSession,
        startup: StartupLog,
    ) -> NoReturn:
        """Watch the server from its start until it dies.

        Raises:
            _Death: it died.
        """
        begun = time.monotonic()
        await self._start(server, command, http=http, startup=startup)
        since = answered = time.monotonic()
        self._ready.set()
        self._report(f"vLLM is ready at {self.url} ({since - begun:.0f} s)")
        work = WorkWatch(
            command,
            limit_seconds=self._section.wedged_seconds,
            look_seconds=self._restart_policy.progress_seconds,
            under_way=self._requests_here,
        )
        while True:
            await asyncio.sleep(self._restart_policy.poll_seconds)
            list(startup.read())
            status, now = await health_status(http, command), time.monotonic()
            if server.exit_code is not None:
                raise _Death(f"ended with code {server.exit_code}", now - since)
            if is_broken(status):
                raise _Death(f"says that it is broken ({status})", now - since)
            if is_healthy(status):
                answered = now
                if still := await work.still_seconds(http, now=now):
                    # What it served ends where it began to stand still: else no row of such deaths would end.
                    how = f"answers, and has computed nothing for its requests for {still:.0f} s"
                    raise _Death(how, max(0.0, now - since - still))
            elif now - answered > self._restart_policy.hung_seconds:
                raise _Death(f"gave no answer for {now - answered:.0f} s", now - since)

    async def _start(
        self,
        server: ServerProcess,
        command: ServeCommand,
        *,
        http: aiohttp.ClientSession,
        startup: StartupLog,
    ) -> None:
        """Wait until the server answers.

        Raises:
            _Death: it ended before, or its log stood still for too long.
        """
        begun = last_output = time.monotonic()
        while True:
            size = startup.size
            for phase in startup.read():
                self._report(f"vLLM: {phase} ({time.monotonic() - begun:.0f} s)")
            if startup.size > size:
                last_output = time.monotonic()
            if server.exit_code is not None:
                raise _Death(f"ended with code {server.exit_code} before it served")
            if is_healthy(await health_status(http, command)):
                return
            if time.monotonic() - last_output > self._restart_policy.silent_seconds:
                raise _Death(
                    f"did not serve, and said nothing for {self._restart_policy.silent_seconds:g} s"
                )
            await asyncio.sleep(_POLL_SECONDS)


async def _stop(supervision: asyncio.Task[NoReturn]) -> None:
    """Stop the supervising task, and with it the server."""
    supervision.cancel()
    await asyncio.wait({supervision})
    if not supervision.cancelled():
        supervision.exception()  # the caller has it already


def _new_log() -> Path:
    """Return a new file for a log; it is kept for the user to read later."""
    descriptor, name = tempfile.mkstemp(prefix="stepmill-vllm-", suffix=".log")
    os.close(descriptor)
    return Path(name)
