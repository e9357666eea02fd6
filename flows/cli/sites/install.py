"""`stepmill sites install`: install the applications and packages of sites, without root."""

import argparse
import os
from pathlib import Path

from flows.terminal import ExitCode, print_lines, print_note, print_result
from generators.sites import worlds
from generators.sites.installable.application_task import WORLDS
from generators.sites.installable.packages import install
from generators.sites.installable.registry import find_application
from generators.sites.installable.worlds import world_folder
from generators.whole_folder import data_folder
from generators.worlds.packages.install import install_packages


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    data = data_folder(os.environ)
    if args.name == worlds.NAME:
        return _install_packages(data, as_json=args.json)
    application = find_application(args.name)
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


def _install_packages(data: Path, *, as_json: bool) -> int:
    """Install the packages that pages of worlds use, and return the exit code."""
    count = install_packages(data, environ=os.environ, say=print_note)
    if as_json:
        print_result({"site": worlds.NAME, "packages": count, "folder": str(data / worlds.NAME)})
    else:
        print_lines([f"{count} packages of worlds are ready in {data / worlds.NAME}"])
    return ExitCode.DONE
