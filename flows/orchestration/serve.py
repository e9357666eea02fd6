"""The program of `make prefect`: a Prefect server, a work pool, a worker and the deployments.

Everything listens on the loopback address only and is stopped when this ends, last started first;
this ends with the process that started it. A server or worker that dies is started again. A server
that is already set (`PREFECT_API_URL`, or the user's Prefect profile) is used and left alone.
"""

import asyncio
import importlib
import os
import signal
import socket
import sys
from pathlib import Path

from flows import signals
from flows.internal_error import report_defect
from flows.orchestration.server import check_server, wait_until_healthy
from flows.orchestration.settings import patience, set_up
from flows.orchestration.supervisor import CommandFailed, Supervisor, prefect_command
from flows.resources.authorities import trust_authorities
from flows.terminal import ExitCode, print_error, print_note
from schemas.errors import Refusal

PORT = "4200"
"""Where the server listens unless `PREFECT_SERVER_API_PORT` says otherwise."""

_HOST = "127.0.0.1"

_LOOK_SECONDS = 0.5


def main() -> int:
    """Serve until interrupted; return the exit code."""
    parent = os.getppid()
    set_up(os.environ, silent=False)
    try:
        trust_authorities(os.environ)
        signals.run(_serve(parent, patience(os.environ)))
    except KeyboardInterrupt:
        print_note("stopped")
    except Refusal as refusal:
        print_error(*refusal.lines)
        return ExitCode.REFUSED
    except Exception as defect:  # noqa: BLE001 - the last resort, as the command line's
        return report_defect(defect, sys.argv[1:])
    return ExitCode.DONE


async def _serve(parent: int, seconds: int) -> None:
    """Serve until a command is given up; the server may take `seconds` to start.

    Raises:
        Refusal: a command is given up, or the server does not start.
    """
    following = asyncio.create_task(_follow(parent))
    settings = await asyncio.to_thread(importlib.import_module, "prefect.settings")
    deploying = await asyncio.to_thread(importlib.import_module, "flows.orchestration.deploy")
    borrowed: str | None = settings.PREFECT_API_URL.value()
    port = os.environ.get("PREFECT_SERVER_API_PORT") or PORT
    url = borrowed or f"http://{_HOST}:{port}/api"
    environ = {**os.environ, "PREFECT_API_URL": url, "PWD": await asyncio.to_thread(os.getcwd)}
    async with Supervisor(environ) as supervisor:
        if borrowed:
            await check_server(url)
        else:
            _check_port(port)
            print_note(f"starting Prefect's server, which may take up to {seconds} s")
            command = prefect_command("server", "start", "--host", _HOST, "--port", port)
            server = await supervisor.start_command("Prefect's server", command)
            await wait_until_healthy(server, url, seconds)
        await deploying.deploy(url, environ)
        command = prefect_command(
            "worker", "start", "--pool", deploying.POOL, "--install-policy", "never"
        )
        await supervisor.start_command("the worker", command)
        print_note(f"Prefect's pages: {url.removesuffix('/api')}")
        client = Path(sys.executable).with_name("prefect")
        print_note(f"try: PREFECT_API_URL={url} {client} deployment run generate/generate-nightly")
        print_note("interrupt to stop all of it")
        try:
            await supervisor.supervise()
        finally:
            following.cancel()


async def _follow(parent: int) -> None:
    """Stop when the process that started this one has ended."""
    while os.getppid() == parent:  # noqa: ASYNC110 - there is no signal for it
        await asyncio.sleep(_LOOK_SECONDS)
    print_note("the process that started this one has ended")
    signal.raise_signal(signal.SIGTERM)


def _check_port(port: str) -> None:
    """Refuse a port that is taken: the server there would be mistaken for ours.

    Raises:
        CommandFailed: the port is taken, or is not a port number.
    """
    try:
        socket.create_server((_HOST, int(port))).close()
    except (OSError, OverflowError, ValueError) as error:
        raise CommandFailed(
            f"PREFECT_SERVER_API_PORT: port {port} of {_HOST} cannot be listened at ({error}); "
            "set another one, or use the server there by PREFECT_API_URL"
        ) from None


if __name__ == "__main__":
    sys.exit(main())
