"""The flags of `stepmill engine`. It is all that help needs, so it loads nothing heavy."""

import argparse

from flows.cli.flags import Commands, add_commands, configuration_flags, json_flag


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `engine`."""
    add_commands(parser, _COMMANDS, dest="engine_command", package="flows.cli.engine")


def _serve(parser: argparse.ArgumentParser) -> None:
    configuration_flags(parser)
    parser.add_argument(
        "--port", type=_port, metavar="N", help="where it listens; a free one by default"
    )
    json_flag(parser)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="the endpoint, as http://127.0.0.1:8000/v1")
    _dialect(parser)
    parser.add_argument(
        "--model", metavar="NAME", help="the model to ask; the only one served by default"
    )
    json_flag(parser)


def _plan(parser: argparse.ArgumentParser) -> None:
    _dialect(parser)
    json_flag(parser)


def _dialect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dialect", metavar="NAME", help="how the model is spoken to; holotron by default"
    )


def _port(text: str) -> int:
    maximum = 65_535
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= maximum:
        raise argparse.ArgumentTypeError(
            f"expected a port, a whole number from 1 to {maximum}, got '{text}'"
        )
    return int(text)


_COMMANDS: Commands = {
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
