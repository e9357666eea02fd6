"""The command line: finds the command, runs it, and turns its result or error into an exit code.

Only the parser is loaded before the command is known, so help is quick; each command lives in a module
of its own, `flows.cli.<command>`. A user's mistake gives a line on stderr and exit code 2; a defect of
the program gives a line, a log and exit code 70. Standard output is for results alone.
"""

import atexit
import contextlib
import gc
import importlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from flows.cli.parser import Arguments, command_of, parse
from flows.internal_error import report_defect
from flows.resources.authorities import trust_authorities
from flows.terminal import ExitCode, OutputClosed, OutputError, check_output, print_error
from schemas.errors import StepmillError, Unfinished

_MAKING_COMMANDS = tuple(
    f"flows.cli.{name}"
    for name in ("generate", "verify", "publish", "withdraw", "review", "export", "compact")
)
"""Commands whose work is done when they print their report."""


class _Command(Protocol):
    def run(self, args: Arguments) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; without `argv`, as the whole process."""
    ending = None if argv is not None else _Ending()
    words = sys.argv[1:] if argv is None else argv
    args: Arguments | None = None
    try:
        check_output()
        args = parse(words)
        code = _load(args, alone=ending is not None).run(args)
    except SystemExit as leaving:
        if ending is None:
            raise
        code = leaving.code if isinstance(leaving.code, int) else ExitCode.SHORT
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - the last resort, and logged
        code = _exit_code(error, words, args)
    if ending is not None:
        ending.code = code
        if code == ExitCode.INTERRUPTED:
            ending.leave()
    return code


def _load(args: Arguments, *, alone: bool) -> _Command:
    """Import a command.

    In a process of its own the garbage collector is off meanwhile, and later ignores the modules: they
    live to the end, and scanning them repeatedly took a twelfth of the start-up time.

    Raises:
        BadConfig: the command does not use a key that is set, or authorities are named that cannot be read.
    """
    if alone:
        gc.disable()
    try:
        trust_authorities(os.environ)
        if getattr(args, "settings", None):
            from flows.job.used_keys import check_settings  # noqa: PLC0415 - heavy; not for help

            check_settings(command_of(args), args.settings)
        return cast("_Command", importlib.import_module(args.module))
    finally:
        if alone:
            gc.freeze()
            gc.enable()


class _Ending:
    """The end of the process, after everything else that is registered to run at exit.

    Without it a thread of Arrow's that is still stopping when its pool is taken down may abort the
    process (seen once in some thirty reads), long after all work was done. After an interrupt such
    a thread may still be in the middle of a read, so the process ends at once and runs nothing
    that other libraries have registered.
    """

    def __init__(self) -> None:
        self.code: int = ExitCode.SHORT
        atexit.register(self.leave)
        if sys.stderr is None:  # closed; libraries expect that there is one
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115

    def leave(self) -> None:
        """End the process; a stream that cannot be flushed has been reported already."""
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, AttributeError):  # None: closed from the start
                stream.flush()
        os._exit(self.code)


def _exit_code(
    error: KeyboardInterrupt | Exception, argv: Sequence[str], args: Arguments | None
) -> int:
    """Print why the command line `argv` ended, and return its exit code.

    The classes of the errors decide, also inside groups. `args` is None if no command had begun.
    """
    if isinstance(error, KeyboardInterrupt):
        print_error("interrupted; run the same command again to go on")
        return ExitCode.INTERRUPTED
    if isinstance(error, OutputClosed):
        return ExitCode.SHORT
    if isinstance(error, OutputError) and args is not None and args.module in _MAKING_COMMANDS:
        print_error(f"{error}; the work itself is done, and the same command prints it again")
        return ExitCode.SHORT
    leaves = list(_leaves(error))
    errors = [one for one in leaves if isinstance(one, StepmillError)]
    if len(errors) < len(leaves):
        return report_defect(error, argv)
    for one in errors:
        print_error(*one.lines)
    begun = any(isinstance(one, Unfinished) for one in errors)
    return ExitCode.SHORT if begun else ExitCode.REFUSED


def _leaves(error: Exception) -> Iterator[Exception]:
    """Yield the errors in a group, however deep they are; the error itself if it is not one."""
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
