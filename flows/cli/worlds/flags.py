"""The flags of `stepmill worlds`. A world is named by family and seed, as `shop/7`.

Help imports this module, so it loads nothing heavy.
"""

import argparse

from flows.cli.flags import Commands, add_commands, json_flag, seed_number, whole_number
from schemas.worlds.language import Language

COUNT = 200
"""The default number of worlds on a sheet."""

CHECKED = 10
"""The default number of worlds to check."""


def worlds_flags(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `worlds`."""
    add_commands(parser, WORLDS, dest="worlds_command", package="flows.cli.worlds")


def _world(text: str) -> tuple[str, int]:
    """Parse a world's name into family and seed."""
    family, slash, seed = text.partition("/")
    if not family or not slash:
        raise argparse.ArgumentTypeError(
            f"expected a family and a seed, as shop/7, got '{text}' (`stepmill worlds list` names the families)"
        )
    return family, seed_number(seed)


def _add_world_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD", type=_world, help="FAMILY/SEED, as shop/7")


def _show(parser: argparse.ArgumentParser) -> None:
    _add_world_name(parser)
    parser.add_argument("--to", metavar="FILE", help="save its first page's picture: .jpg or .png")
    json_flag(parser)


def _add_family(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--family", metavar="NAME", help="worlds of this family alone (all in turn)"
    )


def _add_language(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language",
        type=Language,
        choices=list(Language),
        metavar="CODE",
        help=f"in this language alone: {', '.join(Language)} (all)",
    )


def _words(parser: argparse.ArgumentParser) -> None:
    _add_family(parser)
    _add_language(parser)
    json_flag(parser)


def _sheet(parser: argparse.ArgumentParser) -> None:
    _add_family(parser)
    _add_language(parser)
    parser.add_argument("--to", metavar="FILE", required=True, help="the picture: .jpg or .png")
    parser.add_argument(
        "--count", type=whole_number, default=COUNT, metavar="N", help=f"worlds on it ({COUNT})"
    )
    parser.add_argument(
        "--first-seed", type=seed_number, default=0, metavar="N", help="the first of them (0)"
    )


def _check(parser: argparse.ArgumentParser) -> None:
    _add_family(parser)
    _add_language(parser)
    parser.add_argument(
        "--worlds", type=whole_number, default=CHECKED, metavar="N", help=f"worlds ({CHECKED})"
    )
    parser.add_argument(
        "--first-seed", type=seed_number, default=0, metavar="N", help="the first of them (0)"
    )
    parser.add_argument(
        "--tasks",
        type=seed_number,
        default=1,
        metavar="N",
        help="tasks of each world that are attempted in a browser too (1)",
    )
    json_flag(parser)


WORLDS: Commands = {
    "list": (
        json_flag,
        "list the families of worlds, with counts of their contents and kinds of tasks",
        "stepmill worlds list",
    ),
    "show": (
        _show,
        "describe one world in words, and save a picture of its first page",
        "stepmill worlds show shop/7 --to page.png",
    ),
    "sheet": (
        _sheet,
        "put the first pages of many worlds, of all families in turn, on one picture",
        "stepmill worlds sheet --to sheet.png --count 200",
    ),
    "serve": (
        _add_world_name,
        "open one world to your own browser, on this machine alone, until interrupted",
        "stepmill worlds serve shop/7",
    ),
    "check": (
        _check,
        "check worlds of all families and their tasks with the gates: links, forms, origins, looks, leaks, shortcuts",
        "stepmill worlds check --worlds 20",
    ),
    "words": (
        _words,
        "check the words of pages and families in each language: what is missing, and what is too much",
        "stepmill worlds words --language de",
    ),
}
"""The subcommands of `worlds`."""
