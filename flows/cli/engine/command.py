"""`stepmill engine`: run the server that serves a model, examine one, plan for one.

None of it needs a run. Each subcommand lives in a module of its own,
`flows.cli.engine.<subcommand>`, which is loaded only when it is asked for.
"""

import argparse
import importlib
from typing import Protocol


class _Command(Protocol):
    def run(self, args: argparse.Namespace) -> int: ...


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    name = f"flows.cli.engine.{args.engine_command}"
    command: _Command = importlib.import_module(name)
    return command.run(args)
