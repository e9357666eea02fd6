"""Prefect's own commands under supervision: one that dies is started again, or given up.

Each runs under a guard (`generators.parent_guard`) that ends it, and everything it started, when
this process ends. The guard itself may be killed; its orphans are then adopted and ended here.
"""

import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn, Self

from flows.terminal import print_note
from generators import parent_guard
from generators.engine.vllm.restart_policy import RestartCounter, RestartPolicy
from schemas.errors import Refusal


class CommandFailed(Refusal):
    """A Prefect command failed."""


class Supervisor:
    """Runs commands as long as the context is open; the last one started ends first."""

    def __init__(self, environ: Mapping[str, str], patience: RestartPolicy | None = None) -> None:
        self._environ = environ
        self._patience = patience or RestartPolicy()
        self._commands: dict[str, Sequence[str]] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._changing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Adopt orphaned descendants from here on."""
        parent_guard.adopt_orphans()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End everything, the last one started first."""
        for process in reversed(self._running.values()):
            await asyncio.shield(asyncio.to_thread(_end, process))
        await asyncio.shield(asyncio.to_thread(parent_guard.end_children))

    async def start_command(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a command; messages call it by this name."""
        async with self._changing:
            self._commands[name] = command
            process = self._running[name] = self._start(command)
        return process

    async def supervise(self) -> NoReturn:
        """Start each command again when it dies, until one is given up.

        Raises:
            CommandFailed: naming the command that keeps dying.
        """
        watching = [asyncio.create_task(self._supervise(name)) for name in self._commands]
        try:
            ended, _ = await asyncio.wait(watching, return_when=asyncio.FIRST_COMPLETED)
            raise next(error for one in ended if (error := one.exception()))
        finally:
            for one in watching:
                one.cancel()

    async def _supervise(self, name: str) -> NoReturn:
        deaths, loop = RestartCounter(self._patience), asyncio.get_running_loop()
        while True:
            began = loop.time()
            process = self._running[name]
            code = parent_guard.exit_code(await asyncio.to_thread(process.wait))
            lived = loop.time() - began
            _end(process)
            async with self._changing:  # a command that is being started is no orphan
                others = {one.pid for one in self._running.values()}
                await asyncio.to_thread(parent_guard.end_children, others)
            seconds = deaths.count_death(lived)
            if seconds is None:
                raise CommandFailed(
                    f"{name} ended {deaths.deaths_in_a_row} times, each time within "
                    f"{self._patience.stable_seconds:g} s, at last with code {code}; "
                    "what it printed is above"
                )
            print_note(f"{name} ended with code {code}; starting it again in {seconds:g} s")
            await asyncio.sleep(seconds)
            await self.start_command(name, self._commands[name])

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - Prefect's own command line
            [sys.executable, "-P", parent_guard.__file__, *command],
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt from the terminal is for this process alone
        )


async def run_command(environ: Mapping[str, str], command: Sequence[str]) -> None:
    """Run a command to its end.

    Raises:
        CommandFailed: with what the command printed.
    """
    running = await asyncio.create_subprocess_exec(
        *command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output, _ = await running.communicate()
    if running.returncode:
        raise CommandFailed(f"{' '.join(command)}: {output.decode(errors='replace').strip()}")


def prefect_command(*arguments: str) -> tuple[str, ...]:
    """Return the Prefect command with these arguments."""
    return (sys.executable, "-m", "prefect", *arguments)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close a command's standard input, and kill it if it does not end."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(parent_guard.END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
