"""A scripted engine to be asked by a bench."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from generators.engine.vllm.command import USAGE_FLAGS

ROOT = Path(__file__).parent.parent.parent


@contextlib.asynccontextmanager
async def scripted_engine(*flags: str) -> AsyncIterator[str]:
    """Run a scripted engine in a niced process of its own, which says all; yields its URL."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "generators.engine.simulator", *USAGE_FLAGS, *flags),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    os.setpriority(os.PRIO_PROCESS, process.pid, 5)
    try:
        if process.stdout is None:
            raise SystemExit("the scripted engine has no output")
        async with asyncio.timeout(60):
            line = await process.stdout.readline()
        yield line.decode().strip()
    finally:
        process.kill()
        await process.wait()
