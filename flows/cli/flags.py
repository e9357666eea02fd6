"""How a command is added to a parser, and the flags that several commands share.

It loads nothing heavy: help needs it.
"""

import argparse
from collections.abc import Callable, Mapping

Adder = Callable[[argparse.ArgumentParser], None]
"""Adds the flags of a command to its parser."""

Commands = Mapping[str, tuple[Adder, str, str]]
"""Commands by name: what adds their flags, what they do, an example."""


def add_commands(
    parser: argparse.ArgumentParser, commands: Commands, *, dest: str, package: str
) -> None:
    """Add `commands` to `parser`; each is carried out by the module of its name in `package`.

    That module is loaded only when the command is asked for; its name becomes `module`.
    """
    choices = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)
    for name, (add, does, example) in commands.items():
        command = choices.add_parser(
            name,
            help=does,
            description=does[0].upper() + does[1:] + ".",
            epilog=f"Example: {example}",
            allow_abbrev=False,
        )
        command.set_defaults(parser=command, module=f"{package}.{name}")
        add(command)


def json_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object as the last line of standard output, and nothing else there",
    )


def configuration_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--config` and `--set`."""
    parser.add_argument(
        "--config", metavar="FILE", help="a TOML file; paths in it are relative to here"
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="set a key, as browser.sessions=4; VALUE is read as TOML, else taken as text",
    )
