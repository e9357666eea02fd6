"""Runs a scripted engine: `python -m generators.engine.scripted --port 8000`.

The first line of standard output is its URL. It ends on SIGTERM or SIGINT, and by itself when
whoever started it is gone: when standard input ends where that is a pipe, else when its parent
process is no longer the same.
"""

import argparse
import asyncio
import os
import signal
import stat
import sys
from collections.abc import Sequence

from pydantic import ValidationError

from generators.engine.scripted.faults import Fault, FaultKind, fault_of
from generators.engine.scripted.options import Coordinates, ScriptedOptions
from generators.engine.scripted.server import ScriptedEngineServer

STDIN, STDOUT = 0, 1
LOOK_SECONDS = 0.5
"""How often it looks whether its parent is still there."""

REFUSED = 2
"""The exit code when it does not start."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an engine until it is told to end, or nobody is left to tell it."""
    parser = _parser()
    said = parser.parse_args(arguments)
    try:
        options = ScriptedOptions(
            model=said.model,
            coordinates=said.coordinates,
            context_tokens=said.context,
            max_pictures=said.max_pictures,
            delay_ms=said.delay_ms,
            at_once=said.at_once,
            prefix_cache=said.prefix_cache,
            cache_blocks=said.cache_blocks,
            puppet=said.puppet,
            seed=said.seed,
            api_key=said.api_key,
        )
    except ValidationError as error:
        problem = error.errors()[0]
        parser.error(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}")
    try:
        asyncio.run(_serve(options, said.port, said.fault))
    except OSError as error:
        parser.exit(REFUSED, f"port {said.port}: {error.strerror}; give another --port\n")
    return 0


async def _serve(options: ScriptedOptions, port: int, faults: Sequence[Fault]) -> None:
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    parent = os.getppid()
    async with ScriptedEngineServer(options, port=port, faults=faults) as server:
        os.write(STDOUT, f"{server.url}\n".encode())
        if _is_pipe(STDIN):
            loop.add_reader(STDIN, _drain, ending)
            await ending.wait()
        while os.getppid() == parent and not ending.is_set():
            await _wait(ending, LOOK_SECONDS)


def _is_pipe(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _drain(ending: asyncio.Event) -> None:
    try:
        data = os.read(STDIN, 65_536)
    except OSError:
        data = b""
    if not data:
        asyncio.get_running_loop().remove_reader(STDIN)
        ending.set()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m generators.engine.scripted",
        description="An OpenAI-compatible server that needs no model, on 127.0.0.1.",
    )
    add, usual = parser.add_argument, ScriptedOptions()
    add("--port", type=int, default=0, help="0 takes a free one")
    add("--model", default=usual.model, help="the model it says it serves")
    add("--coordinates", type=Coordinates, choices=list(Coordinates), default=usual.coordinates)
    add("--context", type=int, default=usual.context_tokens, metavar="TOKENS")
    add("--max-pictures", type=int, default=None, metavar="N", help="0: it takes text alone")
    add("--delay-ms", type=_range, default=usual.delay_ms, metavar="A[,B]")
    add("--at-once", type=int, default=usual.at_once, metavar="N", help="further requests wait")
    add("--no-prefix-cache", dest="prefix_cache", action="store_false")
    add("--cache-blocks", type=int, default=usual.cache_blocks, metavar="N")
    add("--puppet", action="store_true", help="say what PUT /puppet/{session} told")
    add("--seed", type=int, default=usual.seed)
    add("--api-key", default=None, help="what /v1 must be asked with")
    add(
        "--fault",
        type=_fault,
        action="append",
        default=[],
        metavar="KIND[:TIMES[:FIELD=VALUE]]",
        help=f"misbehave: {', '.join(FaultKind)}",
    )
    return parser


def _range(text: str) -> tuple[float, float]:
    low, comma, high = text.partition(",")
    return float(low), float(high if comma else low)


def _fault(text: str) -> Fault:
    try:
        return fault_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
