"""How Prefect is set up before it is first imported: quiet, patient, and in a home of its own.

Every setting is only a default, which the user's own overrides. A user who has a Prefect profile, or a
`PREFECT_HOME`, keeps it; for all others Prefect's files are kept in this program's own state folder, so
that a database which another version of Prefect made is never touched.
"""

import os
import tempfile
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from schemas.errors import BadConfig

PATIENCE = "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"
"""How many seconds a server may take to start; Prefect's own name for it."""

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_CLI_PROMPT": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    PATIENCE: "120",
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    "PREFECT_SERVER_EVENTS_EXPIRED_BUCKET_BUFFER": "PT30M",
}
"""No telemetry, no prompts, a start-up time-out that holds on a busy machine, and the places that flow runs hold on disk:
in a server's memory, as by default, they are gone when it is started again, and Prefect then ends the flow run. A server that was started again holds an event back for
15 minutes if it does not know the one before; with the usual minute it would forget, before it looks at the event, that
`stepmill-again` waits for it."""

SILENT = {
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "PREFECT_LOGGING_LOGGERS_PREFECT_FLOW_RUNS_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_LOGGERS_PREFECT_TASK_RUNS_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
}
"""Keeps Prefect's logs off the terminal: the command itself prints what happens."""

HOME = "PREFECT_HOME"
"""Where Prefect keeps its files."""


def set_up(environ: MutableMapping[str, str], *, silent: bool) -> None:
    """Put the defaults into `environ`; call it before Prefect is imported."""
    for name, value in (QUIET | SILENT if silent else QUIET).items():
        environ.setdefault(name, value)
    if HOME not in environ and not has_profiles():
        environ[HOME] = str(private_home(environ))


def has_profiles() -> bool:
    """Return whether the user has a Prefect home with profiles of their own."""
    return (Path.home() / ".prefect" / "profiles.toml").is_file()


def private_home(environ: MutableMapping[str, str]) -> Path:
    """Return this program's own home for Prefect; create the folder if it is missing."""
    state = environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    home = Path(state) / "stepmill" / "prefect"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="stepmill-prefect-"))
    return home if os.access(home, os.W_OK) else Path(tempfile.mkdtemp(prefix="stepmill-prefect-"))


def patience(environ: Mapping[str, str]) -> int:
    """Return how many seconds a server may take to start.

    Raises:
        BadConfig: the user's value is not a number of whole seconds, at least 1.
    """
    value = environ.get(PATIENCE) or QUIET[PATIENCE]
    if not (value.isdecimal() and value.isascii() and int(value)):
        raise BadConfig(
            f"environment variable {PATIENCE}: expected whole seconds, at least 1; got '{value}'"
        )
    return int(value)
