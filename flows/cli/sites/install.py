"""`stepmill sites install`: bring an application that tasks ship for onto this machine, without root."""

import argparse
import os

from flows.terminal import ExitCode, print_lines, print_note, print_result
from generators.sites.installable.application_task import WORLDS
from generators.sites.installable.packages import data_folder, install
from generators.sites.installable.registry import find_application
from generators.sites.installable.worlds import world_folder


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    application, data = find_application(args.name), data_folder(os.environ)
    found = install(application, data, environ=os.environ, say=print_note)
    for world in range(WORLDS):
        print_note(f"{application.name}: making world {world + 1} of {WORLDS}")
        world_folder(application, found, data=data, seed=world)
    if args.json:
        print_result(
            {"site": application.name, "version": found.version, "folder": str(found.tree)}
        )
    else:
        print_lines([f"{application.name} {found.version} is ready in {found.tree}"])
    return ExitCode.DONE
