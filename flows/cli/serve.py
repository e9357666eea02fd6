"""`stepmill serve`: seats for clients outside, until the command is interrupted.

The first interrupt lets episodes go on for `limits.drain_seconds`, and gives no seat any more; the second one ends them
at once. Every episode that has ended is committed before the command ends.
"""

import asyncio
import os
import shlex
import socket

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources, load
from flows.serving.app import open_doors
from flows.serving.opening import open_seats
from flows.serving.seating import Seats
from flows.serving.tokens import client_tokens
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_note, print_result
from schemas.configuration.config import RunConfig
from schemas.errors import BadConfig


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings), run=args.run)
    config = load(sources, os.environ)
    tokens = client_tokens(config.seats)
    print_note(*_publications(config))
    if args.dry_run:
        _print_plan(config, tokens, as_json=args.json)
        return ExitCode.DONE
    return signals.run(_serve(config, tokens, as_json=args.json))


def _publications(config: RunConfig) -> list[str]:
    """Return how the destinations of a configuration get what is served: a server has no end at which to publish."""
    commands = [
        shlex.join(("stepmill", "publish", config.run.url, "--to", to)) for to in config.publish.to
    ]
    return [f"publish.to: a server publishes nothing; {one} does, at any time" for one in commands]


def _print_plan(config: RunConfig, tokens: dict[str, str], *, as_json: bool) -> None:
    section = config.seats
    plan = {
        "run": config.run.url,
        "address": f"http://{section.host}:{section.port}",
        "doors": [door.value for door in section.doors],
        "seats": config.browser.sessions * config.browser.processes,
        "clients": list(tokens),
        "splits": list(section.splits),
        "engines": list(section.engines),
    }
    if as_json:
        print_result(plan)
    else:
        width = max(map(len, plan))
        lines = [
            f"{key:<{width}}  {', '.join(map(str, value)) if isinstance(value, list) else value}"
            for key, value in plan.items()
        ]
        print_lines(lines)


async def _serve(config: RunConfig, tokens: dict[str, str], *, as_json: bool) -> int:
    stop, now = asyncio.Event(), asyncio.Event()

    def interrupt() -> None:
        if stop.is_set():
            now.set()
            return
        stop.set()
        print_note(
            f"giving no seat any more; episodes may go on for {config.limits.drain_seconds:g} s; "
            "interrupt again to end them now"
        )

    with _listen(config) as listener:
        async with open_seats(config) as seats, open_doors(seats, tokens, listener):
            port, limit = listener.getsockname()[1], seats.turnstile.limit
            _announce(config, tokens, port=port, seats=limit, as_json=as_json)
            with signals.handle_signals(interrupt):
                await stop.wait()
                await _drain(seats, config.limits.drain_seconds, now)
    for problem in seats.keeper.problems:
        print_note(problem)
    print_note(f"{seats.keeper.committed} episodes are committed in {config.run.url}")
    return ExitCode.SHORT if seats.keeper.problems else ExitCode.DONE


async def _drain(seats: Seats, seconds: float, now: asyncio.Event) -> None:
    """Let episodes go on for so long, or until `now`."""
    draining = asyncio.create_task(seats.drain(seconds))
    hurry = asyncio.create_task(now.wait())
    await asyncio.wait({draining, hurry}, return_when=asyncio.FIRST_COMPLETED)
    if not draining.done():
        await seats.drain(0.0)
    await draining
    hurry.cancel()


def _listen(config: RunConfig) -> socket.socket:
    """Take the port, before anything is opened or written.

    Raises:
        BadConfig: it is taken, or the address is none of this machine's.
    """
    host, port = config.seats.host, config.seats.port
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise BadConfig(
            f"seats.port = {port}: {host} does not let it be served there: {error.strerror or error}; choose "
            "another, or 0 for a free one"
        ) from None


def _announce(
    config: RunConfig, tokens: dict[str, str], *, port: int, seats: int, as_json: bool
) -> None:
    """Print where the doors are and how clients get in."""
    host = f"[{config.seats.host}]" if ":" in config.seats.host else config.seats.host
    url = f"http://{host}:{port}"
    named = config.seats.clients
    shown = {
        name: token if name not in named or named[name].token_env is None else None
        for name, token in tokens.items()
    }
    if as_json:
        print_result({"url": url, "run": config.run.url, "seats": seats, "tokens": shown})
        return
    ways = [
        f"{name}={token}" if token is not None else f"{name}=${named[name].token_env}"
        for name, token in shown.items()
    ]
    print_lines([f"serving {url}  {seats} seats  run {config.run.url}  token {' '.join(ways)}"])
