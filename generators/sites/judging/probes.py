"""Probes: functions of plug-ins that judge the end of an attempt where a task's `expect` names one.

A probe is asked in a process of its own (`probe_process.py`), a new one for each end. So it remembers
nothing, it gets none of the run's credentials, and one that never returns is stopped with all that it
started. The process ends with this program too, however that ends.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from generators import parent_guard
from generators.child_environment import PROBE, inherit
from generators.sites.judging import probe_process
from generators.sites.judging.probe_process import MAX_REPLY_BYTES, ProbeReply, to_mend
from generators.sites.judging.protocol import Judgement, ProbeInput
from registries.entry_points import Group, Plugin
from registries.registry import Registry, callable_part
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.task import Task

PROBE_SECONDS = 30.0
"""How long a probe may take, with the start of its process."""

Probe = Callable[[ProbeInput], Judgement]
"""Judges the end of an attempt."""

PROBES = Registry[Probe](Group.PROBES, {}, adapt=lambda found: cast("Probe", callable_part(found)))
"""Every probe there is; none ships."""


def probe_names(tasks: Iterable[Task]) -> list[str]:
    """Return the names of the probes that judge some of the tasks, each once."""
    expected = (task.expect for task in tasks)
    return sorted({one.probe for one in expected if one is not None and one.probe is not None})


def check_probes(names: Iterable[str]) -> None:
    """Refuse names of probes that are unknown or cannot be used.

    Raises:
        NotFound: with the unknown name and the nearest known one.
        BadConfig: the probe's plug-in cannot be used.
    """
    for name in names:
        PROBES.get(name, key="expect.probe")


async def ask_probe(name: str, given: ProbeInput, *, seconds: float = PROBE_SECONDS) -> Judgement:
    """Return what a probe says of the end of an attempt.

    Args:
        name: the probe's.
        given: the end of the attempt.
        seconds: how long it may take.

    Raises:
        RolloutFailure: there is none of that name, it raises, returns something else or does not return.
    """
    plugin = PROBES.plugin(name)
    if plugin is None:
        raise RolloutFailure(
            FailureKind.SITE,
            f"there is no probe '{name}': install the package that has it, and run the command again",
        )
    request = await asyncio.to_thread(lambda: given.model_dump_json().encode())
    reply, code = await _exchange(plugin, request, seconds)
    try:
        said = ProbeReply.model_validate_json(reply)
    except ValidationError:
        wrong = to_mend(f"ends its process, with code {code}, before it has returned")
        said = ProbeReply(wrong=wrong)
    if said.judgement is None:
        raise RolloutFailure(FailureKind.SITE, f"{plugin} {said.wrong}")
    return said.judgement


async def _exchange(plugin: Plugin, request: bytes, seconds: float) -> tuple[bytes, int | None]:
    """Return what the process of a probe replies to a request, and its exit code; the process has ended."""
    channel, its_end = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=channel, limit=MAX_REPLY_BYTES)
    with contextlib.closing(writer):
        with its_end:
            process = await _start(plugin, its_end)
        reply = b""
        try:
            async with asyncio.timeout(seconds):
                with contextlib.suppress(ConnectionError):
                    writer.write(request)
                    writer.write_eof()
                    await writer.drain()
                    reply = await reader.readline()
        except TimeoutError:
            late = ProbeReply(wrong=to_mend(f"does not return within {seconds:g} s"))
            reply = late.model_dump_json().encode()
        finally:
            await asyncio.shield(_end(process))
    return reply, process.returncode


async def _start(plugin: Plugin, its_end: socket.socket) -> asyncio.subprocess.Process:
    """Start the process of a probe, which finds the modules that this one finds."""
    paths = os.pathsep.join(filter(None, sys.path))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(Path(parent_guard.__file__))),
        *(sys.executable, "-P", "-m", probe_process.__name__, str(plugin)),
        stdin=subprocess.PIPE,
        stdout=its_end.fileno(),
        stderr=subprocess.DEVNULL,
        env=inherit(os.environ, PROBE) | {"PYTHONPATH": paths},
        start_new_session=True,
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process and all that it started."""
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()
