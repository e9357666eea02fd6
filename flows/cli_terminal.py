"""What commands print, and where: results on standard output, everything else on standard error.

Text that comes from a page, a file or another program is data: control characters are taken out
before it reaches a terminal, whoever wrote it. So is what may be a credential: what is printed is
kept in logs.
"""

import json
import logging
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from schemas.blotting import blotted, without_secrets

if TYPE_CHECKING:
    from pydantic import JsonValue

_KEPT = "\n\t"
_HIDDEN = {"Cc", "Cf", "Co", "Cs"}


def plain(text: str) -> str:
    """Return `text` without anything that could steer a terminal or hide a part of it."""
    return "".join(
        char
        if char in _KEPT or unicodedata.category(char) not in _HIDDEN
        else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def complain(message: str) -> None:
    """Say why a command stops."""
    note(f"stepmill: {message}")


def note(message: str) -> None:
    """Print a line for people on standard error."""
    sys.stderr.write(f"{plain(blotted(message))}\n")
    sys.stderr.flush()


def tell(lines: Iterable[str]) -> None:
    """Print a result for people."""
    sys.stdout.writelines(f"{plain(blotted(line))}\n" for line in lines)
    sys.stdout.flush()


def answer(result: Mapping[str, object]) -> None:
    """Print a result for programs: one JSON object, the last line of standard output."""
    told = without_secrets(cast("JsonValue", dict(result)))
    sys.stdout.write(json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return aligned lines: the first column to the left, all others to the right."""
    lines = [list(head), *([plain(cell).replace("\n", " ") for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


class _ToStderr(logging.Handler):
    """Writes to whatever standard error is now: a live display may have taken it over."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record."""
        note(self.format(record))


def log_to_stderr() -> None:
    """Send this program's warnings to standard error, in a line each."""
    handler = _ToStderr()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
