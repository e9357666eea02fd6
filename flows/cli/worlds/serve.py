"""`stepmill worlds serve`: one world in the user's own browser, until interrupted.

All browsers that open the URL share one visit, which ends with the command. The URL is the only line of standard
output.
"""

import argparse
import asyncio

from aiohttp import web

from flows import signals
from flows.terminal import ExitCode, print_lines, print_note
from generators.sites.gateway import Gateway
from generators.sites.judged_site import COOKIE
from generators.sites.worlds import call
from generators.worlds.drawing.draw import draw_whole
from generators.worlds.serving.server import WorldServer
from generators.worlds.state.database import make_database

_VISIT = "own"
_HOSTS = ("127.0.0.1", "localhost")


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    world, rows = draw_whole(*args.world)
    server = WorldServer(COOKIE)
    server.open(world, make_database(world, rows), _VISIT)
    print_note(f"{world.title}: {args.world[0]}/{args.world[1]}; Ctrl-C ends it")
    signals.run(_serve(server))
    return ExitCode.INTERRUPTED


async def _serve(server: WorldServer) -> None:
    """Serve until the user interrupts."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return await call(server, request, cookie=f"{COOKIE}={_VISIT}")

    async with Gateway() as gateway:
        for host in _HOSTS:
            gateway.mount(host, answer)
        print_lines([f"http://{_HOSTS[0]}:{gateway.port}/"])
        interrupted = asyncio.Event()
        with signals.handle_signals(interrupted.set):
            await interrupted.wait()
