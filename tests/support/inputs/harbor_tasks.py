"""Tasks of runs as Harbor's directories, and a server whose tasks they are, as users make both."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.runs.commands import UNREPLAYED, end, start, stepmill

TOKEN = {"STEPMILL_TOKEN": "of-this-test"}
"""What a client of the server has to know, beside its address."""


def export(run: Path, to: Path, *globs: str) -> list[Path]:
    """Write the tasks of a run that match; return their directories."""
    said = stepmill("tasks", "export", str(run), *globs, "--to", str(to))
    assert said.code == 0, said.err
    return sorted(to.iterdir())


@contextmanager
def serving(run: Path, *sources: Path) -> Iterator[str]:
    """Serve the tasks of folders; stop the server at the end."""
    server = start(
        *("serve", "--run", str(run), "--json"),
        f"--set=tasks.sources={json.dumps([str(one) for one in sources])}",
        "--set=browser.sessions=2",
        "--set=seats.port=0",
        "--set=seats.commit_seconds=0.2",
        "--set=seats.clients={ me = { token_env = 'STEPMILL_TOKEN' } }",
        *UNREPLAYED,
        env=TOKEN,
    )
    try:
        assert server.stdout is not None
        yield str(json.loads(server.stdout.readline())["url"])
    finally:
        server.send_signal(signal.SIGINT)
        assert end(server).code == 0
