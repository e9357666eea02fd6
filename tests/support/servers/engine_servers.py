"""Engines for tests: scripted servers in this process or their own, and clients in a hurry."""

import asyncio
import contextlib
import io
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from random import Random

from PIL import Image

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_health import ProbeTimings
from generators.engine.client.retry_policy import RetryPolicy
from generators.engine.protocol import EnginePrompt, Message, Picture, Role
from generators.engine.vllm.command import hold_port
from schemas.backoff import Backoff
from schemas.base import JsonObject

ROOT = Path(__file__).parents[3]

SIMULATOR = (sys.executable, "-m", "generators.engine.simulator")
"""Starts a simulator in a process of its own."""

HASTY = ProbeTimings(
    probe_backoff=Backoff(first_seconds=0.02, max_seconds=0.1),
    probe_interval=0.05,
    probe_timeout=0.3,
    failures=3,
    ramp=0.5,
    ramp_alone=0.1,
)
"""What takes seconds elsewhere takes a fraction of one."""

PATIENT = ProbeTimings(
    probe_backoff=Backoff(first_seconds=0.05, max_seconds=0.25),
    probe_interval=1.0,
    probe_timeout=10.0,
    failures=3,
    ramp=1.0,
    ramp_alone=0.3,
)
"""Hasty enough for a test, and never mistakes a busy machine for a dead server."""

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"x": {"type": "integer", "minimum": 0, "maximum": 1_000}},
    "required": ["x"],
}


def engine(
    urls: Sequence[str],
    *,
    model: str | None = None,
    timeout_seconds: float = 60.0,
    probe_timings: ProbeTimings = PATIENT,
    logprobs_mode: str | None = None,
    retry_policy: RetryPolicy | None = None,
    wedged_seconds: float | None = None,
    by_priority: bool = False,
    on_deadly_request: Callable[[], None] = lambda: None,
) -> OpenAIEngine:
    """Return a client that asks again soon."""
    return OpenAIEngine(
        urls,
        model=model,
        timeout_seconds=timeout_seconds,
        probe_timings=probe_timings,
        logprobs_mode=logprobs_mode,
        wedged_seconds=wedged_seconds,
        by_priority=by_priority,
        on_deadly_request=on_deadly_request,
        retry_policy=retry_policy
        or RetryPolicy(Backoff(first_seconds=0.02, max_seconds=0.2, jitter=0.5)),
    )


def prompt(
    text: str = "go", *, schema: JsonObject | None = None, picture: bool = False
) -> EnginePrompt:
    """Return a prompt with a system's message and a user's."""
    shot = Picture(jpeg=jpeg(64, 32), step=0, width=64, height=32)
    return EnginePrompt(
        messages=(
            Message(role=Role.SYSTEM, parts=("You drive a browser.",)),
            Message(role=Role.USER, parts=(shot, text) if picture else (text,)),
        ),
        reply_schema=schema,
    )


def jpeg(width: int, height: int, *, noise: int = 0) -> bytes:
    """Return a picture; `noise` other than 0 makes it large and itself alone."""
    size, out = (width, height), io.BytesIO()
    picture = (
        Image.frombytes("RGB", size, Random(noise).randbytes(3 * width * height))
        if noise
        else Image.new("RGB", size)
    )
    picture.save(out, "JPEG", quality=80)
    return out.getvalue()


async def until(come: Callable[[], Awaitable[bool]], *, seconds: float = 200.0) -> None:
    """Wait until something has come about; fail where it does not in so long."""
    async with asyncio.timeout(seconds):
        for _ in itertools.count():
            if await come():
                return
            await asyncio.sleep(0.02)


@contextlib.contextmanager
def held_port() -> Iterator[int]:
    """Keep a port that nobody listens on; a server of ours may, and nobody else is given it.

    On a busy machine a port that was merely free a moment ago is often another program's by the
    time a server is started there, or started again.
    """
    with hold_port(0) as holder:
        yield int(holder.getsockname()[1])


@contextlib.contextmanager
def scripted_engine(*flags: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a simulator in a process of its own; yield the process, and its URL once it listens."""
    process = subprocess.Popen(
        [*SIMULATOR, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().decode().strip()
    finally:
        process.kill()
        process.communicate()


class ScriptedProcess:
    """A simulator in a process of its own, which can be killed and started again."""

    def __init__(self, port: int, *arguments: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._arguments = ("--port", str(port), *arguments)
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it listens."""
        self._process = await asyncio.create_subprocess_exec(
            *SIMULATOR,
            *self._arguments,
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(200):
            line = await self._process.stdout.readline()
        assert line.strip(), "the simulator did not start"

    async def kill(self) -> None:
        """Kill it as the kernel would, without a goodbye."""
        await self._signal(signal.SIGKILL)

    async def freeze(self) -> None:
        """Stop it where it stands: it keeps its connections and answers nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    async def _signal(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        async with asyncio.timeout(200):
            await process.wait()


@contextlib.asynccontextmanager
async def scripted_process(port: int, *arguments: str) -> AsyncIterator[ScriptedProcess]:
    """Run a simulator in a process of its own, and stop it whatever happens."""
    process = ScriptedProcess(port, *arguments)
    await process.start()
    try:
        yield process
    finally:
        await process.kill()


@contextlib.asynccontextmanager
async def raw_server(
    speak: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """Run a server that says exactly the bytes that `speak` writes; yields its URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError):
                await speak(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
