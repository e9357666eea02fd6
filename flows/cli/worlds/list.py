"""`stepmill worlds list`: the families of worlds, from their files alone."""

import argparse

from flows.terminal import ExitCode, print_lines, print_result, table
from generators.sites import worlds
from generators.tasks.site_offers import site_offers
from generators.worlds.drawing.draw import FAMILIES, FOLDER, draw_world
from generators.worlds.drawing.family import parse_family


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    templates = [name.partition("/")[0] for name in site_offers()[worlds.NAME].templates]
    families = list[dict[str, object]]()
    for name in FAMILIES:
        family = parse_family(FOLDER / f"{name}.toml")
        families.append(
            {
                "family": name,
                "entities": len(family.entities),
                "workflows": len(family.workflows),
                "views": [
                    sum(view.chance == 1 for view in family.views.values()),
                    len(family.views),
                ],
                "kinds": templates.count(name),
                "example": draw_world(name, 0).title,
            }
        )
    if args.json:
        print_result({"families": families})
        return ExitCode.DONE
    head = ("family", "entities", "workflows", "views", "kinds of tasks", "one is called")
    rows = [[_cell(value) for value in each.values()] for each in families]
    print_lines(table(head, rows))
    print_lines(
        ["", f"{len(families)} families; a world is a family and a seed, as {FAMILIES[0]}/0"]
    )
    return ExitCode.DONE


def _cell(value: object) -> str:
    match value:
        case [least, most]:
            return str(most) if least == most else f"{least}–{most}"
        case _:
            return str(value)
