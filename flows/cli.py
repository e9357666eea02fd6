"""The command line: finds the command, runs it, and turns what ends it into an exit code.

Only the parser is loaded before the command is known, so help is quick; each command lives in a
module of its own, `flows.cli_<command>`. Whatever a user can do wrong is a line on stderr and exit
code 2. Standard output belongs to results alone.
"""

import atexit
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from flows.cli_parsers import Arguments, command_of, parse
from flows.cli_terminal import complain
from schemas.errors import Refusal, StepmillError

REFUSED = 2
"""What was asked for was refused before any work."""

INTERRUPTED = 130
"""Somebody stopped it; the same command again goes on."""


class _Command(Protocol):
    def run(self, args: Arguments) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; without `argv`, as the whole process."""
    if argv is not None:
        return _run(argv)
    ending = _Ending()
    atexit.register(ending.leave)
    try:
        ending.code = _run(sys.argv[1:])
    except SystemExit as leaving:
        ending.code = leaving.code if isinstance(leaving.code, int) else 1
    return ending.code


class _Ending:
    """The end of the process, once everything else that ends with it has.

    Left to itself, the process may be aborted by a thread of Arrow's that is still about to stop
    when its pool is taken down (seen once in some thirty reads), long after all work was done.
    """

    code = 1

    def leave(self) -> None:
        """End the process with what its output was told."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(self.code)


def _run(argv: Sequence[str]) -> int:
    try:
        args = parse(argv)
        _check_settings(args)
        return _load(args.module).run(args)
    except StepmillError as error:
        complain(str(error))
        return REFUSED
    except ExceptionGroup as group:
        found = list(_leaves(group))
        for one in found:
            complain(str(one))
        return REFUSED if all(isinstance(one, Refusal) for one in found) else 1
    except KeyboardInterrupt:
        complain("interrupted; run the same command again to go on")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _check_settings(args: Arguments) -> None:
    """Refuse what `--set` gives to a command that does not use it."""
    if getattr(args, "settings", None):
        from flows.uses import check_settings  # noqa: PLC0415 - heavy, and only for this

        check_settings(command_of(args), args.settings)


def _load(module: str) -> _Command:
    loaded: object = importlib.import_module(module)
    return cast("_Command", loaded)


def _leaves(group: ExceptionGroup[Exception]) -> Iterator[StepmillError]:
    """Yield the errors in `group`, or let it through if one of them is a defect."""
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _leaves(error)
        elif isinstance(error, StepmillError):
            yield error
        else:
            raise group


if __name__ == "__main__":
    sys.exit(main())
