"""`stepmill sites install`: install the applications and packages of sites, without root."""

import argparse
import os
from pathlib import Path

from flows.terminal import ExitCode, print_lines, print_note, print_result
from generators.data_folder import data_folder
from generators.sites import worlds
from generators.sites.installable.registry import find_application
from generators.worlds.packages.install import install_packages


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if args.name == worlds.NAME:
        return _install_packages(data_folder(os.environ), as_json=args.json)
    found = find_application(args.name, os.environ).install(print_note)
    if args.json:
        print_result({"site": args.name, "version": found.version, "folder": str(found.folder)})
    else:
        print_lines([f"{args.name} {found.version} is ready in {found.folder}"])
    return ExitCode.DONE


def _install_packages(data: Path, *, as_json: bool) -> int:
    """Install the packages that pages of worlds use, and return the exit code."""
    count = install_packages(data, environ=os.environ, say=print_note)
    if as_json:
        print_result({"site": worlds.NAME, "packages": count, "folder": str(data / worlds.NAME)})
    else:
        print_lines([f"{count} packages of worlds are ready in {data / worlds.NAME}"])
    return ExitCode.DONE
