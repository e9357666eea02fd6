"""The process that is Prefect's embedded server; it never outlives the command that started it.

Run as `python -m flows.orchestration.server_process FD`, with a listening socket as file descriptor
FD and a pipe as standard input. Nothing is ever written to that pipe: it ends when the other side
is gone, even by `kill -9`, and this process ends with it.
"""

import asyncio
import os
import socket
import sys
import threading

_GRACE_SECONDS = 3.0
_LOOK_SECONDS = 0.2


def main(argv: list[str]) -> None:
    """Serve until the parent is gone."""
    serving, ending = threading.Event(), threading.Event()
    threading.Thread(target=_watch, args=(serving, ending), daemon=True).start()
    asyncio.run(_serve(socket.socket(fileno=int(argv[0])), serving, ending))


def _watch(serving: threading.Event, ending: threading.Event) -> None:
    """Wait for the pipe to end, give the server a few seconds to stop, and end the process."""
    os.read(0, 1)
    ending.set()
    if serving.is_set():
        threading.Event().wait(_GRACE_SECONDS)
    os._exit(0)


async def _serve(
    listener: socket.socket, serving: threading.Event, ending: threading.Event
) -> None:
    import uvicorn  # noqa: PLC0415 - the watch must begin before anything slow
    from prefect.server.api.server import create_app  # noqa: PLC0415

    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="error", lifespan="on"))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not running.done():
        await asyncio.sleep(_LOOK_SECONDS)
        if server.started:
            serving.set()
        server.should_exit = server.should_exit or ending.is_set()
    await running


if __name__ == "__main__":
    main(sys.argv[1:])
