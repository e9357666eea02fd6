"""What `make prefect` runs: a Prefect server, a work pool, a worker and the deployments, here.

Everything listens on the loopback address only and is stopped when this ends, last started first.
A server that is already set (`PREFECT_API_URL`) is used and left alone.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack

from flows import signals
from flows.cli_terminal import complain, note
from flows.prefect_env import patience, set_up
from flows.prefect_server import check_server, wait_until_healthy
from schemas.errors import Refusal

POOL = "local"
"""The work pool that `prefect.yaml` deploys to."""

PORT = "4200"
"""Where the server listens unless `PREFECT_SERVER_API_PORT` says otherwise."""

_QUIETLY = ("--install-policy", "never")

STOP_SECONDS = 15.0
"""How long a worker or server may take to end."""


class Failed(Refusal):
    """A Prefect command did not do what it was asked."""


def main() -> int:
    """Serve until interrupted; return the exit code."""
    set_up(os.environ, silent=False)
    try:
        signals.run(_serve(dict(os.environ)))
    except KeyboardInterrupt:
        note("stopped")
    except Refusal as refusal:
        complain(str(refusal))
        return 2
    return 0


async def _serve(environ: dict[str, str]) -> None:
    environ["PWD"] = str(await asyncio.to_thread(os.getcwd))
    async with AsyncExitStack() as stack:
        if not environ.get("PREFECT_API_URL"):
            port = environ.get("PREFECT_SERVER_API_PORT", PORT)
            environ["PREFECT_API_URL"] = f"http://127.0.0.1:{port}/api"
            command = ("server", "start", "--host", "127.0.0.1", "--port", port)
            server = _start(stack, environ, *command)
            await wait_until_healthy(server, environ["PREFECT_API_URL"], patience(environ))
        url = environ["PREFECT_API_URL"]
        await check_server(url)
        await _do(environ, "work-pool", "create", POOL, "--type", "process", "--overwrite")
        await _do(environ, "--no-prompt", "deploy", "--all")
        worker = _start(stack, environ, "worker", "start", "--pool", POOL, *_QUIETLY)
        note(f"Prefect's pages: {url.removesuffix('/api')}")
        note(f"try: PREFECT_API_URL={url} prefect deployment run publish/publish")
        note("interrupt to stop all of it")
        code = await asyncio.to_thread(worker.wait)
        raise Failed(f"the worker ended by itself with code {code}")


def _start(
    stack: AsyncExitStack, environ: Mapping[str, str], *arguments: str
) -> subprocess.Popen[bytes]:
    """Start a Prefect command that goes on until it is stopped, and never longer than this."""
    process = subprocess.Popen(  # noqa: S603 - Prefect's own command line
        [sys.executable, "-m", "generators.tied", sys.executable, "-m", "prefect", *arguments],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # an interrupt from the terminal is for this process alone
    )
    stack.push_async_callback(_stop, process)
    return process


async def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.to_thread(process.wait, STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


async def _do(environ: Mapping[str, str], *arguments: str) -> None:
    """Run a Prefect command to its end.

    Raises:
        Failed: it says why.
    """
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "prefect",
        *arguments,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said, _ = await running.communicate()
    if running.returncode:
        raise Failed(f"prefect {' '.join(arguments)}: {said.decode(errors='replace').strip()}")


if __name__ == "__main__":
    sys.exit(main())
