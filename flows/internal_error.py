"""The last resort: an error that is a defect of this program is reported as one, with a log.

A refusal is about what the user asked for, and a failed rollout is a row. Any other error that ends
a command is a defect. The user gets one line and an exit code of its own; the developer gets a log
with the traceback. The log is meant to be sent to others, so no credential may be in it.
"""

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence

from flows.terminal import complain, note
from flows.version import version_of
from schemas.redaction import blotted, without_secrets, without_values

INTERNAL = os.EX_SOFTWARE
"""The exit code of a defect: 70."""


def own_up(defect: BaseException, argv: Sequence[str]) -> int:
    """Write a log about `defect`, which ended the command `argv`; return the exit code."""
    record = without_values(blotted("\n".join(_record(defect, argv))), os.environ)
    try:
        handle, path = tempfile.mkstemp(prefix="stepmill-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as log:
            log.write(record)
    except OSError as error:
        note(record)
        where = f"its log stands above, as it cannot be kept ({error.strerror})"
    else:
        where = f"its log is {path}"
    what = without_values(_briefly(defect), os.environ)
    complain(f"internal error, a defect of Stepmill: {what}; {where}: please report it with that")
    return INTERNAL


def _briefly(defect: BaseException) -> str:
    lines = str(defect).strip().splitlines()
    name = type(defect).__name__
    return f"{name}: {lines[0]}" if lines else name


def _record(defect: BaseException, argv: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the log."""
    yield f"stepmill {version_of()}, Python {platform.python_version()}, {platform.platform()}"
    yield f"{sys.executable} {without_secrets(list(argv))}"
    yield from (line.rstrip("\n") for line in traceback.format_exception(defect))
    yield ""
