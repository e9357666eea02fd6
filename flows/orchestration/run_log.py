"""The log of a flow run: this program's messages, beside Prefect's own lines.

The command line prints its progress, its warnings and its report; a scheduled flow run has no terminal,
so the same lines go to Prefect, which shows them on the page of the flow run.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from prefect.logging import get_run_logger
from typing_extensions import override

from flows.orchestration.inert_text import inert
from schemas.redaction import redact

PACKAGES = ("flows", "generators", "registries", "schemas", "storage")
"""The loggers whose warnings and errors are repeated."""

_Log = logging.Logger | logging.LoggerAdapter[logging.Logger]


@contextmanager
def run_log() -> Iterator["RunLog"]:
    """Yield the log of this flow run; while it is open, warnings of this program are in it."""
    log = get_run_logger()
    forward = _Forward(log)
    for name in PACKAGES:
        logging.getLogger(name).addHandler(forward)
    try:
        yield RunLog(log)
    finally:
        for name in PACKAGES:
            logging.getLogger(name).removeHandler(forward)


def calm_cancellation() -> None:
    """Make Prefect log a cancelled run without an error from now on, since a user requested it."""
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(_calm)


def _calm(record: logging.LogRecord) -> bool:
    if "Finished in state Cancelled" in record.getMessage():
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
    return True


class RunLog:
    """The log of a flow run."""

    def __init__(self, log: _Log) -> None:
        self._log = log
        self._said = ""

    def progress(self, sentence: str) -> None:
        """Log the progress, unless it is unchanged."""
        if sentence != self._said:
            self._log.info("%s", _safe(sentence))
            self._said = sentence

    def lines(self, lines: Iterable[str]) -> None:
        """Log some lines as one entry."""
        self._log.info("%s", "\n".join(map(_safe, lines)))

    def problem(self, sentence: str) -> None:
        """Log the problems."""
        self._log.error("%s", _safe(sentence))


class _Forward(logging.Handler):
    """Repeats warnings and errors in a flow run's log."""

    def __init__(self, log: _Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    @override
    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._log.log(record.levelno, "%s", _safe(record.getMessage()))
        except (TypeError, ValueError):  # its arguments do not fit its text
            self.handleError(record)


def _safe(text: str) -> str:
    """Return a text without credentials, and without characters that reverse or hide a part of it."""
    return str(inert(redact(text)))
