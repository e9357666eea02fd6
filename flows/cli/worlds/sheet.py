"""`stepmill worlds sheet`: the home pages of many worlds on one picture.

Families take turns with rising seeds, so that every stretch of the sheet shows all families.
"""

import argparse
import sys
from pathlib import Path

from PIL import Image, ImageDraw
from rich.console import Console
from rich.progress import Progress

from flows import signals
from flows.checks.world_pages import SIZE, open_world
from flows.cli.tasks.sheet import check_picture_path, shrink
from flows.resources.browsers import open_browsers
from flows.terminal import ExitCode, print_lines, print_note
from generators.worlds.drawing.draw import FAMILIES, draw_world, worlds_in_turn
from schemas.errors import Unwritable
from schemas.worlds.world import World

COLUMNS = 10
"""Pages per row."""

TILE = 256, 192
"""Maximum width and height of a page on the sheet, px."""

_LINE, _GAP = 14, 6
_SAID = 20
"""Number of pages between two lines of progress without a terminal."""


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    to = check_picture_path("--to", Path(args.to))
    named = worlds_in_turn(
        args.count, first_seed=args.first_seed, family=args.family, language=args.language
    )
    worlds = [draw_world(family, seed) for family, seed in named]
    sheet = signals.run(_sheet(worlds))
    try:
        sheet.save(to)
    except OSError as error:
        raise Unwritable(f"--to {to}: {error.strerror}") from error
    of = f"{len(FAMILIES)} families" if args.family is None else args.family
    print_lines([f"{to}: {len(worlds)} worlds of {of}, {SIZE[0]} × {SIZE[1]}"])
    return ExitCode.DONE


async def _sheet(worlds: list[World]) -> Image.Image:
    width, height = TILE[0] + _GAP, TILE[1] + _LINE + _GAP
    rows = -(-len(worlds) // COLUMNS)
    sheet = Image.new("RGB", (min(COLUMNS, len(worlds)) * width, rows * height), "white")
    draw = ImageDraw.Draw(sheet)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("worlds", total=len(worlds))
        async with open_browsers() as browsers:
            for number, world in enumerate(worlds):
                async with open_world(browsers, world) as session:
                    picture = (await session.observe()).screenshot.bytes
                left, top = number % COLUMNS * width, number // COLUMNS * height
                draw.text((left, top), f"{world.family}/{world.seed}", fill="black")
                sheet.paste(shrink(picture, TILE), (left, top + _LINE))
                progress.advance(bar)
                if not sys.stderr.isatty() and number % _SAID == _SAID - 1:
                    print_note(f"{number + 1}/{len(worlds)} worlds")
    return sheet
