"""Probes: functions of plug-ins that judge the end of an attempt if a task's `expect` names one.

Each judgement runs in a new process (`probe_process.py`). So a probe keeps no state between ends and gets
none of the run's credentials; one that does not return is stopped with its children. The process ends with
this program too, however that ends.
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
"""Time limit of a probe, seconds; it includes the start of its process."""

Probe = Callable[[ProbeInput], Judgement]
"""Judges the end of an attempt."""

PROBES = Registry[Probe](Group.PROBES, {}, adapt=lambda found: cast("Probe", callable_part(found)))
"""All probes by name; none is shipped."""


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
    """Return a probe's judgement of an attempt's end.

    Args:
        name: the probe's name.
        given: the end of the attempt.
        seconds: its time limit.

    Raises:
        RolloutFailure: the probe does not exist, raises, does not return a judgement, or does not return in
            time.
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
    """Return the reply of a probe's process and its exit code, after the process has ended."""
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
    """Start a probe's process with this process's module search path."""
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
    """End the process with its children."""
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()
