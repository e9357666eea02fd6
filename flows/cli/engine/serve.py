"""`stepmill engine serve`: vLLM under supervision, until the user interrupts it.

Standard output gets one line, its address, once it answers; another command uses it with `engine.kind =
"openai"` and `engine.urls`.
"""

import argparse
import asyncio
import os

from flows import signals
from flows.job.config_loader import Sources, load
from flows.resources.engine_config_check import check_encoder_budget
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_note, print_result
from generators.engine.vllm.command import without_flag
from generators.engine.vllm.supervisor import VllmServer
from schemas.configuration.sections import EngineSection


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    config = load(Sources(config=args.config, settings=tuple(args.settings)), os.environ)
    section = config.engine
    log_to_stderr()
    check_encoder_budget(config)
    if args.port is not None:
        arguments = (*without_flag(section.args, "--port"), "--port", str(args.port))
        section = section.model_copy(update={"args": arguments})
    signals.run(_serve(section, as_json=args.json))
    return ExitCode.INTERRUPTED


async def _serve(section: EngineSection, *, as_json: bool) -> None:
    """Serve until the user interrupts; a second interrupt ends it sooner."""
    async with VllmServer(section, report=print_note) as server:
        if as_json:
            print_result({"url": server.url, "model": section.model})
        else:
            print_lines([server.url])
        interrupted = asyncio.Event()
        with signals.handle_signals(interrupted.set):
            await _first(interrupted, server)
        print_note("stopping vLLM")


async def _first(interrupted: asyncio.Event, server: VllmServer) -> None:
    """Wait for an interrupt, or until the supervisor gives the server up.

    Raises:
        NoEngine: the supervisor gave the server up.
    """
    waiting = asyncio.create_task(interrupted.wait())
    ending = asyncio.create_task(server.wait_given_up())
    try:
        done, _ = await asyncio.wait({waiting, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        ending.cancel()
    if ending in done:
        await ending
