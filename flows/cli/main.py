"""The command line: finds the command, runs it, and turns what ends it into an exit code.

Only the parser is loaded before the command is known, so help is quick; each command lives in a
module of its own, `flows.cli.<command>`. Whatever a user can do wrong is a line on stderr and exit
code 2; a defect of the program is one too, with a log and exit code 70. Standard output belongs to
results alone.
"""

import atexit
import contextlib
import importlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from flows.cli.parser import Arguments, command_of, parse
from flows.internal_error import own_up
from flows.terminal import NotRead, Unprinted, check_output, complain
from schemas.errors import Refusal, StepmillError

SHORT = 1
"""It was done, but something is missing."""

REFUSED = 2
"""What was asked for was refused before any work."""

INTERRUPTED = 130
"""Somebody stopped it; the same command again goes on."""

_MAKING = tuple(
    f"flows.cli.{name}" for name in ("generate", "verify", "publish", "export", "compact")
)
"""Commands that have done their work once they print what it came to."""


class _Command(Protocol):
    def run(self, args: Arguments) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; without `argv`, as the whole process."""
    if argv is not None:
        return _run(argv)
    ending = _Ending()
    atexit.register(ending.leave)
    if sys.stderr is None:  # closed; everybody expects that there is one
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    try:
        ending.code = _run(sys.argv[1:])
    except SystemExit as leaving:
        ending.code = leaving.code if isinstance(leaving.code, int) else SHORT
    if ending.code == INTERRUPTED:
        ending.leave()
    return ending.code


class _Ending:
    """The end of the process, once everything else that ends with it has.

    Left to itself, the process may be aborted by a thread of Arrow's that is still about to stop
    when its pool is taken down (seen once in some thirty reads), long after all work was done.
    After an interrupt such a thread may still be in the middle of a read, and nothing is waited
    for that others have registered either.
    """

    code = SHORT

    def leave(self) -> None:
        """End the process with what its output was told; what it does not take was told already."""
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, AttributeError):  # None: it was closed from the start
                stream.flush()
        os._exit(self.code)


def _run(argv: Sequence[str]) -> int:
    """Carry a command line out, and turn whatever ends it into an exit code."""
    try:
        return _carried_out(argv)
    except NotRead:
        return SHORT
    except StepmillError as error:
        complain(str(error))
        return REFUSED
    except ExceptionGroup as group:
        return _ended_by(group, argv)
    except KeyboardInterrupt:
        complain("interrupted; run the same command again to go on")
        return INTERRUPTED
    except Exception as defect:  # noqa: BLE001 - the last resort: it is owned up to, and logged
        return own_up(defect, argv)


def _carried_out(argv: Sequence[str]) -> int:
    check_output()
    args = parse(argv)
    _check_settings(args)
    try:
        return _load(args.module).run(args)
    except Unprinted as error:
        if isinstance(error, NotRead) or args.module not in _MAKING:
            raise
        complain(f"{error}; the work itself is done, and the same command prints it again")
        return SHORT


def _ended_by(group: ExceptionGroup[Exception], argv: Sequence[str]) -> int:
    found = list(_leaves(group))
    for one in found:
        if not isinstance(one, StepmillError):
            return own_up(group, argv)
    for one in found:
        complain(str(one))
    return REFUSED if all(isinstance(one, Refusal) for one in found) else SHORT


def _check_settings(args: Arguments) -> None:
    """Refuse what `--set` gives to a command that does not use it."""
    if getattr(args, "settings", None):
        from flows.job.used_keys import check_settings  # noqa: PLC0415 - heavy, and only for this

        check_settings(command_of(args), args.settings)


def _load(module: str) -> _Command:
    loaded: object = importlib.import_module(module)
    return cast("_Command", loaded)


def _leaves(group: ExceptionGroup[Exception]) -> Iterator[Exception]:
    """Yield the errors in `group`, however deep they are."""
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
