"""The simulator's command line, which a run's `engine.args` use too."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from pydantic import ValidationError

from generators.engine.simulator.faults import Fault, FaultKind, parse_fault
from generators.engine.simulator.options import Coordinates, SimulatorOptions

MAX_PORT = 65_535


class BadCommand(ValueError):
    """A flag is unknown or its value out of range; the text says which."""


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed command line."""

    options: SimulatorOptions
    """The settings of the engine."""
    port: int
    """The port to listen on; 0: any free one."""
    faults: tuple[Fault, ...]
    """Its faults from the start."""


def read_command(arguments: Sequence[str], *, model: str | None = None) -> Command:
    """Return the parsed `arguments`; `model` is served where they name none.

    Raises:
        BadCommand: a flag is unknown or its value out of range.
        SystemExit: they ask for help.
    """
    args = _parser().parse_args(arguments)
    try:
        options = SimulatorOptions(
            model=args.model or model or SimulatorOptions().model,
            coordinates=args.coordinates,
            context_tokens=args.context,
            max_pictures=args.max_pictures,
            delay_ms=args.delay_ms,
            at_once=args.at_once,
            prefix_cache=args.prefix_cache,
            cache_blocks=args.cache_blocks,
            prompt_tokens_details=args.enable_prompt_tokens_details,
            request_metrics=args.enable_per_request_metrics,
            preset=args.preset,
            speed=args.speed,
            by_priority=args.scheduling_policy == "priority",
            puppet=args.puppet,
            blunders=args.blunders,
            seed=args.seed,
            api_key=args.api_key,
        )
    except ValidationError as error:
        problem = error.errors()[0]
        raise BadCommand(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}") from error
    return Command(options, args.port, tuple(args.fault))


class _FlagParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadCommand(message)


def _parser() -> _FlagParser:
    parser = _FlagParser(
        prog="python -m generators.engine.simulator",
        description="An OpenAI-compatible server that needs no model, on 127.0.0.1.",
    )
    add, usual = parser.add_argument, SimulatorOptions()
    add("--port", type=_parse_port, default=0, help="0 takes a free one")
    add("--model", default=None, help="the model it says it serves")
    add("--coordinates", type=Coordinates, choices=list(Coordinates), default=usual.coordinates)
    add("--context", type=int, default=usual.context_tokens, metavar="TOKENS")
    add("--max-pictures", type=int, default=None, metavar="N", help="0: it takes text alone")
    add("--delay-ms", type=_parse_range, default=usual.delay_ms, metavar="A[,B]")
    add("--at-once", type=int, default=usual.at_once, metavar="N", help="further requests wait")
    add("--no-prefix-cache", dest="prefix_cache", action="store_false")
    add("--cache-blocks", type=int, default=usual.cache_blocks, metavar="N")
    for flag in ("--enable-prompt-tokens-details", "--enable-per-request-metrics"):
        add(flag, action=argparse.BooleanOptionalAction, default=False, help="as with vLLM")
    add("--preset", default=None, metavar="NAME", help="a server whose memory and times it has")
    add("--speed", type=float, default=usual.speed, metavar="N", help="seconds of it in a real one")
    add("--scheduling-policy", choices=("fcfs", "priority"), default="fcfs", help="as with vLLM")
    add("--puppet", action="store_true", help="send the replies that PUT /puppet/{session} queues")
    add("--blunders", type=float, default=usual.blunders, metavar="SHARE", help="made up instead")
    add("--seed", type=int, default=usual.seed)
    add("--api-key", default=None, help="what /v1 must be asked with")
    add(
        "--fault",
        type=_parse_fault_flag,
        action="append",
        default=[],
        metavar="KIND[:TIMES[:FIELD=VALUE]]",
        help=f"misbehave: {', '.join(FaultKind)}",
    )
    return parser


def _parse_port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= MAX_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {MAX_PORT}")
    return port


def _parse_range(text: str) -> tuple[float, float]:
    low, comma, high = text.partition(",")
    return float(low), float(high if comma else low)


def _parse_fault_flag(text: str) -> Fault:
    try:
        return parse_fault(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None
