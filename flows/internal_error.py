"""The last resort: an error that is a defect of this program is reported as one, with a log.

A refusal concerns the user's request, and a failed rollout is a row. Any other error that ends a command
is a defect. The user gets one line and an exit code of its own; the developer gets a log with the
traceback. The log is meant to be sent to others, so no credential may be in it.
"""

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence

from flows.terminal import ExitCode, print_error, print_note
from flows.version import version_of
from schemas.redaction import redact, redact_values, redact_variables


def report_defect(defect: BaseException, argv: Sequence[str]) -> int:
    """Write a log about `defect`, which ended the command `argv`; return the exit code."""
    lines = [
        f"stepmill {version_of()}, Python {platform.python_version()}, {platform.platform()}",
        f"{sys.executable} {redact_values(list(argv))}",
        *(line.rstrip("\n") for line in traceback.format_exception(defect)),
        "",
    ]
    record = redact_variables(redact("\n".join(lines)), os.environ)
    try:
        handle, path = tempfile.mkstemp(prefix="stepmill-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as log:
            log.write(record)
    except OSError as error:
        print_note(*record.splitlines())
        where = f"its log stands above, as it cannot be kept ({error.strerror})"
    else:
        where = f"its log is {path}"
    first = next(iter(str(defect).strip().splitlines()), "")
    name = type(defect).__name__
    what = redact_variables(f"{name}: {first}" if first else name, os.environ)
    print_error(
        f"internal error, a defect of Stepmill: {what}; {where}: please report it with that"
    )
    return ExitCode.INTERNAL_ERROR
