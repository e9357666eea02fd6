"""`stepmill tasks`: what tasks there are, what one looks like, how good a policy is at them.

None of it writes anything of a run. Each subcommand lives in a module of its own,
`flows.cli.tasks.<subcommand>`, which is loaded only when it is asked for.
"""

import argparse
import importlib
from typing import Protocol


class _Command(Protocol):
    def run(self, args: argparse.Namespace) -> int: ...


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    name = f"flows.cli.tasks.{args.tasks_command}"
    command: _Command = importlib.import_module(name)
    return command.run(args)
