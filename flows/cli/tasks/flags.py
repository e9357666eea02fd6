"""The flags of `stepmill tasks`. It is all that help needs, so it loads nothing heavy."""

import argparse

from flows.cli.flags import Commands, add_commands, configuration_flags, json_flag

DEFAULT_SEEDS = 20
"""Seeds of each template that a check attempts by default."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `tasks`."""
    add_commands(parser, _COMMANDS, dest="tasks_command", package="flows.cli.tasks")


def _list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("globs", metavar="GLOB", nargs="*", help="only templates that match any")
    parser.add_argument(
        "--tag", action="append", default=[], help="only with this tag, as typing; may be repeated"
    )
    parser.add_argument(
        "--source", default="miniwob", help="a task file instead: its tasks, read and checked"
    )
    json_flag(parser)


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("template", metavar="TEMPLATE", help="as click-test")
    parser.add_argument("--seed", type=_seed, default=0, metavar="N", help="which task of it (0)")
    parser.add_argument("--to", metavar="FILE", help="save its picture: .jpg as seen, or .png")
    configuration_flags(parser)
    json_flag(parser)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", metavar="NAME", help="who acts (teacher)")
    parser.add_argument(
        "--seeds", type=_count, metavar="N", help=f"seeds of each template ({DEFAULT_SEEDS})"
    )
    parser.add_argument("--first-seed", type=_seed, metavar="N", help="the first of them (0)")
    parser.add_argument(
        "--include", action="append", metavar="GLOB", help="only templates that match any"
    )
    parser.add_argument(
        "--exclude", action="append", metavar="GLOB", help="no templates that match any"
    )
    parser.add_argument("--sessions", type=_count, metavar="N", help="at once")
    configuration_flags(parser)
    json_flag(parser)


def _count(text: str) -> int:
    return _whole_number(text, minimum=1)


def _seed(text: str) -> int:
    return _whole_number(text, minimum=0)


def _whole_number(text: str, *, minimum: int) -> int:
    maximum = 2**63 - 1
    if not text.isascii() or not text.isdigit() or not minimum <= int(text[:20]) <= maximum:
        raise argparse.ArgumentTypeError(
            f"expected a whole number from {minimum} to {maximum}, got '{text}'"
        )
    return int(text)


_COMMANDS: Commands = {
    "list": (
        _list,
        "list templates with what they need and an example goal, or a task file's tasks",
        "stepmill tasks list 'click-*' --tag searching",
    ),
    "show": (
        _show,
        "open one task's real page and show its goal, address, elements and picture",
        "stepmill tasks show book-flight --seed 3 --to flight.png",
    ),
    "check": (
        _check,
        "attempt templates with many seeds and replay what succeeded; by family, worst first",
        "stepmill tasks check --policy teacher --seeds 20 --include 'click-*'",
    ),
}
"""Every subcommand: its flags, what it does, an example."""
