"""Prints the output of commands: results on standard output, everything else on standard error.

Text that comes from a page, a file or another program is data: control characters are removed before it
reaches a terminal, and so are possible credentials, because logs keep the output. A character that the
stream's encoding does not have is written as an escape.

A message for people that cannot be printed is lost, and the work goes on. A result that cannot be
printed ends the command.
"""

import contextlib
import io
import json
import logging
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, TextIO, cast

from schemas.errors import StepmillError
from schemas.redaction import redact, redact_values

if TYPE_CHECKING:
    from pydantic import JsonValue


class ExitCode(IntEnum):
    """The exit code of a command."""

    DONE = 0
    """Everything was done."""
    SHORT = 1
    """The work was done or begun, but something is missing."""
    REFUSED = 2
    """The command was refused before any work."""
    DOLLARS_REACHED = 3
    """The run has reached `limits.dollars`."""
    HOURS_REACHED = 4
    """The run has reached `limits.hours`."""
    ACCEPTED_REACHED = 5
    """The run has reached `limits.accepted`."""
    INTERNAL_ERROR = os.EX_SOFTWARE
    """A defect of the program ended it: 70."""
    INTERRUPTED = 130
    """The user stopped it; running the same command again goes on."""


class OutputError(StepmillError):
    """A result cannot be written to standard output."""


class OutputClosed(OutputError):
    """The reader of standard output has closed it, as `head` does once it has its lines."""


_KEPT_CHARS = "\n\t"
_MAX_CHARS = 1_000
_BEGINNING, _END = 600, 300
_HIDDEN = {"Cc", "Cf", "Co", "Cs"}


def strip_control_chars(text: str) -> str:
    """Return `text` without characters that could control a terminal or hide a part of it."""
    return "".join(
        char
        if char in _KEPT_CHARS or unicodedata.category(char) not in _HIDDEN
        else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def print_error(message: str, *more: str) -> None:
    """Print why a command stops; `more` lines may follow."""
    print_note(f"stepmill: {message}", *more)


def print_note(*lines: str) -> None:
    """Print lines for people on standard error.

    A very long one is shortened, and line breaks within one are spaces: what a line quotes cannot
    begin another, which would read as this program's own.
    """
    with contextlib.suppress(OSError):
        _write(sys.stderr, (_shorten(_one_line(line)) for line in lines))


def _one_line(text: str) -> str:
    """Return `text` as a terminal may show it."""
    return " ".join(strip_control_chars(redact(text)).splitlines())


def _shorten(line: str) -> str:
    """Return `line` without its middle if it is very long; its ends carry the message and the remedy."""
    if len(line) <= _MAX_CHARS:
        return line
    left_out = len(line) - _BEGINNING - _END
    return f"{line[:_BEGINNING]} … ({left_out} characters left out) … {line[-_END:]}"


def print_lines(lines: Iterable[str]) -> None:
    """Print a result for people; line breaks within a line are spaces, as in `print_note`.

    Raises:
        OutputError: standard output cannot be written.
    """
    _print(map(_one_line, lines))


def print_result(result: Mapping[str, object]) -> None:
    """Print a result for programs: one JSON object, the last line of standard output.

    Raises:
        OutputError: standard output cannot be written.
    """
    redacted = redact_values(cast("JsonValue", dict(result)))
    # JSON escapes everything that is not ASCII, so that any stream can encode it and nothing in it
    # steers a terminal. It leaves one control character as it is.
    _print([json.dumps(redacted, allow_nan=False).replace("\x7f", "\\u007f")])


def check_output() -> None:
    """Refuse, before any work, a standard output that cannot be written.

    Raises:
        OutputError: it is closed, or on a device that is full.
    """
    if sys.stdout is None:
        raise OutputError(
            "standard output: is closed; to throw results away, send them to /dev/null"
        )
    with contextlib.suppress(io.UnsupportedOperation), _output_errors():
        os.write(sys.stdout.fileno(), b"")


def _print(lines: Iterable[str]) -> None:
    with _output_errors():
        _write(sys.stdout, lines)


@contextlib.contextmanager
def _output_errors() -> Iterator[None]:
    try:
        yield
    except io.UnsupportedOperation:
        raise
    except BrokenPipeError:
        raise OutputClosed("standard output: its reader has closed it") from None
    except OSError as error:
        raise OutputError(f"standard output: cannot be written: {error.strerror}") from None


def _write(stream: TextIO, lines: Iterable[str]) -> None:
    coding = stream.encoding or "utf-8"  # a stream in memory has none
    stream.writelines(
        f"{line}\n".encode(coding, "backslashreplace").decode(coding) for line in lines
    )
    stream.flush()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return aligned lines: the first column to the left, all others to the right."""
    lines = [
        list(head),
        *([strip_control_chars(cell).replace("\n", " ") for cell in row] for row in rows),
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


class _StderrHandler(logging.Handler):
    """Writes to the current standard error, which a live display may have replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record in one line, and the traceback that it may have."""
        text = self.format(record)
        print_note(*(text.splitlines() if record.exc_info else [text]))


def log_to_stderr() -> None:
    """Send this program's warnings to standard error, in a line each."""
    handler = _StderrHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
