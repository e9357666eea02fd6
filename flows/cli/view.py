"""`stepmill view`: the window on runs and datasets, until the command is interrupted."""

import asyncio
import getpass
import os
import socket

from flows import signals
from flows.cli.parser import Arguments
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_note, print_result
from flows.viewing.app import open_window
from flows.viewing.guard import ENTER, new_token
from flows.viewing.opening import open_for_view
from flows.viewing.shown import Shown
from schemas.errors import BadConfig
from storage.reading.lookup import cache_folder, forget


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    cache = cache_folder(os.environ)
    if args.forget:
        for place in args.places:
            gone = forget(cache, place)
            print_lines([f"{place}: {'forgotten' if gone else 'nothing was kept of it'}"])
        return ExitCode.DONE
    return signals.run(_serve(args))


async def _serve(args: Arguments) -> int:
    with _listen(args.host, args.port) as listener:
        cache = cache_folder(os.environ)
        places = [
            Shown(place, await open_for_view(place, os.environ), cache) for place in args.places
        ]
        token = new_token()
        async with open_window(places, token, listener, args.reviewer or getpass.getuser()):
            _announce(args, _address(listener, token))
            stop = asyncio.Event()
            with signals.handle_signals(stop.set):
                await stop.wait()
    return ExitCode.DONE


def _address(listener: socket.socket, token: str) -> str:
    host, port, *_ = listener.getsockname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/?{ENTER}={token}"


def _announce(args: Arguments, address: str) -> None:
    if args.json:
        print_result({"address": address, "places": list(args.places)})
        return
    print_lines([address])
    print_note("open this address in a browser; it is yours alone. Ctrl-C closes the window.")


def _listen(host: str, port: int) -> socket.socket:
    """Take the port.

    Raises:
        BadConfig: it is taken, or the address is not of loopback.
    """
    if host not in ("127.0.0.1", "::1", "localhost"):
        raise BadConfig(
            f"--host {host}: a window is served to this machine alone, as 127.0.0.1; from another one go through "
            "ssh -L"
        )
    name = "127.0.0.1" if host == "localhost" else host
    try:
        family = socket.AF_INET6 if ":" in name else socket.AF_INET
        return socket.create_server((name, port), family=family)
    except OSError as error:
        raise BadConfig(
            f"--port {port}: {name} does not let it be served there: {error.strerror or error}; choose another, or "
            "leave it out for a free one"
        ) from None
