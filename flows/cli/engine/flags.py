"""The flags of `stepmill engine`. It is all that help needs, so it loads nothing heavy."""

import argparse
from collections.abc import Callable

from flows.cli.flags import configuration_flags, json_flag


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `engine`; which one was asked for is `engine_command`."""
    parser.set_defaults(module="flows.cli.engine.command")
    below = parser.add_subparsers(dest="engine_command", metavar="COMMAND", required=True)
    for name, (add, does, example) in _COMMANDS.items():
        command = below.add_parser(
            name,
            help=does,
            description=does[0].upper() + does[1:] + ".",
            epilog=f"Example: {example}",
            allow_abbrev=False,
        )
        command.set_defaults(parser=command)
        add(command)
        json_flag(command)


def _serve(parser: argparse.ArgumentParser) -> None:
    configuration_flags(parser)
    parser.add_argument(
        "--port", type=_port, metavar="N", help="where it listens; a free one by default"
    )


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="the endpoint, as http://127.0.0.1:8000/v1")
    _dialect(parser)
    parser.add_argument(
        "--model", metavar="NAME", help="the model to ask; the only one served by default"
    )


def _plan(parser: argparse.ArgumentParser) -> None:
    _dialect(parser)


def _dialect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dialect", metavar="NAME", help="how the model is spoken to; holotron by default"
    )


def _port(text: str) -> int:
    most = 65_535
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= most:
        raise argparse.ArgumentTypeError(f"'{text}' is no port: a whole number from 1 to {most}")
    return int(text)


_Adder = Callable[[argparse.ArgumentParser], None]

_COMMANDS: dict[str, tuple[_Adder, str, str]] = {
    "serve": (
        _serve,
        "run vLLM as a configuration says, start it again when it dies, until interrupted",
        "stepmill engine serve --config configs/laptop-vllm.toml --port 8000",
    ),
    "check": (
        _check,
        "ask an endpoint everything that a run in a dialect needs, a line each with its remedy",
        "stepmill engine check http://127.0.0.1:8000/v1 --dialect holotron",
    ),
    "plan": (
        _plan,
        "show viewports by the tokens of their pictures, by legibility and by speed",
        "stepmill engine plan --dialect holotron",
    ),
}
"""Every subcommand: its flags, what it does, an example."""
